//===- Destinations.cpp - Results as last arguments -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Destinations.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;

bool attune::isRepeatable(Operation *op) {
  if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::DimOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return true;
  return isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIndex(); });
}

/// Returns the value in whose memory |value| is computed: a tensor.empty, or the argument of its function that it
/// updates. Returns null if there is none, or if the search enters a function twice (recursion). |entered| has the
/// functions being searched.
static Value memoryOf(Value value, const SymbolTable &symbols, llvm::SmallPtrSetImpl<Operation *> &entered) {
  if (value.getDefiningOp<tensor::EmptyOp>() || isa<BlockArgument>(value))
    return value;
  auto result = cast<OpResult>(value);
  if (auto loop = dyn_cast<scf::ForallOp>(result.getOwner()))
    return memoryOf(loop.getOutputs()[result.getResultNumber()], symbols, entered);
  if (auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner()); op && isa<rt::RtDialect>(op->getDialect()))
    return memoryOf(op.getDpsInits()[result.getResultNumber()], symbols, entered);
  auto call = dyn_cast<func::CallOp>(result.getOwner());
  auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() || !entered.insert(callee).second)
    return nullptr;
  // OutlineKernels makes callees take destinations before their callers. In such a callee, a result that has a
  // destination is computed in the memory of an argument.
  Value given = memoryOf(callee.getBody().front().getTerminator()->getOperand(result.getResultNumber()), symbols, entered);
  entered.erase(callee);
  auto argument = dyn_cast_if_present<BlockArgument>(given);
  return argument ? memoryOf(call.getOperand(argument.getArgNumber()), symbols, entered) : nullptr;
}

static Value memoryOf(Value value, const SymbolTable &symbols) {
  llvm::SmallPtrSet<Operation *, 8> entered;
  return memoryOf(value, symbols, entered);
}

tensor::EmptyOp attune::destinationOf(Value value, const SymbolTable &symbols) {
  Value memory = memoryOf(value, symbols);
  return memory ? memory.getDefiningOp<tensor::EmptyOp>() : tensor::EmptyOp();
}

/// Clones |value|, index arithmetic on the arguments of a function, at the insertion point of |builder|, with the
/// operands of |call| for the arguments. Returns null if |value| depends on other values. |mapping| has the values that
/// were cloned before.
static Value rebuild(OpBuilder &builder, Value value, func::CallOp call, const SymbolTable &symbols, IRMapping &mapping) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return call.getOperand(argument.getArgNumber());
  Operation *op = value.getDefiningOp();
  if (!isRepeatable(op) && !isa<tensor::EmptyOp>(op)) {
    // No other operation, such as a call or a load, is computed again at the call.
    return nullptr;
  }
  // The size of a computed tensor is that of its destination.
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    if (auto empty = dim.getSource().getDefiningOp() ? destinationOf(dim.getSource(), symbols) : tensor::EmptyOp())
      if (auto index = dim.getConstantIndex(); index && *index >= 0 && *index < empty.getType().getRank()) {
        if (!empty.getType().isDynamicDim(*index))
          return arith::ConstantIndexOp::create(builder, op->getLoc(), empty.getType().getDimSize(*index));
        return rebuild(builder, empty.getDynamicSize(*index), call, symbols, mapping);
      }
  for (Value operand : op->getOperands()) {
    Value rebuilt = rebuild(builder, operand, call, symbols, mapping);
    if (!rebuilt)
      return nullptr;
    mapping.map(operand, rebuilt);
  }
  return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

LogicalResult attune::passDestinations(func::FuncOp function, ArrayRef<func::CallOp> calls, const SymbolTable &symbols) {
  auto *terminator = function.getBody().front().getTerminator();
  SmallVector<tensor::EmptyOp> empties;
  for (auto [number, result] : llvm::enumerate(terminator->getOperands())) {
    if (!isa<BlockArgument>(result) && isa_and_present<BlockArgument>(memoryOf(result, symbols)))
      continue;
    tensor::EmptyOp empty = destinationOf(result, symbols);
    if (!empty || llvm::is_contained(empties, empty))
      return function.emitError("result ") << number << " is not computed by a kernel of this function";
    empties.push_back(empty);
  }
  for (func::CallOp call : calls) {
    OpBuilder builder(call);
    IRMapping mapping;
    SmallVector<Value> operands = llvm::to_vector(call.getOperands());
    for (tensor::EmptyOp empty : empties) {
      SmallVector<Value> sizes;
      for (Value size : empty.getDynamicSizes()) {
        Value rebuilt = rebuild(builder, size, call, symbols, mapping);
        if (!rebuilt)
          return function.emitError("a result's size does not follow from the arguments");
        sizes.push_back(rebuilt);
      }
      operands.push_back(tensor::EmptyOp::create(builder, empty.getLoc(), empty.getType(), sizes));
    }
    auto replacement = func::CallOp::create(builder, call.getLoc(), function.getSymName(), call.getResultTypes(), operands);
    call.replaceAllUsesWith(replacement.getResults());
    call.erase();
  }
  for (tensor::EmptyOp empty : empties) {
    (void)function.insertArgument(function.getNumArguments(), empty.getType(), {}, empty.getLoc());
    empty.replaceAllUsesWith(Value(function.getArguments().back()));
    empty.erase();
  }
  return success();
}
