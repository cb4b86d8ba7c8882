//===- BufferizableModels.cpp - Bufferization of tile and rt operations ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/BufferizableModels.h"
#include "compiler/Transforms/TileOpModel.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace attune;

namespace {
/// A `tile.key_panel` with a `column` operand reads its destination: the columns before that column keep their values.
struct KeyPanelModel : TileOpModel<KeyPanelModel, tiles::KeyPanelOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &state) const {
    return TileOpModel::bufferizesToMemoryRead(op, operand, state) || cast<tiles::KeyPanelOp>(op).getColumn();
  }
};

/// A `tile.attention_tile` reads its second destination, since the probabilities of keys that positions hide keep the
/// values that they have there.
struct AttentionTileModel : TileOpModel<AttentionTileModel, tiles::AttentionTileOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &state) const {
    return TileOpModel::bufferizesToMemoryRead(op, operand, state) || operand.get() == cast<tiles::AttentionTileOp>(op).getProbabilities();
  }
};

template <typename OpTy>
struct WholeTileModel : TileOpModel<WholeTileModel<OpTy>, OpTy> {};
} // namespace

void attune::registerBufferizableModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tiles::TileDialect *) {
    tiles::KeyPanelOp::attachInterface<KeyPanelModel>(*context);
    tiles::CacheRowsOp::attachInterface<WholeTileModel<tiles::CacheRowsOp>>(*context);
    tiles::UnpackKeysOp::attachInterface<WholeTileModel<tiles::UnpackKeysOp>>(*context);
    tiles::RotaryTileOp::attachInterface<WholeTileModel<tiles::RotaryTileOp>>(*context);
    tiles::AttentionTileOp::attachInterface<AttentionTileModel>(*context);
    tiles::GroupedProductOp::attachInterface<WholeTileModel<tiles::GroupedProductOp>>(*context);
    tiles::QuantizeRowsOp::attachInterface<WholeTileModel<tiles::QuantizeRowsOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, rt::RtDialect *) {
    rt::AllGatherOp::attachInterface<WholeTileModel<rt::AllGatherOp>>(*context);
  });
}
