//===- TieEmbeddings.cpp - Embeddings read the weights of projections -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects no composites, the attribute `precision` of all projections, and references to weights in the functions that
// use them. A head is the projection to the scores of all tokens. The pass compares weights by their sources, so it
// recognizes a table and the matrix of a head that are made of the same tensor.
//
// Among ranks, the head is divided by rows of its matrix, and an embedding by columns of its table:
//
//     matrix of rank 0  [##########]      table of rank 0  [#####     ]
//     matrix of rank 1  [##########]                       [#####     ]
//
// If the head rounds its matrix, some columns alone may not determine the rounded values, since all columns of a row
// may share one scale. So each rank then has the whole table, in the precision and format of the head, and takes its
// columns of the embedding's result.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>

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
  /// Embeddings whose table is one of the weights; |divided| has those whose table is the shard of columns of such a
  /// weight.
  SmallVector<EmbeddingOp> embeddings, divided;
  /// The first projection whose matrix is one of the weights; null if there is none.
  Projection projection;
  /// A use other than as a table or as the matrix of a projection; null if there is none.
  Operation *other = nullptr;
};

/// Returns the source of which |source| is a multiple (`#xfmr.scale`), and the factor; |source| itself and 1 if it is
/// no multiple.
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
    // Uses are added in the order of operations, since the order of the uses of a value is not part of the IR.
    module.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        add(uses, operand, symbols);
    });
    // The first projection whose matrix has each source or a multiple of it.
    DenseMap<Attribute, Projection> multiples;
    for (auto &[source, found] : uses)
      if (found.projection.linear)
        multiples.try_emplace(getScaled(source).first, found.projection);
    for (auto &[source, table] : uses) {
      Projection projection = table.projection.linear ? table.projection : multiples.lookup(getScaled(source).first);
      if (!projection.linear)
        continue;
      for (EmbeddingOp embedding : table.embeddings)
        if (canTie(embedding, source, table, projection))
          tie(embedding, source, projection);
      for (EmbeddingOp embedding : table.divided)
        if (isRounded(projection.linear) && canTie(embedding, source, table, projection))
          tie(gatherTable(embedding), source, projection);
    }
  }

private:
  static bool isRounded(LinearOp linear) { return linear.getPrecision() != Precision::F32 || linear.getFormat(); }

  /// Adds |use| to the uses of the source of its value, if the value is a reference to a weight or a shard of one.
  static void add(llvm::MapVector<Attribute, Uses> &uses, OpOperand &use, const SymbolTable &symbols) {
    auto shard = use.get().getDefiningOp<WeightShardOp>();
    auto reference = (shard ? shard.getInput() : use.get()).getDefiningOp<WeightRefOp>();
    if (!reference || isa<WeightShardOp>(use.getOwner()))
      return;
    auto weight = symbols.lookup<WeightOp>(reference.getWeight());
    Uses &found = uses[weight.getSource()];
    bool hasColumns = shard && shard.getAxis() == 1, hasRows = shard && !hasColumns;
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    auto embedding = dyn_cast<EmbeddingOp>(use.getOwner());
    if (embedding && !hasRows)
      (hasColumns ? found.divided : found.embeddings).push_back(embedding);
    else if (!linear || hasColumns || use.get() != linear.getWeight())
      found.other = use.getOwner();
    else if (!found.projection.linear)
      found.projection = {linear, weight};
  }

  /// Replaces |embedding|, whose table is a shard of columns, by an embedding of the whole table, which it returns.
  /// Replaces the all_gathers of |embedding| by the result of the new one. Other users get the columns of this rank of
  /// that result.
  static EmbeddingOp gatherTable(EmbeddingOp embedding) {
    auto shard = embedding.getTable().getDefiningOp<WeightShardOp>();
    OpBuilder builder(embedding);
    Location loc = embedding.getLoc();
    auto whole = EmbeddingOp::create(builder, loc, embedding.getIds(), shard.getInput());
    whole.setScaleAttr(embedding.getScaleAttr());
    Value columns = RankSliceOp::create(builder, loc, embedding.getType(), whole, shard.getAxis(), shard.getBegins());
    for (Operation *user : llvm::make_early_inc_range(embedding->getUsers()))
      if (auto gather = dyn_cast<AllGatherOp>(user); gather && gather.getBegins() == shard.getBegins() && gather.getAxis() == 1) {
        gather.replaceAllUsesWith(whole.getResult());
        gather.erase();
      }
    embedding.replaceAllUsesWith(columns);
    embedding.erase();
    return whole;
  }

  /// Makes |embedding|, whose table has the source |source|, read the matrix of |projection|.
  static void tie(EmbeddingOp embedding, Attribute source, Projection projection) {
    LinearOp linear = projection.linear;
    OpBuilder builder(embedding);
    if (source != projection.matrix.getSource()) {
      embedding.getTableMutable().assign(
          WeightRefOp::create(builder, embedding.getLoc(), projection.matrix.getType(), projection.matrix.getSymName()));
      double factor = getScaled(source).second / getScaled(projection.matrix.getSource()).second;
      embedding.setScaleAttr(builder.getF64FloatAttr(factor));
    }
    embedding.setTied(linear.getPrecision());
    embedding.setFormatAttr(linear.getFormatAttr());
    std::string format = linear.getFormat() ? linear.getFormat()->getValue().str() : stringifyPrecision(linear.getPrecision()).str();
    passed(embedding, "xfmr-tie-embeddings", "TieEmbeddings")
        << remark::add("its rows are read from the weights of a projection, {0}", format);
  }

  /// Returns true if |embedding|, whose table has the source |source| and the uses |table|, can read the matrix of
  /// |projection|. Otherwise emits a remark.
  static bool canTie(EmbeddingOp embedding, Attribute source, const Uses &table, Projection projection) {
    StringRef why = whyNot(embedding, source, table, projection);
    if (!why.empty())
      missed(embedding, "xfmr-tie-embeddings", "TieEmbeddings") << remark::reason("{0}", why);
    return why.empty();
  }

  static StringRef whyNot(EmbeddingOp embedding, Attribute source, const Uses &table, Projection projection) {
    if (table.other)
      return "another operation uses its table";
    Attribute matrix = projection.matrix.getSource();
    double divisor = getScaled(matrix).second, factor = getScaled(source).second / divisor;
    if (source != matrix && divisor != 1 && !isRounded(projection.linear))
      return "the matrix of the projection is scaled and rounded to f32";
    // If the matrix is the table times a very small or very large factor, rounding the matrix loses values that the
    // table has.
    if (!(std::abs(factor) >= 0x1p-20 && std::abs(factor) <= 0x1p20))
      return "the matrix of the projection has another magnitude";
    if (embedding.getTied() || embedding.getScale())
      return "it is tied or scaled already";
    return "";
  }
};

} // namespace
