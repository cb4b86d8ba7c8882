//===- BufferizableModels.cpp - Bufferization of xfmr tile operations ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/BufferizableModels.h"
#include "compiler/Transforms/TileOpModel.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace attune;

namespace {
/// A column of a key panel leaves the others as they were.
struct KeyPanelModel : TileOpModel<KeyPanelModel, xfmr::KeyPanelOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &state) const {
    return TileOpModel::bufferizesToMemoryRead(op, operand, state) || cast<xfmr::KeyPanelOp>(op).getColumn();
  }
};

template <typename OpTy>
struct WholeTileModel : TileOpModel<WholeTileModel<OpTy>, OpTy> {};
} // namespace

void attune::registerBufferizableModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, xfmr::XfmrDialect *) {
    xfmr::KeyPanelOp::attachInterface<KeyPanelModel>(*context);
    xfmr::KeyRowsOp::attachInterface<WholeTileModel<xfmr::KeyRowsOp>>(*context);
    xfmr::RotaryTileOp::attachInterface<WholeTileModel<xfmr::RotaryTileOp>>(*context);
    xfmr::AttentionTileOp::attachInterface<WholeTileModel<xfmr::AttentionTileOp>>(*context);
    xfmr::QuantizeRowsOp::attachInterface<WholeTileModel<xfmr::QuantizeRowsOp>>(*context);
  });
}
