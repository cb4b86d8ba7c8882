//===- Captures.cpp - The values that an outlined kernel uses -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Captures.h"
#include "compiler/Transforms/Destinations.h"

using namespace mlir;
using namespace attune;

/// Returns the key of |size|. The dimensions of a computed tensor are those of its destination, so they have the same
/// keys.
static SizeKey keyOf(Value size, const SymbolTable &symbols) {
  auto dim = size.getDefiningOp<tensor::DimOp>();
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  if (!index)
    return {size, -1};
  if (tensor::EmptyOp empty = destinationOf(dim.getSource(), symbols))
    if (*index >= 0 && *index < empty.getType().getRank() && empty.getType().isDynamicDim(*index))
      return keyOf(empty.getDynamicSize(*index), symbols);
  return {dim.getSource(), *index};
}

/// Returns true if |op| is the minimum of a limit and a number that is read from a tensor. The kernel gets such a
/// minimum as an argument: for a host that cannot read the tensor, the caller passes the limit (`attune-limit-rows`).
static bool limitsCount(Operation *op) {
  auto least = dyn_cast<arith::MinSIOp>(op);
  return least && llvm::any_of(least->getOperands(), [](Value operand) {
           auto cast = operand.getDefiningOp<arith::IndexCastOp>();
           return cast && cast.getIn().getDefiningOp<tensor::ExtractOp>();
         });
}

Captures::Captures(ValueRange outputs, const SymbolTable &symbols) : symbols(symbols) {
  for (auto [number, output] : llvm::enumerate(outputs))
    if (auto empty = output.getDefiningOp<tensor::EmptyOp>())
      for (auto [dim, size] : llvm::enumerate(empty.getMixedSizes()))
        if (auto value = dyn_cast<Value>(size))
          sizes.try_emplace(keyOf(value, symbols), number, dim);
}

void Captures::add(Value value) {
  Operation *op = value.getDefiningOp();
  if (sizes.contains(keyOf(value, symbols))) {
    read.insert(value);
  } else if (!op || !isRepeatable(op) || limitsCount(op)) {
    inputs.insert(value);
  } else if (!repeated.contains(op)) {
    for (Value operand : op->getOperands())
      add(operand);
    repeated.insert(op);
  }
}

void Captures::rebuild(OpBuilder &builder, Location loc, ValueRange arguments, IRMapping &mapping) {
  mapping.map(inputs.getArrayRef(), arguments.take_front(inputs.size()));
  llvm::SmallDenseMap<std::pair<unsigned, int64_t>, Value> dims;
  for (Value size : read) {
    auto [output, dim] = sizes.lookup(keyOf(size, symbols));
    Value &value = dims[{output, dim}];
    if (!value)
      value = tensor::DimOp::create(builder, loc, arguments[inputs.size() + output], dim);
    mapping.map(size, value);
  }
  for (Operation *op : repeated)
    builder.clone(*op, mapping);
}
