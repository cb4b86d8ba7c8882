//===- KernelText.cpp - Writing kernel descriptions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/KernelText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;

std::string attune::term(StringRef word, ArrayRef<std::string> operands) {
  std::string text = ("(" + word).str();
  for (const std::string &operand : operands)
    text += " " + operand;
  return text + ")";
}

std::string attune::floatTerm(double value) {
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // As printf writes "%.9g", but with a point in every locale.
  char digits[32];
  const std::string text(digits, std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::general, 9).ptr);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string attune::affineTerm(AffineExpr expr, llvm::function_ref<std::string(AffineExpr)> leaf) {
  if (std::string known = leaf(expr); !known.empty())
    return known;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return "";
  std::string left = affineTerm(binary.getLHS(), leaf), right = affineTerm(binary.getRHS(), leaf);
  if (left.empty() || right.empty())
    return "";
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return term("add", {left, right});
  case AffineExprKind::Mul:
    return term("mul", {left, right});
  case AffineExprKind::FloorDiv:
    return term("div", {left, right});
  case AffineExprKind::Mod:
    return term("mod", {left, right});
  default: // CeilDiv
    return term("div", {term("add", {left, term("sub", {right, "1"})}), right});
  }
}

static int64_t multiply(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) ? ShapedType::kDynamic : a * b;
}

SmallVector<int64_t> attune::stridesOf(Value view) {
  auto type = cast<RankedTensorType>(view.getType());
  SmallVector<int64_t> strides(type.getRank(), 1);
  if (auto slice = view.getDefiningOp<tensor::ExtractSliceOp>()) {
    SmallVector<int64_t> source = stridesOf(slice.getSource());
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    size_t kept = 0;
    for (auto [dim, step] : llvm::enumerate(slice.getStaticStrides()))
      if (!dropped[dim])
        strides[kept++] = multiply(source[dim], step);
    return strides;
  }
  if (auto expanded = view.getDefiningOp<tensor::ExpandShapeOp>()) {
    SmallVector<int64_t> source = stridesOf(expanded.getSrc());
    for (auto [dim, group] : llvm::enumerate(expanded.getReassociationIndices())) {
      int64_t stride = source[dim];
      for (int64_t inner : llvm::reverse(group)) {
        strides[inner] = stride;
        stride = multiply(stride, type.getDimSize(inner));
      }
    }
    return strides;
  }
  if (auto collapsed = view.getDefiningOp<tensor::CollapseShapeOp>()) {
    SmallVector<int64_t> source = stridesOf(collapsed.getSrc());
    for (auto [dim, group] : llvm::enumerate(collapsed.getReassociationIndices()))
      strides[dim] = source[group.back()];
    return strides;
  }
  for (int64_t dim = type.getRank() - 1; dim-- > 0;)
    strides[dim] = multiply(strides[dim + 1], type.getDimSize(dim + 1));
  return strides;
}

SmallVector<OpFoldResult> attune::sizesOf(OpBuilder &builder, Value tensor) {
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    SmallVector<OpFoldResult> sizes;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped[dim])
        sizes.push_back(size);
    return sizes;
  }
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes();
  if (auto op = tensor.getDefiningOp<linalg::LinalgOp>())
    return sizesOf(builder, op.getDpsInits()[cast<OpResult>(tensor).getResultNumber()]);
  return tensor::getMixedSizes(builder, tensor.getLoc(), tensor);
}

std::optional<int64_t> attune::mostOf(Value size) {
  if (std::optional<int64_t> constant = getConstantIntValue(OpFoldResult(size)))
    return constant;
  if (auto smaller = size.getDefiningOp<arith::MinSIOp>()) {
    std::optional<int64_t> left = mostOf(smaller.getLhs()), right = mostOf(smaller.getRhs());
    return left && right ? std::min(*left, *right) : left ? left : right;
  }
  if (auto choice = size.getDefiningOp<arith::SelectOp>()) {
    std::optional<int64_t> left = mostOf(choice.getTrueValue()), right = mostOf(choice.getFalseValue());
    return left && right ? std::optional<int64_t>(std::max(*left, *right)) : std::nullopt;
  }
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {size}, nullptr, /*closedUB=*/true);
  return succeeded(bound) ? std::optional<int64_t>(*bound) : std::nullopt;
}

std::string KernelText::addSize(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return std::to_string(*constant);
  Value value = cast<Value>(size);
  auto [it, isNew] = scalars.insert({value, ""});
  if (isNew) {
    it->second = "n" + std::to_string(scalars.size() - 1);
    SmallVector<std::string> parts{it->second};
    if (std::optional<int64_t> most = mostOf(value); most && *most <= std::numeric_limits<int32_t>::max())
      parts.push_back(std::to_string(*most));
    scalarText += " " + term("size", parts);
  }
  return it->second;
}

std::string KernelText::addValue(Value value) {
  auto [it, isNew] = scalars.insert({value, ""});
  if (isNew) {
    it->second = "n" + std::to_string(scalars.size() - 1);
    scalarText += " " + term("value", {it->second});
  }
  return it->second;
}

/// Returns the element type of |buffer| and |strides| as text, such as "f32 ? 1"; "?" is a dynamic stride.
static std::string layoutOf(Value buffer, ArrayRef<int64_t> strides) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << cast<RankedTensorType>(buffer.getType()).getElementType();
  for (int64_t stride : strides)
    stream << ' ' << (ShapedType::isDynamic(stride) ? "?" : std::to_string(stride));
  return text;
}

std::string KernelText::addInput(Value input) {
  auto type = dyn_cast<RankedTensorType>(input.getType());
  if (!type || !(type.getElementType().isF32() || type.getElementType().isInteger(64) || type.getElementType().isInteger(32) ||
                 type.getElementType().isInteger(1)))
    return "";
  SmallVector<int64_t> strides = stridesOf(input);
  if (!strides.empty() && strides.back() != 1)
    return "";
  auto [it, isNew] = inputs.insert({input, ""});
  if (isNew) {
    it->second = "a" + std::to_string(inputs.size() - 1);
    inputText += " " + term("input", {it->second, layoutOf(input, strides)});
  }
  return it->second;
}

std::string KernelText::addStage(ArrayRef<std::string> loops, StringRef body, StringRef init) {
  std::string stage = "s" + std::to_string(stages++);
  SmallVector<std::string> parts{stage};
  llvm::append_range(parts, loops);
  if (!init.empty())
    parts.push_back(term("init", {init.str()}));
  parts.push_back(body.str());
  stageText += " " + term("stage", parts);
  return stage;
}

void KernelText::addOutput(StringRef stage, Value destination, ArrayRef<int64_t> order) {
  SmallVector<int64_t> strides = stridesOf(destination);
  SmallVector<int64_t> ordered = order.empty() ? strides : applyPermutation(strides, order);
  outputText += " " + term("output", {"o" + std::to_string(destinations.size()), stage.str(), layoutOf(destination, ordered)});
  destinations.push_back(destination);
}

halide::TileOp KernelText::createOp(Location loc) {
  SmallVector<Value> scalarValues, inputValues;
  SmallVector<Attribute> strides;
  for (const auto &[value, unused] : scalars)
    scalarValues.push_back(value);
  for (const auto &[value, unused] : inputs)
    inputValues.push_back(value);
  for (ValueRange buffers : {ValueRange(inputValues), ValueRange(destinations)})
    for (Value buffer : buffers)
      strides.push_back(builder.getDenseI64ArrayAttr(stridesOf(buffer)));
  std::string text = "(kernel " + name + scalarText + inputText + stageText + outputText + ")";
  return halide::TileOp::create(builder, loc, ValueRange(destinations).getTypes(), name, scalarValues, inputValues, destinations, text,
                                builder.getArrayAttr(strides), readsDestinations);
}
