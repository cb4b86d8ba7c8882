//===- TieEmbeddings.cpp - Embeddings read the weights of projections -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects decomposed composites, projections with their precision, and references to weights in the functions that use
// them. Weights are compared by their sources, so a table and a head that name one tensor twice are recognized.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_TIEEMBEDDINGS
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

/// A projection and the weight that is its matrix.
struct Projection {
  LinearOp linear;
  WeightOp matrix;
};

/// The uses of the weights of one source.
struct Uses {
  SmallVector<EmbeddingOp> embeddings;
  /// The first projection by such a weight; null if there is none.
  Projection projection;
  /// A use other than as a table or as the matrix of a projection; null if there is none.
  Operation *other = nullptr;
};

/// Returns the source of which |source| is a multiple, and the factor.
std::pair<Attribute, double> getScaled(Attribute source) {
  if (auto scaled = dyn_cast<ScaleSourceAttr>(source))
    return {scaled.getSource(), scaled.getFactor().getValueAsDouble()};
  return {source, 1};
}

struct TieEmbeddings : xfmr::impl::TieEmbeddingsBase<TieEmbeddings> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    llvm::MapVector<Attribute, Uses> uses;
    module.walk([&](WeightRefOp reference) {
      auto weight = symbols.lookup<WeightOp>(reference.getWeight());
      Uses &found = uses[weight.getSource()];
      for (OpOperand &use : reference->getUses())
        add(found, use, weight);
    });
    // The first projection by a multiple of each source.
    DenseMap<Attribute, Projection> multiples;
    for (auto &[source, found] : uses)
      if (found.projection.linear)
        multiples.try_emplace(getScaled(source).first, found.projection);
    for (auto &[source, table] : uses) {
      Projection projection = table.projection.linear ? table.projection : multiples.lookup(getScaled(source).first);
      if (projection.linear)
        tie(source, table, projection);
    }
  }

private:
  static void add(Uses &uses, OpOperand &use, WeightOp weight) {
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    if (auto embedding = dyn_cast<EmbeddingOp>(use.getOwner()))
      uses.embeddings.push_back(embedding);
    else if (!linear || use.get() != linear.getWeight())
      uses.other = use.getOwner();
    else if (!uses.projection.linear)
      uses.projection = {linear, weight};
  }

  /// Makes the embeddings of |table|, whose source is |source|, read the matrix of |projection|.
  static void tie(Attribute source, const Uses &table, Projection projection) {
    LinearOp linear = projection.linear;
    double divisor = getScaled(projection.matrix.getSource()).second;
    bool isRounded = linear.getPrecision() != Precision::F32 || linear.getFormat();
    for (EmbeddingOp embedding : table.embeddings) {
      if (StringRef why = whyNot(embedding, table, isRounded, source != projection.matrix.getSource() && divisor != 1);
          !why.empty()) {
        missed(embedding, "xfmr-tie-embeddings", "TieEmbeddings") << remark::reason("{0}", why);
        continue;
      }
      OpBuilder builder(embedding);
      if (source != projection.matrix.getSource()) {
        embedding.getTableMutable().assign(
            WeightRefOp::create(builder, embedding.getLoc(), projection.matrix.getType(), projection.matrix.getSymName()));
        embedding.setScaleAttr(builder.getF64FloatAttr(getScaled(source).second / divisor));
      }
      embedding.setTied(linear.getPrecision());
      embedding.setFormatAttr(linear.getFormatAttr());
      std::string format = linear.getFormat() ? linear.getFormat()->getValue().str() : stringifyPrecision(linear.getPrecision()).str();
      passed(embedding, "xfmr-tie-embeddings", "TieEmbeddings")
          << remark::add("its rows are read from the weights of a projection, {0}", format);
    }
  }

  /// Returns the reason why |embedding|, one of |table|, keeps a table of its own; empty if it need not. |isRounded| is true
  /// if the projection rounds its matrix, |divides| if rows of the matrix must be divided by a factor.
  static StringRef whyNot(EmbeddingOp embedding, const Uses &table, bool isRounded, bool divides) {
    if (table.other)
      return "another operation uses its table";
    if (divides && !isRounded)
      return "the matrix of the projection is scaled and rounded to f32";
    if (embedding.getTied() || embedding.getScale())
      return "it is tied or scaled already";
    return "";
  }
};

} // namespace
