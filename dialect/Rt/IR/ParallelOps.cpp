//===- ParallelOps.cpp - Verifier of parallel calls -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::rt;

LogicalResult ParallelCallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto body = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getBodyAttr());
  if (!body)
    return emitOpError("expects 'body' to name a function, but got ") << getBodyAttr();
  SmallVector<Type> expected(getCaptures().getTypes());
  expected.append(3, IndexType::get(getContext()));
  if (body.getArgumentTypes() == ArrayRef<Type>(expected) && body.getNumResults() == 0) // C1
    return success();
  return emitOpError("expects '") << getBody() << "' to have type " << FunctionType::get(getContext(), expected, {}) << ", but got "
                                  << body.getFunctionType();
}
