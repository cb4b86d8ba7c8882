//===- BufferizableModels.cpp - Bufferization of xfmr tile operations ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/BufferizableModels.h"
#include "dialect/IR/XfmrOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {
/// Whether |op| leaves a part of its destinations as it was.
bool updatesDestinations(Operation *op) {
  auto panel = dyn_cast<xfmr::KeyPanelOp>(op);
  return panel && panel.getColumn();
}

/// A tile op reads its inputs and overwrites its destinations, mostly whole.
template <typename OpTy>
struct TileOpModel : DstBufferizableOpInterfaceExternalModel<TileOpModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return cast<DestinationStyleOpInterface>(op).isDpsInput(&operand) || updatesDestinations(op);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options, BufferizationState &state) const {
    SmallVector<Value> operands, destinations;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (isa<TensorType>(value.getType())) {
        FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
        if (failed(buffer))
          return failure();
        value = *buffer;
      }
      operands.push_back(value);
      if (cast<DestinationStyleOpInterface>(op).isDpsInit(&operand))
        destinations.push_back(value);
    }
    OpTy::create(rewriter, op->getLoc(), TypeRange(), operands, op->getAttrs());
    replaceOpWithBufferizedValues(rewriter, op, destinations);
    return success();
  }
};
} // namespace

void attune::registerBufferizableModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, xfmr::XfmrDialect *) {
    xfmr::KeyPanelOp::attachInterface<TileOpModel<xfmr::KeyPanelOp>>(*context);
    xfmr::KeyRowsOp::attachInterface<TileOpModel<xfmr::KeyRowsOp>>(*context);
    xfmr::RotaryTileOp::attachInterface<TileOpModel<xfmr::RotaryTileOp>>(*context);
    xfmr::AttentionTileOp::attachInterface<TileOpModel<xfmr::AttentionTileOp>>(*context);
    xfmr::QuantizeRowsOp::attachInterface<TileOpModel<xfmr::QuantizeRowsOp>>(*context);
  });
}
