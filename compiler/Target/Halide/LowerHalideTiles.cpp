//===- LowerHalideTiles.cpp - Calls of kernels compiled by Halide ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects halide.tile on buffers with the strides of the attribute `strides` of the operation. Leaves calls of
// functions that are only declared. In the phase `llvm`, linkHalideKernels defines these functions: each creates the
// buffer structures of Halide's calling convention and calls the kernel.

#include "compiler/Target/Halide/HalideOps.h"
#include "compiler/Target/Halide/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attune {
#define GEN_PASS_DEF_LOWERHALIDETILES
#include "compiler/Target/Halide/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct LowerHalideTiles : attune::impl::LowerHalideTilesBase<LowerHalideTiles> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    WalkResult result = getOperation().walk(
        [&](halide::TileOp op) { return failed(lower(op, symbols)) ? WalkResult::interrupt() : WalkResult::advance(); });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult lower(halide::TileOp op, SymbolTable &symbols);
};

/// A builder of the arguments of one call of a kernel. addBuffer() adds the address of a buffer to |arguments| and the
/// buffer's dynamic strides to a list of the caller.
struct CallBuilder {
  Value toInt32(Value index) { return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index); }
  Value addressOf(Value buffer, memref::ExtractStridedMetadataOp metadata);
  LogicalResult addBuffer(halide::TileOp op, Value buffer, ArrayRef<int64_t> strides, SmallVectorImpl<Value> &dynamicStrides);

  OpBuilder builder;
  Location loc;
  SmallVector<Value> arguments;
};
} // namespace

Value CallBuilder::addressOf(Value buffer, memref::ExtractStridedMetadataOp metadata) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value offset = arith::MulIOp::create(builder, loc, metadata.getOffset(), arith::ConstantIndexOp::create(builder, loc, bytes));
  Value address = arith::AddIOp::create(builder, loc, base, offset);
  Value word = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  return LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), word);
}

LogicalResult CallBuilder::addBuffer(halide::TileOp op, Value buffer, ArrayRef<int64_t> strides, SmallVectorImpl<Value> &dynamicStrides) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> actual;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(actual, offset)))
    return op.emitOpError("expects strided buffers, but got ") << buffer.getType();
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  arguments.push_back(addressOf(buffer, metadata));
  for (auto [dim, expected] : llvm::enumerate(strides)) {
    if (ShapedType::isDynamic(expected))
      dynamicStrides.push_back(toInt32(metadata.getStrides()[dim]));
    else if (actual[dim] != expected && type.getDimSize(dim) != 1)
      return op.emitOpError("expects stride ") << expected << " of dimension " << dim << ", but got " << type;
  }
  return success();
}

LogicalResult LowerHalideTiles::lower(halide::TileOp op, SymbolTable &symbols) {
  CallBuilder call{OpBuilder(op), op.getLoc(), {}};
  SmallVector<Value> strides;
  auto layout = [&](size_t index) { return cast<DenseI64ArrayAttr>(op.getStrides()[index]).asArrayRef(); };
  size_t inputs = op.getInputs().size();
  for (auto [index, input] : llvm::enumerate(op.getInputs()))
    if (failed(call.addBuffer(op, input, layout(index), strides)))
      return failure();
  CallBuilder outputs{OpBuilder(op), op.getLoc(), {}};
  for (auto [index, destination] : llvm::enumerate(op.getDestinations()))
    if (failed(outputs.addBuffer(op, destination, layout(inputs + index), strides)))
      return failure();
  for (Value scalar : op.getScalars())
    call.arguments.push_back(call.toInt32(scalar));
  for (Value stride : strides)
    call.arguments.push_back(stride);
  llvm::append_range(call.arguments, outputs.arguments);

  OpBuilder builder(op);
  auto function = symbols.lookup<LLVM::LLVMFuncOp>(op.getKernel());
  if (!function) {
    builder.setInsertionPointToStart(getOperation().getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), llvm::to_vector(ValueRange(call.arguments).getTypes()));
    function = LLVM::LLVMFuncOp::create(builder, op.getLoc(), op.getKernel(), type);
    symbols.insert(function);
    builder.setInsertionPoint(op);
  }
  LLVM::CallOp::create(builder, op.getLoc(), function, call.arguments);
  op.erase();
  return success();
}
