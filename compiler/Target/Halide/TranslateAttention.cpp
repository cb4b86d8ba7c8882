//===- TranslateAttention.cpp - Attention tiles as stages -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects one tile.attention_tile. Its description follows the definition of `xfmr.attention` and has no blocks of
// keys: the scores of all keys and their unnormalized probabilities are separate stages. These stages are outputs, in
// buffers that the task allocates, because the number of keys is known only at run time. Stages have the loops d0 over
// heads, d1 over queries and d2 over the columns of the key panels, one for each key and some for padding. In the dot
// products of queries and keys d3 is the component. In the stages of the result d2 is the component of a value, and d3
// the key.
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/TranslateKernel.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace attune;
using xfmr::MaskedRows;
using xfmr::ScoreStage;

namespace {

constexpr double kHidden = xfmr::kHiddenScore;
constexpr double kLowest = std::numeric_limits<float>::lowest();

class AttentionTranslator {
public:
  AttentionTranslator(tiles::AttentionTileOp op, StringRef name) : op(op), builder(op), text(builder, name) {}
  void run();

private:
  std::string call(StringRef word, ArrayRef<std::string> operands) { return term(word, operands); }
  std::string number(int64_t value) { return std::to_string(value); }
  std::string load(StringRef buffer, ArrayRef<std::string> indices);
  OpFoldResult sizeOf(Value tensor, int64_t dim) { return sizesOf(builder, tensor)[dim]; }
  /// Returns the index in dimension |dim| of |tensor|: 0 if the dimension has size 1, so that its element is used for
  /// all indices; else |index|, clamped to the dimension if its size is dynamic.
  std::string broadcast(Value tensor, int64_t dim, StringRef index);
  /// Returns |index| clamped to 0 … |size| - 1.
  std::string within(StringRef index, const std::string &size);
  std::string strip(StringRef stage);
  std::string addProducts();
  std::string score(const std::string &product);
  std::string maskValue();
  std::string isLater();
  std::string isHiddenByPosition();
  std::string isVisible();
  std::string weight(const std::string &scores, const std::string &largest);
  SmallVector<std::string> loops(ArrayRef<std::string> inner, ArrayRef<std::string> reduced = {});

  tiles::AttentionTileOp op;
  OpBuilder builder;
  KernelText text;
  std::string heads, queries, keys, columns, position;
  int64_t width;
  SmallVector<Value> strips;
  SmallVector<std::string> stripStages;
};

} // namespace

std::string AttentionTranslator::load(StringRef buffer, ArrayRef<std::string> indices) {
  SmallVector<std::string> operands{buffer.str()};
  llvm::append_range(operands, indices);
  return term("load", operands);
}

std::string AttentionTranslator::within(StringRef index, const std::string &size) {
  return call("max", {call("min", {index.str(), call("sub", {size, "1"})}), "0"});
}

std::string AttentionTranslator::broadcast(Value tensor, int64_t dim, StringRef index) {
  auto type = cast<ShapedType>(tensor.getType());
  if (type.getDimSize(dim) == 1)
    return "0";
  return type.isDynamicDim(dim) ? within(index, text.addSize(sizeOf(tensor, dim))) : index.str();
}

SmallVector<std::string> AttentionTranslator::loops(ArrayRef<std::string> inner, ArrayRef<std::string> reduced) {
  SmallVector<std::string> result{call("parallel", {heads}), call("parallel", {queries})};
  for (const std::string &extent : inner)
    result.push_back(call("parallel", {extent}));
  for (const std::string &extent : reduced)
    result.push_back(call("reduce", {extent}));
  return result;
}

/// Makes |stage| an output in a new buffer of f32, a strip, which the task allocates: `[heads, queries, columns]`, with
/// all columns of the key panels. Returns the stage's name.
std::string AttentionTranslator::strip(StringRef stage) {
  Value result = op.getDestinations()[0];
  // The product must be an arith.muli. An affine.apply would be composed with the affine.apply that computes the number
  // of panels. But that number is all that memory planning (DimBounds) can bound, since it is the size of a slice of
  // all panels.
  Value panels = getValueOrCreateConstantIndexOp(builder, op.getLoc(), sizeOf(op.getKey(), 0));
  OpFoldResult size =
      builder.createOrFold<arith::MulIOp>(op.getLoc(), panels, arith::ConstantIndexOp::create(builder, op.getLoc(), width).getResult());
  strips.push_back(tensor::EmptyOp::create(builder, op.getLoc(), {sizeOf(result, 1), sizeOf(result, 0), size}, builder.getF32Type()));
  stripStages.push_back(stage.str());
  return stage.str();
}

/// Adds a stage with the dot products of query d1 and key d2 for all columns of the panels, also columns without a key.
/// Returns the stage's name.
std::string AttentionTranslator::addProducts() {
  std::string query = load(text.addInput(op.getQuery()), {"d1", "d0", "d3"});
  std::string key = load(text.addInput(op.getKey()), {call("div", {"d2", number(width)}), "d3", call("mod", {"d2", number(width)})});
  std::string product = call("mul", {query, key});
  // Returns component d3 of the table's vector for the distance between the query and key d2. The middle column is for
  // distance 0.
  auto relative = [&](Value table) {
    int64_t size = cast<ShapedType>(table.getType()).getDimSize(2);
    std::string column = call("add", {call("sub", {"d2", position}), number(size / 2)});
    return load(text.addInput(table), {broadcast(table, 0, "d0"), "d3", within(column, number(size))});
  };
  if (Value table = op.getRelativeKey())
    product = call("mul", {query, call("add", {key, relative(table)})});
  if (Value table = op.getRelativeQuery())
    product = call("add", {product, call("mul", {key, relative(table)})});
  int64_t depth = cast<ShapedType>(op.getQuery().getType()).getDimSize(2);
  return text.addStage(loops({columns}, {number(depth)}), call("add", {"acc", product}), "0.0");
}

std::string AttentionTranslator::maskValue() {
  Value mask = op.getMask();
  int64_t rank = cast<ShapedType>(mask.getType()).getRank();
  SmallVector<std::string> at{within("d2", keys)};
  if (rank > 1)
    at.insert(at.begin(), broadcast(mask, rank - 2, "d1"));
  if (rank > 2)
    at.insert(at.begin(), broadcast(mask, 0, "d0"));
  // `finite` replaces minus infinity, since compiled expressions may assume that there are no infinities.
  return call("finite", {load(text.addInput(mask), at)});
}

/// Returns the condition that a causal mask or a right window hides key d2 from query d1; "" if the operation has
/// neither.
std::string AttentionTranslator::isLater() {
  if (!op.getCausal() && !op.getWindowRight())
    return "";
  int64_t ahead = op.getCausal() ? 0 : static_cast<int64_t>(*op.getWindowRight());
  return call("gt", {"d2", call("add", {position, number(ahead)})});
}

std::string AttentionTranslator::isHiddenByPosition() {
  std::string hidden = isLater();
  auto add = [&](const std::string &condition) { hidden = hidden.empty() ? condition : call("or", {hidden, condition}); };
  if (op.getWindowLeft())
    add(call("lt", {"d2", call("sub", {position, number(static_cast<int64_t>(*op.getWindowLeft()))})}));
  return hidden;
}

/// Returns the condition that key d2 exists and that neither a causal mask nor a window hides it from query d1.
std::string AttentionTranslator::isVisible() {
  std::string exists = call("lt", {"d2", keys}), hidden = isHiddenByPosition();
  return hidden.empty() ? exists : call("and", {exists, call("not", {hidden})});
}

/// Returns the input of the softmax for query d1 and key d2. |product| is their dot product after scale and softcap.
std::string AttentionTranslator::score(const std::string &product) {
  std::string result = product;
  if (Value table = op.getDistanceBias()) {
    std::string count = text.addSize(sizeOf(table, 1));
    std::string at = within(call("add", {call("sub", {"d2", position}), call("div", {count, "2"})}), count);
    result = call("add", {result, load(text.addInput(table), {broadcast(table, 0, "d0"), at})});
  }
  if (op.getMask() && op.getMaskFill())
    result = call("select", {call("lt", {maskValue(), "0.0"}), floatTerm(op.getMaskFill()->convertToDouble()), result});
  else if (op.getMask())
    result = call("finite", {call("add", {result, maskValue()})});
  return call("select", {isVisible(), result, floatTerm(kLowest)});
}

/// Returns the unnormalized probability of key d2 for query d1. It is 0 for a hidden key and exp(score - largest score)
/// for a visible one. If no key is visible to the query, it is 1 for the keys that `masked_rows` selects and 0 for
/// others. |scores| and |largest| are the stages of the scores and of the largest score of each query.
std::string AttentionTranslator::weight(const std::string &scores, const std::string &largest) {
  std::string x = load(scores, {"d0", "d1", "d2"}), most = load(largest, {"d0", "d1"});
  std::string seen = call("select", {isVisible(), call("exp", {call("sub", {x, most})}), "0.0"});
  std::string seesNone = call("le", {most, floatTerm(kHidden)}), exists = call("lt", {"d2", keys});
  if (op.getMaskedRows() == MaskedRows::Zero)
    return call("select", {seesNone, "0.0", seen});
  if (!op.hidesByPosition())
    return seen;
  std::string named = exists;
  if (op.getMaskedRows() != MaskedRows::Uniform) {
    std::string byMask = op.getMask() && !op.getMaskFill() ? call("le", {maskValue(), floatTerm(kHidden)}) : "false";
    named = call("and", {exists, call("xor", {byMask, isHiddenByPosition()})});
    if (std::string later = isLater(); op.getMaskedRows() == MaskedRows::LeastMaskedPast && !later.empty())
      named = call("and", {named, call("not", {later})});
    std::string some = text.addStage(loops({}, {columns}), call("max", {"acc", call("select", {named, "1.0", "0.0"})}), "0.0");
    // The reduction above has the loops d0 and d1 and, over the keys, d2, as the stage of the probabilities has. So
    // |named|, which uses d2 as the number of the key, means the same in both.
    named = call("and", {exists, call("or", {named, call("eq", {load(some, {"d0", "d1"}), "0.0"})})});
  }
  return call("select", {seesNone, call("select", {named, "1.0", "0.0"}), seen});
}

void AttentionTranslator::run() {
  Value result = op.getDestinations()[0], probabilities = op.getProbabilities();
  width = cast<ShapedType>(op.getKey().getType()).getDimSize(2);
  int64_t valueDim = cast<ShapedType>(op.getValue().getType()).getDimSize(1);
  heads = text.addSize(sizeOf(result, 1));
  queries = text.addSize(sizeOf(result, 0));
  keys = text.addSize(sizeOf(op.getValue(), 0));
  columns = call("mul", {text.addSize(sizeOf(op.getKey(), 0)), number(width)});
  if (op.getPosition())
    position = call("add", {text.addValue(op.getPosition()), "d1"});

  std::string products = addProducts(), captured;
  std::string scaled = call("mul", {load(products, {"d0", "d1", "d2"}), floatTerm(op.getScale().convertToDouble())});
  bool capturesEarly = probabilities && (op.getScoreStage() == ScoreStage::Product || op.getScoreStage() == ScoreStage::Capped);
  auto keep = [&](const std::string &value) { return load(strip(text.addStage(loops({columns}), value)), {"d0", "d1", "d2"}); };
  if (capturesEarly && op.getScoreStage() == ScoreStage::Product)
    captured = scaled = keep(scaled);
  if (op.getSoftcap()) {
    std::string cap = floatTerm(op.getSoftcap()->convertToDouble());
    scaled = call("mul", {call("tanh", {call("div", {scaled, cap})}), cap});
  }
  if (capturesEarly && op.getScoreStage() == ScoreStage::Capped)
    captured = scaled = keep(scaled);
  std::string scores = strip(text.addStage(loops({columns}), score(scaled)));
  std::string largest = text.addStage(loops({}, {columns}), call("max", {"acc", load(scores, {"d0", "d1", "d2"})}), floatTerm(kLowest));
  std::string weights = strip(text.addStage(loops({columns}), weight(scores, largest)));
  std::string sum = text.addStage(loops({}, {columns}), call("add", {"acc", load(weights, {"d0", "d1", "d2"})}), "0.0");
  std::string value = load(text.addInput(op.getValue()), {"d3", "d2"});
  std::string mixed = text.addStage(loops({number(valueDim)}, {keys}),
                                    call("add", {"acc", call("mul", {load(weights, {"d0", "d1", "d3"}), value})}), "0.0");
  std::string total = load(sum, {"d0", "d1"});
  std::string factor = call("select", {call("eq", {total, "0.0"}), "0.0", call("div", {"1.0", total})});
  if (op.getHeadScale())
    factor = call("mul", {factor, load(text.addInput(op.getHeadScale()), {"d0"})});
  // The result is [query, head, component].
  text.addOutput(text.addStage(loops({number(valueDim)}), call("mul", {load(mixed, {"d0", "d1", "d2"}), factor})), result, {1, 0, 2});
  if (probabilities) {
    std::string x = load(scores, {"d0", "d1", "d2"});
    std::string stored = capturesEarly ? captured
                         : op.getScoreStage() == ScoreStage::Masked
                             ? call("select", {call("le", {x, floatTerm(kHidden)}), floatTerm(kLowest), x})
                             : call("mul", {load(weights, {"d0", "d1", "d2"}), factor});
    text.addOutput(text.addStage(loops({keys}), stored), probabilities);
  }
  for (auto [stage, strip] : llvm::zip_equal(stripStages, strips))
    text.addOutput(stage, strip);
  auto tile = text.createOp(op.getLoc());
  for (auto [from, to] : llvm::zip(op.getResults(), tile.getResults()))
    from.replaceAllUsesWith(to);
  op.erase();
}

LogicalResult attune::translateAttention(tiles::AttentionTileOp op, StringRef name, std::string &why) {
  if (!cast<ShapedType>(op.getQuery().getType()).getElementType().isF32())
    return why = "elements that are not f32", failure();
  if (op.hasKeyRows())
    return why = "keys in rows", failure();
  if (Type element = cast<ShapedType>(op.getKey().getType()).getElementType(); !element.isF32())
    return why = "caches of " + llvm::to_string(element), failure();
  if (op.getSinks())
    return why = "attention sinks", failure();
  for (int64_t dim : {0, 1}) {
    OpBuilder builder(op);
    auto size = dyn_cast<Value>(sizesOf(builder, op.getDestinations()[0])[dim]);
    if (size && !mostOf(size))
      return why = "rows of a tile without a bound", failure();
  }
  AttentionTranslator(op, name).run();
  return success();
}
