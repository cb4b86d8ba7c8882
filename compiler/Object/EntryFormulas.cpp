//===- EntryFormulas.cpp - Formulas of an entry as C functions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/EntryFormulas.h"
#include "attune/abi.h"
#include "compiler/Transforms/SizeExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cstddef>

using namespace mlir;
using namespace attune;

FailureOr<Value> EntryFormulas::evaluate(xfmr::FormulaAttr formula, Value dimValues, Value workers) {
  bool known = true;
  Value size = SizeExpr::fromFormula(formula).emit(builder, loc, [&](Attribute symbol) -> Value {
    FailureOr<Value> value = workers;
    if (auto name = cast<StringAttr>(symbol); name != rt::kWorkers || !workers)
      value = loadDim(dimValues, name);
    known &= succeeded(value);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), succeeded(value) ? *value : constant(0));
  });
  if (!known)
    return failure();
  return arith::IndexCastOp::create(builder, loc, i64, size).getResult();
}

LogicalResult EntryFormulas::buildSize(StringRef kind, xfmr::FormulaAttr formula) {
  LLVM::LLVMFuncOp function = startFunction(kind, i64, {pointer, i64});
  FailureOr<Value> size = formula ? evaluate(formula, function.getArgument(0), function.getArgument(1)) : constant(0);
  if (failed(size))
    return failure();
  LLVM::ReturnOp::create(builder, loc, *size);
  return success();
}

LogicalResult EntryFormulas::buildWork(ArrayAttr kernels) {
  LLVM::LLVMFuncOp function = startFunction("work", LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer});
  for (auto [index, kernel] : llvm::enumerate(kernels.getAsRange<rt::KernelWorkAttr>())) {
    auto store = [&, index = index](FailureOr<Value> value, size_t offset) -> LogicalResult {
      if (failed(value))
        return failure();
      auto position = static_cast<int32_t>(index * sizeof(attune_kernel_work) + offset);
      Value address =
          LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), function.getArgument(1), ArrayRef<LLVM::GEPArg>{position});
      LLVM::StoreOp::create(builder, loc, *value, address, 8);
      return success();
    };
    auto value = [&](xfmr::FormulaAttr formula) { return evaluate(formula, function.getArgument(0), nullptr); };
    if (failed(store(constant(kernel.getCalls()), offsetof(attune_kernel_work, calls))) ||
        failed(store(value(kernel.getFlops()), offsetof(attune_kernel_work, flops))) ||
        failed(store(value(kernel.getWeightBytes()), offsetof(attune_kernel_work, weight_bytes))) ||
        failed(store(value(kernel.getTensorBytes()), offsetof(attune_kernel_work, tensor_bytes))))
      return failure();
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return success();
}
