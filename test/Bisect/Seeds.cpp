//===- Seeds.cpp - Errors that a test puts into passes --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Seeds.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace attune;

/// Calls |change| with the operations of type OpT in functions whose names contain |function|, until it returns true.
template <typename OpT>
static bool changeFirst(ModuleOp module, StringRef function, llvm::function_ref<bool(OpT)> change) {
  for (auto each : module.getOps<func::FuncOp>()) {
    if (!each.getSymName().contains(function))
      continue;
    bool done = each.walk([&](OpT op) { return change(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
    if (done)
      return true;
  }
  return false;
}

/// Replaces float constants near |from| by |to| in functions whose names contain |function|, also in vectors.
static bool replaceConstants(ModuleOp module, StringRef function, double from, double to) {
  bool found = false;
  changeFirst<arith::ConstantOp>(module, function, [&](arith::ConstantOp op) {
    auto near = [&](const APFloat &value) {
      APFloat wide = value;
      bool inexact;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
      return std::fabs(wide.convertToDouble() - from) <= 1e-6 * std::fabs(from);
    };
    if (auto scalar = dyn_cast<FloatAttr>(op.getValue()); scalar && near(scalar.getValue())) {
      op.setValueAttr(FloatAttr::get(scalar.getType(), to));
      found = true;
    } else if (auto dense = dyn_cast<DenseFPElementsAttr>(op.getValue());
               dense && dense.isSplat() && near(dense.getSplatValue<APFloat>())) {
      op.setValueAttr(DenseElementsAttr::get(dense.getType(), cast<Attribute>(FloatAttr::get(dense.getElementType(), to))));
      found = true;
    }
    return false;
  });
  return found;
}

template <typename OpT>
static bool scaleScores(ModuleOp module, double factor) {
  return changeFirst<OpT>(module, "", [&](OpT op) {
    op.setScaleAttr(FloatAttr::get(Float64Type::get(op.getContext()), op.getScale().convertToDouble() * factor));
    return true;
  });
}

template <typename OpT>
static bool dropMask(ModuleOp module) {
  return changeFirst<OpT>(module, "", [](OpT op) {
    if (!op.getMask())
      return false;
    op.getMaskMutable().clear();
    return true;
  });
}

static void swapOperands(Operation *op, unsigned a, unsigned b) {
  Value first = op->getOperand(a);
  op->setOperand(a, op->getOperand(b));
  op->setOperand(b, first);
}

/// Makes the loop from 0 to |end| number |number| begin at 1.
static bool startAtOne(ModuleOp module, StringRef function, int64_t end, int number) {
  return changeFirst<scf::ForOp>(module, function, [&](scf::ForOp loop) {
    if (getConstantIntValue(loop.getUpperBound()) != end || getConstantIntValue(loop.getLowerBound()) != 0 || number-- > 0)
      return false;
    OpBuilder builder(loop);
    loop.setLowerBound(arith::ConstantIndexOp::create(builder, loop.getLoc(), 1));
    return true;
  });
}

/// Gives two weights of one type each other's offset or source.
static bool exchangeWeights(ModuleOp module, bool offsets) {
  xfmr::WeightOp first;
  for (auto weight : module.getOps<xfmr::WeightOp>()) {
    auto type = cast<RankedTensorType>(weight.getType());
    if (type.getRank() != 1)
      continue;
    if (!first) {
      first = weight;
      continue;
    }
    if (first.getType() != weight.getType())
      continue;
    StringRef name = offsets ? "offset" : "source";
    Attribute kept = first->getAttr(name);
    first->setAttr(name, weight->getAttr(name));
    weight->setAttr(name, kept);
    return true;
  }
  return false;
}

const std::vector<Seed> &attune::listSeeds() {
  static const std::vector<Seed> seeds = {
      {"swapped-projections", "queries and keys are swapped in fused projections", "xfmr-fuse-projections", "dialect",
       "multi_head|linear|encoder_layer", "bert_base", [](ModuleOp module) {
         return changeFirst<xfmr::WeightConcatOp>(module, "", [](xfmr::WeightConcatOp op) { swapOperands(op, 0, 1); return true; });
       }},
      {"dropped-residual", "a fused residual is lost", "xfmr-fuse-epilogues", "dialect", "linear|layer_norm", "bert_base",
       [](ModuleOp module) {
         return changeFirst<xfmr::LinearOp>(module, "", [](xfmr::LinearOp op) {
           if (!op.getResidual())
             return false;
           op.getResidualMutable().clear();
           return true;
         });
       }},
      {"other-gelu", "gelu becomes its approximation", "xfmr-fuse-epilogues", "dialect", "linear|activation", "bert_base",
       [](ModuleOp module) {
         return changeFirst<xfmr::LinearOp>(module, "", [](xfmr::LinearOp op) {
           if (op.getActivation() != xfmr::Activation::Gelu)
             return false;
           op.setActivation(xfmr::Activation::GeluTanh);
           return true;
         });
       }},
      {"scale-of-scores", "scores are 1 % too large", "xfmr-decompose-composites", "dialect", "multi_head_attention", "bert_base",
       [](ModuleOp module) { return scaleScores<xfmr::AttentionOp>(module, 1.01); }},
      {"dropped-mask", "the mask is lost", "xfmr-decompose-composites", "dialect", "multi_head_attention", "bert_base",
       [](ModuleOp module) { return dropMask<xfmr::AttentionOp>(module); }},
      {"not-causal", "a decoder sees later tokens", "xfmr-decompose-composites", "dialect", "multi_head_attention", "gpt2_forward",
       [](ModuleOp module) {
         return changeFirst<xfmr::AttentionOp>(module, "", [](xfmr::AttentionOp op) {
           bool causal = op.getCausal();
           op.setCausal(false);
           return causal;
         });
       }},
      {"exchanged-weights", "two vectors are exchanged", "xfmr-hoist-weight-expressions", "dialect", "", "bert_base",
       [](ModuleOp module) { return exchangeWeights(module, false); }},
      {"epsilon", "a norm has another epsilon", "convert-xfmr-to-linalg", "linalg", "layer_norm", "bert_base",
       [](ModuleOp module) { return replaceConstants(module, "", 1e-12, 1e-3); }},
      {"mean", "a norm divides by another number", "convert-xfmr-to-linalg", "linalg", "layer_norm", "bert_base",
       [](ModuleOp module) { return replaceConstants(module, "", 1.0 / 48, 1.0 / 47); }},
      {"gelu-constant", "1/sqrt(2) has three digits", "convert-xfmr-to-linalg", "linalg", "linear", "bert_base",
       [](ModuleOp module) { return replaceConstants(module, "", 0.70710678, 0.707); }},
      {"hidden-keys", "masked keys are visible", "convert-xfmr-to-linalg", "linalg", "additive_mask", "bert_base",
       [](ModuleOp module) { return replaceConstants(module, "", -3.40282347e38, 0.0); }},
      {"missing-fill", "a sum does not begin at zero", "attune-tile-groups", "tiled", "linear|layer_norm", "bert_base",
       [](ModuleOp module) {
         return changeFirst<linalg::FillOp>(module, "encoder_layer", [](linalg::FillOp op) {
           op->getResult(0).replaceAllUsesWith(op.getDpsInits()[0]);
           return true;
         });
       }},
      {"tile-mask", "tiles of attention have no mask", "attune-tile-attention", "tiled", "attention", "bert_base",
       [](ModuleOp module) { return dropMask<tiles::AttentionTileOp>(module); }},
      {"tile-scale", "tiles of attention have another scale", "attune-tile-attention", "tiled", "attention", "bert_base",
       [](ModuleOp module) { return scaleScores<tiles::AttentionTileOp>(module, 0.5); }},
      {"cache-row", "a key goes to the first row of its panel", "attune-tile-head-ops", "tiled", "kv_cache_update", "gpt2_cache",
       [](ModuleOp module) {
         return changeFirst<tiles::KeyPanelOp>(module, "", [](tiles::KeyPanelOp op) {
           if (!op.getColumn())
             return false;
           OpBuilder builder(op);
           op.getColumnMutable().assign(arith::ConstantIndexOp::create(builder, op.getLoc(), 0));
           return true;
         });
       }},
      {"swapped-arguments", "a kernel gets two vectors in the wrong order", "attune-outline-kernels", "kernels", "encoder_layer|forward",
       "bert_base", [](ModuleOp module) {
         return changeFirst<func::CallOp>(module, "", [](func::CallOp call) {
           if (!call.getCallee().contains("layer_norm"))
             return false;
           for (unsigned i = 0; i + 1 < call.getNumOperands(); ++i) {
             auto type = dyn_cast<RankedTensorType>(call.getOperand(i).getType());
             if (type && type.getRank() == 1 && type == call.getOperand(i + 1).getType()) {
               swapOperands(call, i, i + 1);
               return true;
             }
           }
           return false;
         });
       }},
      {"weight-offsets", "two vectors have each other's offset", "attune-assign-weight-offsets", "bufferized", "", "bert_base",
       [](ModuleOp module) { return exchangeWeights(module, true); }},
      {"buffer-fill", "a buffer of sums is not cleared", "attune-bufferize", "bufferized", "linear|layer_norm|embedding", "bert_base",
       [](ModuleOp module) {
         return changeFirst<linalg::FillOp>(module, "layer_norm", [](linalg::FillOp op) { op.erase(); return true; });
       }},
      {"stale-buffer", "two buffers share memory", "attune-plan-memory", "bufferized", "encoder_layer", "bert_base",
       [](ModuleOp module) {
         memref::ViewOp first;
         return changeFirst<memref::ViewOp>(module, "encoder_layer", [&](memref::ViewOp op) {
           auto role = dyn_cast<BlockArgument>(op.getSource());
           if (!role || role.getArgNumber() + 2 < cast<func::FuncOp>(role.getOwner()->getParentOp()).getNumArguments())
             return false;
           if (!first || first.getByteShift() == op.getByteShift()) {
             first = op;
             return false;
           }
           op.getByteShiftMutable().assign(first.getByteShift());
           return true;
         });
       }},
      {"k-loop", "a product leaves out the first column", "attune-vectorize-tiles", "vector", "linear_112_48|linear_48", "bert_base",
       [](ModuleOp module) { return startAtOne(module, "linear_112_48", 112, 0); }},
      {"lanes", "a sum adds half of its lanes twice", "attune-vectorize-tiles", "vector", "layer_norm", "bert_base",
       [](ModuleOp module) {
         return changeFirst<vector::ShuffleOp>(module, "layer_norm", [](vector::ShuffleOp op) {
           if (op.getMask()[0] == 0)
             return false;
           SmallVector<int64_t> mask(op.getMask().size());
           for (size_t i = 0; i < mask.size(); ++i)
             mask[i] = int64_t(i);
           op.setMask(mask);
           return true;
         });
       }},
      {"tail", "the tail of a row is not stored", "attune-vectorize-tiles", "vector", "additive_mask", "bert_base",
       [](ModuleOp module) {
         return changeFirst<vector::MaskedStoreOp>(module, "additive_mask", [](vector::MaskedStoreOp op) { op.erase(); return true; });
       }},
      {"attention-scale", "scores are 0.1 % too large", "attune-lower-attention-tile", "vector", "attention", "bert_base",
       [](ModuleOp module) { return replaceConstants(module, "attention", 0.41647, 0.4169); }},
      {"exponential", "a coefficient of exp has four digits", "attune-expand-math", "vector", "", "distilbert_base",
       [](ModuleOp module) { return replaceConstants(module, "", 0.240226507, 0.2403); }},
      {"swapped-difference", "a difference has its operands swapped", "canonicalize", "vector", "layer_norm", "bert_base",
       [](ModuleOp module) {
         // Only after the canonicalization of the phase `vector`, which has vectors.
         bool vectors = false;
         module.walk([&](vector::LoadOp) { vectors = true; });
         return vectors && changeFirst<arith::SubFOp>(module, "layer_norm", [](arith::SubFOp op) { swapOperands(op, 0, 1); return true; });
       }},
      {"rotation", "rotary embeddings turn the other way", "attune-lower-rotary-tile", "vector", "rotary", "llama_forward",
       [](ModuleOp module) {
         return changeFirst<arith::NegFOp>(module, "rotary", [](arith::NegFOp op) {
           op.getResult().replaceAllUsesWith(op.getOperand());
           return true;
         });
       }},
      {"prefetch", "prefetches are removed", "attune-vectorize-tiles", "vector", "", "bert_base",
       [](ModuleOp module) {
         SmallVector<memref::PrefetchOp> ops;
         module.walk([&](memref::PrefetchOp op) { ops.push_back(op); });
         for (memref::PrefetchOp op : ops)
           op.erase();
         return !ops.empty();
       },
       /*harmless=*/true},
  };
  return seeds;
}
