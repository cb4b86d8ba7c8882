//===- SharedReadsToBuffers.cpp - Tensors that many calls read ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects functions on tensors in destination-passing style. One-shot bufferization compares every use of a tensor with every other one,
// so a mask that all layers read would take time in the square of their number. Such a tensor becomes a buffer where it is computed:
//
//   %mask = call @additive_mask(...)              %mask = call @additive_mask(...)
//                                                 %buffer = bufferization.to_buffer %mask read_only
//   call @layer(%a, %mask, ...)           ->      call @layer(%a, %buffer, ...)
//   call @layer(%b, %mask, ...)                   call @layer(%b, %buffer, ...)
//
// and its one use, for the analysis, is the conversion. Slices of such a tensor, as those of a mask of heads, one for each layer, become
// views of the buffer in the same way. This is right only if nothing writes to the memory of the tensor afterwards. So all uses of the
// tensor must be reads, in callees, too, and the destination it was computed into must have no other use.
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

/// Finds out which tensors nothing writes to.
class ReadOnlyTensors {
public:
  explicit ReadOnlyTensors(SymbolTableCollection &symbols) : symbols(symbols), state(options) {}

  /// The function of the module that |call| calls, or null.
  func::FuncOp getCallee(func::CallOp call) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    return callee && !callee.isExternal() ? callee : func::FuncOp();
  }

  /// Whether every use of |tensor| and of its views is a read; a use as a result of a function is none.
  bool isOnlyRead(Value tensor) {
    auto [known, isNew] = onlyRead.try_emplace(tensor, false); // a cycle of calls is not looked into
    if (!isNew)
      return known->second;
    bool result = llvm::all_of(tensor.getUses(), [&](OpOperand &use) { return isRead(use); });
    onlyRead[tensor] = result;
    return result;
  }

  /// Whether the memory of |tensor| is written by no operation but that which computes it, given that |tensor| itself is only read.
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
  /// Whether |use| is the only one of a tensor, but for its sizes, and the tensor has memory of its own.
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

  DenseMap<Value, Value> buffers; // of tensors
};

} // namespace

/// The type of a buffer for |tensor|.
static MemRefType getBufferType(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Whether argument |index| of |function|, whose calls are |calls|, is a tensor that several of its calls share, and all of them can pass a
/// buffer.
bool SharedReadsToBuffers::canBeBuffer(func::FuncOp function, unsigned index, ArrayRef<func::CallOp> calls, ReadOnlyTensors &tensors) {
  if (!isa<RankedTensorType>(function.getArgumentTypes()[index]))
    return false;
  llvm::SmallPtrSet<Value, 4> passed;
  for (func::CallOp call : calls)
    passed.insert(call.getOperand(index));
  return passed.size() < calls.size() && tensors.isOnlyRead(function.getArgument(index)) &&
         llvm::all_of(passed, [&](Value tensor) { return tensors.isOnlyRead(tensor) && tensors.hasOwnMemory(tensor); });
}

/// The buffer of |tensor|, converted where the tensor is computed.
Value SharedReadsToBuffers::getBuffer(Value tensor) {
  Value &buffer = buffers[tensor];
  if (!buffer) {
    OpBuilder builder(tensor.getContext());
    builder.setInsertionPointAfterValue(tensor);
    buffer = bufferization::ToBufferOp::create(builder, tensor.getLoc(), getBufferType(tensor), tensor, /*read_only=*/true);
  }
  return buffer;
}

/// Makes the slices of tensors of entries that have several of them views of a buffer.
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
  llvm::MapVector<Operation *, SmallVector<unsigned>> shared; // arguments of functions
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
