//===- Reference.cpp - Operations by their definitions --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The reference functions of operations of `xfmr` and `tile`. Each is written from the description of its operation and
// shares no code with the passes. A few operations, such as `xfmr.all_gather`, have no reference function. The
// functions are slow and simple, and check each index.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plain/Reference/Attention.h"
#include "compiler/Plain/Reference/Caches.h"
#include "compiler/Plain/Reference/Experts.h"
#include "compiler/Plain/Reference/Norms.h"
#include "compiler/Plain/Reference/Quantized.h"
#include "compiler/Plain/Reference/Tokens.h"
#include "compiler/Plain/Reference/WeightExpressions.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::reference;

/// If |op| has a reference function, calls |use| with |op|, cast to the class of the operation, and returns true; else
/// returns false.
template <typename Use>
static bool dispatch(Operation *op, Use use) {
  bool known = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case<xfmr::ActivationOp, xfmr::AddRowsOp, xfmr::AdditiveMaskOp, xfmr::AlibiBiasOp, xfmr::AttentionOp, xfmr::ChooseExpertsOp,
            xfmr::ClampedGluOp, xfmr::CountedPositionsOp, xfmr::DropoutOp, xfmr::EmbeddingOp, xfmr::ExpertsOp, xfmr::FfnOp,
            xfmr::GatherTokensOp, xfmr::GroupByExpertOp, xfmr::KvCacheReadOp, xfmr::KvCacheUpdateOp, xfmr::LayerNormOp, xfmr::LinearOp,
            xfmr::ListByExpertOp, xfmr::MaskCacheReadOp, xfmr::MaskCacheUpdateOp, xfmr::MergeHeadsOp, xfmr::MultiHeadAttentionOp,
            xfmr::PackTokensOp, xfmr::PoolOp, xfmr::RelativePositionBiasOp, xfmr::RmsNormOp, xfmr::RotaryOp, xfmr::ScatterProbabilitiesOp,
            xfmr::ScatterTokensOp, xfmr::SequenceOffsetsOp, xfmr::SoftmaxOp, xfmr::SplitHeadsOp, xfmr::VisibleBeforeOp,
            xfmr::WeightConcatOp, xfmr::WeightConvertOp, xfmr::WeightDistancePanelsOp, xfmr::WeightPackOp, xfmr::WeightQuantizeOp,
            xfmr::WeightQuantizePanelsOp, xfmr::WeightRowSumsOp, xfmr::WeightScalesOp, xfmr::WeightSelectOp, xfmr::WeightSliceOp,
            xfmr::WeightTransposeOp, tiles::AttentionTileOp, tiles::CacheRowsOp, tiles::GroupedProductOp, tiles::KeyPanelOp,
            tiles::QuantizeRowsOp, tiles::RotaryTileOp, tiles::UnpackKeysOp>(use)
      .Default([&](Operation *) { known = false; });
  return known;
}

bool attune::hasReference(Operation *op) {
  return dispatch(op, [](auto) {});
}

void attune::computeReference(OpCall &call) {
  if (call.wide)
    dispatch(call.op, [&](auto op) {
      Context<double> context(call);
      compute(context, op);
    });
  else
    dispatch(call.op, [&](auto op) {
      Context<float> context(call);
      compute(context, op);
    });
}
