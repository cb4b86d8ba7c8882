//===- WeightExpressions.h - Expressions over weights -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_WEIGHTEXPRESSIONS_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_WEIGHTEXPRESSIONS_H

#include "compiler/Plain/Reference/Tokens.h"

namespace attune::reference {

template <typename T>
void compute(Context<T> &c, xfmr::WeightConcatOp op) {
  PlainBuffer out = c.out(mlir::cast<mlir::ShapedType>(op.getType()).getShape());
  int64_t axis = int64_t(op.getAxis()), begin = 0;
  for (mlir::Value weight : op.getWeights()) {
    PlainBuffer part = c.in(weight);
    for (int64_t i = 0, end = part.elements(); i < end; ++i) {
      auto from = part.indicesOf(i), to = from;
      to[axis] += begin;
      copyElement(part, from, out, to);
    }
    begin += part.size(axis);
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightPackOp op) {
  PlainBuffer weight = c.in(op.getWeight()), out = c.out(mlir::cast<mlir::ShapedType>(op.getType()).getShape());
  int64_t width = int64_t(op.getWidth()), group = int64_t(op.getGroup()), stacked = weight.rank() - 2;
  for (int64_t i = 0, end = weight.elements(); i < end; ++i) {
    auto from = weight.indicesOf(i);
    int64_t n = from[stacked], k = from[stacked + 1];
    llvm::SmallVector<int64_t, 5> to(from.begin(), from.begin() + stacked);
    to.push_back(n / width);
    to.push_back(k / group);
    to.push_back(n % width);
    if (group > 1)
      to.push_back(k % group);
    copyElement(weight, from, out, to);
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightSelectOp op) {
  PlainBuffer stack = c.in(op.getStack()), out = c.out(mlir::cast<mlir::ShapedType>(op.getType()).getShape());
  for (int64_t i = 0, end = out.elements(); i < end; ++i) {
    auto to = out.indicesOf(i), from = to;
    from.insert(from.begin(), c.number(op.getIndex()));
    copyElement(stack, from, out, to);
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightSliceOp op) {
  PlainBuffer weight = c.in(op.getWeight()), out = c.out(mlir::cast<mlir::ShapedType>(op.getType()).getShape());
  for (int64_t i = 0, end = out.elements(); i < end; ++i) {
    auto to = out.indicesOf(i), from = to;
    from.back() += int64_t(op.getBegin());
    copyElement(weight, from, out, to);
  }
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightTransposeOp op) {
  PlainBuffer weight = c.in(op.getWeight()), out = c.out(mlir::cast<mlir::ShapedType>(op.getType()).getShape());
  for (int64_t i = 0; i < out.size(0); ++i)
    for (int64_t j = 0; j < out.size(1); ++j)
      copyElement(weight, {j, i}, out, {i, j});
}

template <typename T>
void compute(Context<T> &c, xfmr::WeightDistancePanelsOp op) {
  PlainBuffer table = c.in(op.getTable()), out = c.out(mlir::cast<mlir::ShapedType>(op.getType()).getShape());
  int64_t rows = table.size(0), dim = out.size(1);
  for (int64_t i = 0, end = out.elements(); i < end; ++i) {
    auto to = out.indicesOf(i);
    int64_t row = std::min(std::max<int64_t>(rows - 1 - (to[2] - xfmr::kDistancePadding), 0), rows - 1);
    copyElement(table, {row, to[0] * dim + to[1]}, out, to);
  }
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_WEIGHTEXPRESSIONS_H
