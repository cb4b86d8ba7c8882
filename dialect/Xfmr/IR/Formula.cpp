//===- Formula.cpp - Closed forms of sizes as attributes ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult ArgumentAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t index, std::optional<int64_t> dim) {
  if (index < 0 || dim.value_or(0) < 0)
    return emitError() << "expects the number of an argument and of a dimension not to be negative, but got " << index << " and "
                       << dim.value_or(0);
  return success();
}

LogicalResult FormulaAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<Attribute> symbols, AffineMap map) {
  if (map.getNumDims() != 0 || map.getNumSymbols() != symbols.size())
    return emitError() << "expects a map of " << symbols.size() << " symbols without dimensions, but got " << AffineMapAttr::get(map);
  if (map.getNumResults() == 0)
    return emitError() << "expects a map with a result";
  for (auto [index, symbol] : llvm::enumerate(symbols)) {
    if (!isa<StringAttr, ArgumentAttr>(symbol))
      return emitError() << "expects symbols to be names or #xfmr.argument, but got " << symbol;
    if (llvm::is_contained(symbols.take_front(index), symbol))
      return emitError() << "expects each symbol once, but got " << symbol << " again";
  }
  bool dividesByConstants = true;
  map.walkExprs([&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || expr.getKind() == AffineExprKind::Add || expr.getKind() == AffineExprKind::Mul)
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    dividesByConstants &= divisor && divisor.getValue() > 0;
  });
  if (!dividesByConstants)
    return emitError() << "expects divisors to be positive constants, but got " << AffineMapAttr::get(map);
  return success();
}
