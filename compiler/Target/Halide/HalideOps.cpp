//===- HalideOps.cpp - The halide dialect and its bufferization -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/HalideOps.h"
#include "compiler/Transforms/TileOpModel.h"

using namespace mlir;
using namespace attune;

#include "compiler/Target/Halide/HalideDialect.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/Target/Halide/HalideOps.cpp.inc"

void halide::HalideDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/Target/Halide/HalideOps.cpp.inc"
      >();
}

void halide::TileOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, 0, true, SideEffects::DefaultResource::get());
    if (!isDpsInit(&operand) || getReadsDestinations())
      effects.emplace_back(MemoryEffects::Read::get(), &operand, 0, true, SideEffects::DefaultResource::get());
  }
}

LogicalResult halide::TileOp::verify() {
  SmallVector<Value> buffers(getInputs());
  llvm::append_range(buffers, getDestinations());
  if (getStrides().size() != buffers.size()) // C1
    return emitOpError("expects 'strides' of ") << buffers.size() << " buffers, but got " << getStrides().size();
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    auto type = cast<ShapedType>(buffer.getType());
    if (!type.hasRank() || !type.getElementType().isIntOrFloat()) // C3
      return emitOpError("expects buffer ") << index << " of a rank, of integers or floats, but got " << buffer.getType();
    auto strides = dyn_cast<DenseI64ArrayAttr>(getStrides()[index]);
    int64_t rank = type.getRank();
    if (!strides || strides.size() != rank)
      return emitOpError("expects ") << rank << " strides of buffer " << index << ", but got " << getStrides()[index];
    if (rank > 0 && strides.asArrayRef().back() != 1) // C2
      return emitOpError("expects the last stride of buffer ") << index << " to be 1, but got " << strides.asArrayRef().back();
  }
  return success();
}

namespace {
struct TileModel : TileOpModel<TileModel, halide::TileOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const bufferization::AnalysisState &state) const {
    return TileOpModel::bufferizesToMemoryRead(op, operand, state) || cast<halide::TileOp>(op).getReadsDestinations();
  }
};
} // namespace

void attune::registerHalideDialect(DialectRegistry &registry) {
  registry.insert<halide::HalideDialect>();
  registry.addExtension(+[](MLIRContext *context, halide::HalideDialect *) { halide::TileOp::attachInterface<TileModel>(*context); });
}
