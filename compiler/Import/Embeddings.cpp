//===- Embeddings.cpp - The input of the first layer of a stack -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/Embeddings.h"
#include "compiler/Import/Elementwise.h"
#include "compiler/Import/Positions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

static Value embed(EntryScope &scope, Value ids, WeightId table) {
  return xfmr::EmbeddingOp::create(scope.builder, scope.at(scope.spec.weights[table].name), ids, scope.weight(table));
}

Value attune::emitPatches(EntryScope &scope, const PatchSpec &spec, Value image) {
  OpBuilder &builder = scope.builder;
  Location loc = image.getLoc();
  auto type = cast<RankedTensorType>(image.getType());
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = tensor::DimOp::create(builder, loc, image, 0);
  // The pixels as [B, C, rows of patches, y in a patch, columns of patches, x in a patch], a view.
  int64_t split[] = {dynamic, spec.channels, spec.rows(), spec.patchHeight, spec.columns(), spec.patchWidth};
  SmallVector<OpFoldResult> sizes = {batch};
  for (int64_t extent : ArrayRef<int64_t>(split).drop_front())
    sizes.push_back(builder.getIndexAttr(extent));
  SmallVector<ReassociationIndices> groups = {{0}, {1}, {2, 3}, {4, 5}};
  // Drops the pixels on the right and at the bottom that do not fill a patch.
  int64_t height = spec.rows() * spec.patchHeight, width = spec.columns() * spec.patchWidth;
  if (height != spec.height || width != spec.width) {
    SmallVector<OpFoldResult> begin(4, builder.getIndexAttr(0)), steps(4, builder.getIndexAttr(1));
    SmallVector<OpFoldResult> extents = {batch, builder.getIndexAttr(spec.channels), builder.getIndexAttr(height),
                                         builder.getIndexAttr(width)};
    type = type.clone({dynamic, spec.channels, height, width});
    image = tensor::ExtractSliceOp::create(builder, loc, type, image, begin, extents, steps);
  }
  Value pixels = tensor::ExpandShapeOp::create(builder, loc, type.clone(split), image, groups, sizes);
  // [B, rows, columns, C, y, x]: the elements of a patch are contiguous.
  int64_t order[] = {0, 2, 4, 1, 3, 5};
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(split[dim]);
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type.getElementType(), ValueRange(batch));
  Value patches = linalg::TransposeOp::create(builder, loc, pixels, empty, order).getResult()[0];
  return tensor::CollapseShapeOp::create(builder, loc, patches, SmallVector<ReassociationIndices>{{0, 1, 2}, {3, 4, 5}});
}

/// Returns an id for each of |count| tokens in sequences of |length| tokens. |idOf| computes an id from the index of
/// the token and its position in its sequence, both from 0.
static Value computeIds(EntryScope &scope, Location loc, Value count, int64_t length,
                        llvm::function_ref<Value(OpBuilder &, Location, Value token, Value position)> idOf) {
  OpBuilder &builder = scope.builder;
  Value ids = tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>(count), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    Value token = linalg::IndexOp::create(inner, loc, 0);
    Value size = arith::ConstantIndexOp::create(inner, loc, length);
    Value position = arith::RemUIOp::create(inner, loc, token, size);
    Value id = idOf(inner, loc, token, position);
    return arith::IndexCastOp::create(inner, loc, inner.getI64Type(), id);
  };
  return emitElements(builder, loc, ids, {}, body);
}

/// Projects the patches of each image, with a row of zeros before them for the class token. Then adds rows of
/// PatchSpec::classTable: row 0, the class token, to the rows of zeros, and row 1, zeros, to the patches.
static Value embedPatches(EntryScope &scope, const EmbeddingSpec &spec, TokenBatch &tokens, Value image) {
  const PatchSpec &patches = *spec.patches;
  OpBuilder &builder = scope.builder;
  Location loc = scope.at(spec.path + ".patch_embeddings");
  int64_t patchCount = patches.tokens() - 1;
  Value rows = emitPatches(scope, patches, image);
  Value projected = xfmr::LinearOp::create(builder, loc, rows, scope.weight(patches.projection.weight),
                                           scope.weight(patches.projection.bias), Value(), xfmr::Activation::None);
  Value count = tensor::DimOp::create(builder, loc, rows, 0);
  Value positions = computeIds(scope, loc, count, patchCount, [&](OpBuilder &inner, Location loc, Value token, Value) -> Value {
    Value image = arith::DivUIOp::create(inner, loc, token, arith::ConstantIndexOp::create(inner, loc, patchCount));
    Value classTokens = arith::AddIOp::create(inner, loc, image, arith::ConstantIndexOp::create(inner, loc, 1));
    return arith::AddIOp::create(inner, loc, token, classTokens);
  });
  Value spaced = xfmr::ScatterTokensOp::create(builder, loc, projected, positions, tokens.paddedTokens());
  Value isPatch =
      computeIds(scope, loc, tokens.paddedTokens(), patches.tokens(), [](OpBuilder &inner, Location loc, Value, Value position) -> Value {
        return arith::MinUIOp::create(inner, loc, position, arith::ConstantIndexOp::create(inner, loc, 1));
      });
  return arith::AddFOp::create(builder, loc, spaced, embed(scope, isPatch, patches.classTable));
}

/// Returns the token types: those of the input, else zeros. Returns null if the embeddings add types only if they are
/// an input, and the entry has no such input.
static Value emitTypes(EntryScope &scope, const EmbeddingSpec &spec, StackRole role, TokenBatch &tokens) {
  if (Value given = scope.input(InputRole::TokenTypes, role))
    return tokens.toTokens(given);
  return spec.typesIfGiven ? Value() : tokens.generateIds(/*counting=*/false);
}

static Value project(EntryScope &scope, Location loc, Value input, const LinearSpec &spec) {
  return xfmr::LinearOp::create(scope.builder, loc, input, scope.weight(spec.weight), scope.weight(spec.bias), Value(),
                                xfmr::Activation::None);
}

namespace {
/// One part of the embedding of a box, whose sides 0 to 3 are left, upper, right and lower. The row of |table| is the
/// coordinate of |side|, minus that of |from| if |from| has a value.
struct BoxPart {
  WeightId table;
  int64_t side;
  std::optional<int64_t> from = {};
};
} // namespace

/// Returns for each token the number of its row in the table of |part|, `[T]`; |boxes| are `[B, L, 4]`. A box that ends
/// before it begins, which transformers refuses, has the extent 0.
static Value emitBoxPart(EntryScope &scope, Location loc, TokenBatch &tokens, Value boxes, const BoxPart &part) {
  OpBuilder &builder = scope.builder;
  Value empty = tensor::EmptyOp::create(builder, loc, {tokens.batch(), tokens.length()}, builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    auto sideOf = [&](int64_t side) -> Value {
      Value row = linalg::IndexOp::create(inner, loc, 0), column = linalg::IndexOp::create(inner, loc, 1);
      return tensor::ExtractOp::create(inner, loc, boxes, ValueRange{row, column, arith::ConstantIndexOp::create(inner, loc, side)});
    };
    Value id = sideOf(part.side);
    if (part.from) {
      Value zero = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(0));
      id = arith::MaxSIOp::create(inner, loc, arith::SubIOp::create(inner, loc, id, sideOf(*part.from)), zero);
    }
    return id;
  };
  Value ids = emitElements(builder, loc, empty, {}, body);
  return tokens.toTokens(ids);
}

/// Adds to |sum| the embeddings of each token's box. Without an input of boxes all coordinates are 0.
static Value addBoxes(EntryScope &scope, Location loc, const BoxSpec &spec, StackRole role, TokenBatch &tokens, Value sum) {
  Value boxes = scope.input(InputRole::Boxes, role);
  const BoxPart parts[] = {{spec.x, 0}, {spec.y, 1}, {spec.x, 2}, {spec.y, 3}, {spec.height, 3, 1}, {spec.width, 2, 0}};
  for (const BoxPart &part : parts) {
    Value ids = boxes ? emitBoxPart(scope, loc, tokens, boxes, part) : tokens.generateIds(/*counting=*/false);
    sum = arith::AddFOp::create(scope.builder, loc, sum, embed(scope, ids, part.table));
  }
  return sum;
}

/// Scales |words| `[T, N]`, the vectors of the tokens |ids| `[T]`, as TokenDropoutSpec describes.
static Value dropMasked(EntryScope &scope, Location loc, const TokenDropoutSpec &spec, StackRole role, TokenBatch &tokens, Value words,
                        Value ids) {
  OpBuilder &builder = scope.builder;
  Value masked = markTokens(builder, loc, scope.input(InputRole::TokenIds, role), arith::CmpIPredicate::eq, spec.maskId);
  Value maskedEnds = xfmr::PackTokensOp::create(builder, loc, masked).getOffsets(), visibleEnds;
  if (Value mask = scope.input(InputRole::AttentionMask, role))
    visibleEnds = xfmr::PackTokensOp::create(builder, loc, mask).getOffsets();
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, ids), builder.getF32Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    auto number = [&](double value) -> Value { return arith::ConstantOp::create(inner, loc, inner.getF32FloatAttr(float(value))); };
    auto toFloat = [&](Value value) -> Value { return arith::SIToFPOp::create(inner, loc, inner.getF32Type(), value); };
    Value row = linalg::IndexOp::create(inner, loc, 0);
    if (tokens.paddedPositions()) { // rows beyond the last token have a negative padded position
      Value position = tensor::ExtractOp::create(inner, loc, tokens.paddedPositions(), row);
      row = arith::MaxSIOp::create(inner, loc, arith::IndexCastOp::create(inner, loc, inner.getIndexType(), position),
                                   arith::ConstantIndexOp::create(inner, loc, 0));
    }
    Value sequence = arith::DivUIOp::create(inner, loc, row, tokens.length());
    Value next = arith::AddIOp::create(inner, loc, sequence, arith::ConstantIndexOp::create(inner, loc, 1));
    auto countOf = [&](Value ends) -> Value {
      Value end = tensor::ExtractOp::create(inner, loc, ends, next), begin = tensor::ExtractOp::create(inner, loc, ends, sequence);
      return toFloat(arith::SubIOp::create(inner, loc, end, begin));
    };
    Value length =
        visibleEnds ? countOf(visibleEnds) : toFloat(arith::IndexCastOp::create(inner, loc, inner.getI64Type(), tokens.length()));
    Value ratio = arith::DivFOp::create(inner, loc, countOf(maskedEnds), length);
    Value factor = arith::DivFOp::create(inner, loc, number(spec.kept), arith::SubFOp::create(inner, loc, number(1), ratio));
    Value maskId = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(spec.maskId));
    Value isMasked = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, arguments[0], maskId);
    return arith::SelectOp::create(inner, loc, isMasked, number(0), factor);
  };
  Value factors = emitElements(builder, loc, empty, ids, body);
  return multiplyRows(builder, loc, words, factors);
}

/// Returns the word vectors of the tokens, scaled if the embeddings have a TokenDropoutSpec.
static Value embedWords(EntryScope &scope, Location loc, StackRole role, TokenBatch &tokens) {
  const EmbeddingSpec &spec = scope.spec.stack(role).embeddings;
  Value ids = tokens.toTokens(scope.input(InputRole::TokenIds, role)), words = embed(scope, ids, spec.words);
  return spec.tokenDropout ? dropMasked(scope, loc, *spec.tokenDropout, role, tokens, words, ids) : words;
}

/// Adds the embeddings in the order of EmbeddingSpec: words, types, positions, tasks, boxes.
Value attune::emitEmbeddings(EntryScope &scope, StackRole role, TokenBatch &tokens) {
  const EmbeddingSpec &spec = scope.spec.stack(role).embeddings;
  OpBuilder &builder = scope.builder;
  Location loc = scope.at(spec.path);
  Value sum;
  if (Value vectors = scope.input(InputRole::TokenVectors, role))
    sum = tokens.toTokens(vectors);
  else if (Value image = scope.input(InputRole::Image, role))
    sum = embedPatches(scope, spec, tokens, image);
  else
    sum = embedWords(scope, loc, role, tokens);
  if (spec.scale != 1 && (spec.scalesGivenVectors || !scope.input(InputRole::TokenVectors, role)))
    sum = scaleTokens(builder, loc, sum, spec.scale);
  if (spec.wordProjection.weight != noWeight)
    sum = project(scope, loc, sum, spec.wordProjection);
  auto norm = [&] { sum = createNorm(builder, loc, *spec.norm, sum, {}, scope.weight(spec.norm->weight), scope.weight(spec.norm->bias)); };
  if (spec.norm && spec.normsWords)
    norm();
  if (spec.types != noWeight)
    if (Value types = emitTypes(scope, spec, role, tokens))
      sum = arith::AddFOp::create(builder, loc, sum, embed(scope, types, spec.types));
  if (spec.positions != noWeight)
    sum = arith::AddFOp::create(builder, loc, sum, embed(scope, emitPositions(scope, role, tokens), spec.positions));
  if (Value given = scope.input(InputRole::TaskTypes, role); spec.tasks != noWeight && (given || !spec.tasksIfGiven)) {
    Value tasks = given ? tokens.toTokens(given) : tokens.generateIds(/*counting=*/false);
    sum = arith::AddFOp::create(builder, loc, sum, embed(scope, tasks, spec.tasks));
  }
  if (spec.boxes)
    sum = addBoxes(scope, loc, *spec.boxes, role, tokens, sum);
  bool projects = spec.projection.weight != noWeight;
  if (projects && spec.projectsBeforeNorm)
    sum = project(scope, loc, sum, spec.projection);
  if (spec.norm && !spec.normsWords)
    norm();
  if (spec.zeroesHidden)
    sum = tokens.zeroHidden(loc, sum);
  sum = xfmr::DropoutOp::create(builder, loc, sum.getType(), sum, APFloat(spec.dropout));
  return projects && !spec.projectsBeforeNorm ? project(scope, loc, sum, spec.projection) : sum;
}
