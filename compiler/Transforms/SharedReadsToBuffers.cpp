//===- SharedReadsToBuffers.cpp - Buffers for tensors read by many calls --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Bufferization of shared reads. One-shot bufferization compares every use of a tensor with every other use, so a mask
// that all layers read takes time quadratic in the number of layers. This pass converts such a tensor to a buffer where
// it is computed, or at the beginning of the entry if it is an argument; the conversion is the only use that the
// analysis then sees:
//
//   before                                     after
//     %mask = call @additive_mask(...)           %mask = call @additive_mask(...)
//                                                %buffer = bufferization.to_buffer %mask read_only
//     %b = call @layer(%a, %mask, ...)           %b = call @layer(%a, %buffer, ...)
//     %c = call @layer(%b, %mask, ...)           %c = call @layer(%b, %buffer, ...)
//
//            %mask                                      %mask
//          /   |   \      uses: one per layer             |             uses: one
//      layer layer layer                               %buffer
//                                                      /  |  \          buffers are not analyzed
//                                                  layer layer layer
//
// In the callee, `bufferization.to_tensor restrict` of the new parameter replaces the tensor. Slices of one tensor in
// an entry function, such as the head mask of each layer, become views of one buffer in the same way.
//
// A buffer hides later writes from the analysis, so a tensor is converted only if its memory never changes after it is
// computed:
// - every use of the tensor and of its views is a read, in callees too (ReadOnlyTensors::isOnlyRead);
// - the destination into which the tensor was computed has no other use (ReadOnlyTensors::hasOwnMemory).
//
// Expects functions on tensors in destination-passing style, before one-shot bufferization. Leaves alone a parameter
// for which some call passes a tensor that cannot be converted, and parameters of public functions and of functions
// that anything but calls refers to.
//
// Cost: about linear in the number of uses, since the results of ReadOnlyTensors::isOnlyRead are cached.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace attune {
#define GEN_PASS_DEF_SHAREDREADSTOBUFFERS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;

namespace {

/// An analysis that finds tensors whose memory is never written after they are computed.
class ReadOnlyTensors {
public:
  explicit ReadOnlyTensors(SymbolTableCollection &symbols) : symbols(symbols), state(options) {}

  /// Returns the callee of |call|; null if it is external or not in the module.
  func::FuncOp getCallee(func::CallOp call) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    return callee && !callee.isExternal() ? callee : func::FuncOp();
  }

  /// Returns true if every use of |tensor| and of its views is a read. Returning a tensor from a function does not
  /// count as a read.
  bool isOnlyRead(Value tensor) {
    auto [known, isNew] = onlyRead.try_emplace(tensor, false); // the answer within a cycle of calls
    if (!isNew)
      return known->second;
    bool result = llvm::all_of(tensor.getUses(), [&](OpOperand &use) { return isRead(use); });
    onlyRead[tensor] = result;
    return result;
  }

  /// Returns true if only the operation that computes |tensor| writes to its memory. Expects isOnlyRead(tensor).
  bool hasOwnMemory(Value tensor) {
    Operation *op = tensor.getDefiningOp();
    if (!op || isa<tensor::EmptyOp>(op))
      return true;
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      return isOnlyRead(op->getOperand(0)) && hasOwnMemory(op->getOperand(0));
    if (auto call = dyn_cast<func::CallOp>(op)) {
      func::FuncOp callee = getCallee(call);
      return callee && llvm::all_of(call->getOpOperands(), [&](OpOperand &operand) {
               return !isa<TensorType>(operand.get().getType()) || isOnlyRead(callee.getArgument(operand.getOperandNumber())) ||
                      isLastUse(operand);
             });
    }
    if (auto generic = dyn_cast<linalg::LinalgOp>(op))
      return isLastUse(*generic.getTiedOpOperand(cast<OpResult>(tensor)));
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return llvm::all_of(loop.getInitsMutable(),
                          [&](OpOperand &init) { return !isa<TensorType>(init.get().getType()) || isLastUse(init); });
    return false;
  }

private:
  /// Returns true if |use| is the only use of a tensor, `tensor.dim` aside, and the tensor has memory of its own.
  bool isLastUse(OpOperand &use) {
    return llvm::all_of(use.get().getUses(), [&](OpOperand &other) { return &other == &use || isa<tensor::DimOp>(other.getOwner()); }) &&
           hasOwnMemory(use.get());
  }

  bool isRead(OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      return true;
    if (auto call = dyn_cast<func::CallOp>(user)) {
      func::FuncOp callee = getCallee(call);
      return callee && isOnlyRead(callee.getArgument(use.getOperandNumber()));
    }
    auto op = dyn_cast<bufferization::BufferizableOpInterface>(user);
    if (!op || user->hasTrait<OpTrait::IsTerminator>() || (user->getNumRegions() != 0 && !isa<linalg::LinalgOp>(user)) ||
        op.bufferizesToMemoryWrite(use, state))
      return false;
    return llvm::all_of(op.getAliasingValues(use, state),
                        [&](const bufferization::AliasingValue &alias) { return isOnlyRead(alias.value); });
  }

  SymbolTableCollection &symbols;
  bufferization::BufferizationOptions options;
  bufferization::AnalysisState state;
  DenseMap<Value, bool> onlyRead;
};

struct SharedReadsToBuffers : attune::impl::SharedReadsToBuffersBase<SharedReadsToBuffers> {
  void runOnOperation() override;

private:
  void convertSlices(ReadOnlyTensors &tensors);
  Value getBuffer(Value tensor);
  bool canBeBuffer(func::FuncOp function, unsigned index, ArrayRef<func::CallOp> calls, ReadOnlyTensors &tensors);

  DenseMap<Value, Value> buffers; // by the tensor that was converted
};

} // namespace

/// Returns the type of a buffer for |tensor|, of identity layout.
static MemRefType getBufferType(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Returns true if argument |index| of |function| is a tensor, if several of |calls|, all calls of the function, pass
/// the same tensor for it, and if all of them can pass a buffer instead.
bool SharedReadsToBuffers::canBeBuffer(func::FuncOp function, unsigned index, ArrayRef<func::CallOp> calls, ReadOnlyTensors &tensors) {
  if (!isa<RankedTensorType>(function.getArgumentTypes()[index]))
    return false;
  llvm::SmallPtrSet<Value, 4> passed;
  for (func::CallOp call : calls)
    passed.insert(call.getOperand(index));
  return passed.size() < calls.size() && tensors.isOnlyRead(function.getArgument(index)) &&
         llvm::all_of(passed, [&](Value tensor) { return tensors.isOnlyRead(tensor) && tensors.hasOwnMemory(tensor); });
}

/// Returns the buffer of |tensor|; converts the tensor right after it is computed if that was not done before.
Value SharedReadsToBuffers::getBuffer(Value tensor) {
  Value &buffer = buffers[tensor];
  if (!buffer) {
    OpBuilder builder(tensor.getContext());
    builder.setInsertionPointAfterValue(tensor);
    buffer = bufferization::ToBufferOp::create(builder, tensor.getLoc(), getBufferType(tensor), tensor, /*read_only=*/true);
  }
  return buffer;
}

/// Replaces two or more slices of one tensor in an entry by views of its buffer, if nothing writes to the tensor.
void SharedReadsToBuffers::convertSlices(ReadOnlyTensors &tensors) {
  llvm::MapVector<Value, SmallVector<tensor::ExtractSliceOp>> slices;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (xfmr::getEntry(function))
      for (auto slice : function.getOps<tensor::ExtractSliceOp>())
        slices[slice.getSource()].push_back(slice);
  for (auto &[tensor, parts] : slices) {
    if (parts.size() < 2 || !tensors.isOnlyRead(tensor) || !tensors.hasOwnMemory(tensor))
      continue;
    Value buffer = getBuffer(tensor);
    for (tensor::ExtractSliceOp slice : parts) {
      OpBuilder builder(slice);
      auto type = memref::SubViewOp::inferRankReducedResultType(slice.getType().getShape(), cast<MemRefType>(buffer.getType()),
                                                                slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides());
      Value view = memref::SubViewOp::create(builder, slice.getLoc(), type, buffer, slice.getMixedOffsets(), slice.getMixedSizes(),
                                             slice.getMixedStrides());
      slice.replaceAllUsesWith(
          bufferization::ToTensorOp::create(builder, slice.getLoc(), slice.getType(), view, /*restrict=*/true).getResult());
      slice.erase();
    }
  }
}

void SharedReadsToBuffers::runOnOperation() {
  buffers.clear();
  SymbolTableCollection symbols;
  xfmr::FunctionUsers users(getOperation(), symbols.getSymbolTable(getOperation()));
  ReadOnlyTensors tensors(symbols);
  llvm::MapVector<Operation *, SmallVector<unsigned>> shared; // arguments to convert, by function
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    ArrayRef<func::CallOp> calls = users.getCalls(function);
    if (!function.isPrivate() || function.isExternal() || calls.size() < 2 || users.hasOtherUsers(function))
      continue;
    for (unsigned index = 0; index != function.getNumArguments(); ++index)
      if (canBeBuffer(function, index, calls, tensors))
        shared[function].push_back(index);
  }
  convertSlices(tensors);

  for (auto &[op, indices] : shared) {
    auto function = cast<func::FuncOp>(op);
    SmallVector<Type> types = llvm::to_vector(function.getArgumentTypes());
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    for (unsigned index : indices) {
      BlockArgument argument = function.getArgument(index);
      Type type = argument.getType();
      types[index] = getBufferType(argument);
      auto tensor = bufferization::ToTensorOp::create(builder, argument.getLoc(), type, argument, /*restrict=*/true);
      argument.replaceAllUsesExcept(tensor, tensor);
      argument.setType(types[index]);
      buffers[tensor] = argument;
    }
    function.setFunctionType(builder.getFunctionType(types, function.getResultTypes()));
  }
  for (auto &[op, indices] : shared)
    for (func::CallOp call : users.getCalls(cast<func::FuncOp>(op)))
      for (unsigned index : indices)
        call->setOperand(index, getBuffer(call->getOperand(index)));
}
