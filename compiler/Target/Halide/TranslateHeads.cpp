//===- TranslateHeads.cpp - Rotary embeddings and key panels as stages ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects tile.rotary_tile, and loops over key panels with one tile.key_panel in the body, as attune-tile-head-ops and
// attune-tile-attention create them. Each operation or loop becomes one stage, whose value is selected from several
// elements of its inputs. Halide reads all of these elements, also those that are not selected, so indices that may be
// out of bounds are clamped.
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/TranslateKernel.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace attune;

static std::string number(int64_t value) { return std::to_string(value); }

/// Adds a stage with the loops d0 over tokens, d1 over heads and d2 over components.
std::string attune::translateRotary(tiles::RotaryTileOp op, KernelText &text, std::string &why) {
  OpBuilder builder(op);
  std::string input = text.addInput(op.getInput()), positions = text.addInput(op.getPositions()), table = text.addInput(op.getTable());
  if (input.empty() || positions.empty() || table.empty())
    return why = "elements of type " + llvm::to_string(getElementTypeOrSelf(op.getInput())), "";
  int64_t turned = cast<ShapedType>(op.getTable().getType()).getDimSize(1), half = turned / 2;
  int64_t size = cast<ShapedType>(op.getInput().getType()).getDimSize(2);
  // Component d2 belongs to a pair (a, b) of components. |angle| is the index of the pair's angle, |isFirst| the
  // condition that d2 is a, and |other| the index of the pair's other component.
  std::string angle = term("mod", {"d2", number(half)}), isFirst = term("lt", {"d2", number(half)});
  std::string other = term("select", {isFirst, term("add", {"d2", number(half)}), term("sub", {"d2", number(half)})});
  if (op.getInterleaved()) {
    angle = term("div", {"d2", "2"});
    isFirst = term("eq", {term("mod", {"d2", "2"}), "0"});
    other = term("select", {isFirst, term("add", {"d2", "1"}), term("sub", {"d2", "1"})});
  }
  if (turned < size) { // the components from |turned| on stay unchanged
    angle = term("min", {angle, number(half - 1)});
    other = term("max", {term("min", {other, number(size - 1)}), "0"});
  }
  std::string position = term("int", {term("load", {positions, "d0"})}), x = term("load", {input, "d0", "d1", "d2"});
  std::string cosine = term("load", {table, position, angle}), sine = term("load", {table, position, term("add", {angle, number(half)})});
  std::string y = term(
      "fma", {term("load", {input, "d0", "d1", other}), term("select", {isFirst, term("neg", {sine}), sine}), term("mul", {x, cosine})});
  if (turned < size)
    y = term("select", {term("lt", {"d2", number(turned)}), y, x});
  SmallVector<std::string> loops;
  for (OpFoldResult extent : sizesOf(builder, op.getDestinations()[0]))
    loops.push_back(term("parallel", {text.addSize(extent)}));
  return text.addStage(loops, y);
}

namespace {

/// A loop that writes keys into panels.
struct PanelLoop {
  explicit PanelLoop(scf::ForOp loop);
  /// Returns the reason why the loop is not supported; empty if it is.
  std::string problem();

  scf::ForOp loop;
  tiles::KeyPanelOp panel;
  /// The slice with the keys that |panel| reads, a row for each key; null if the keys are no slice.
  tensor::ExtractSliceOp rows;
  /// True if the body has a second tile.key_panel, another operation of the tile dialect, a linalg operation, or an
  /// operation with a region.
  bool hasOthers = false;
};

} // namespace

PanelLoop::PanelLoop(scf::ForOp loop) : loop(loop) {
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto found = dyn_cast<tiles::KeyPanelOp>(op);
    hasOthers |= found ? bool(panel) : op.getNumRegions() != 0 || isa<tiles::TileDialect, linalg::LinalgDialect>(op.getDialect());
    panel = found ? found : panel;
  }
  if (panel)
    rows = panel.getKeys().getDefiningOp<tensor::ExtractSliceOp>();
}

/// Returns true if a slice at |offsets| of a tensor `[panels, components, columns]` begins where panel |panel| does.
static bool isPanel(ArrayRef<OpFoldResult> offsets, Value panel) {
  return offsets.size() == 3 && offsets[0] == OpFoldResult(panel) && isConstantIntValue(offsets[1], 0) && isConstantIntValue(offsets[2], 0);
}

std::string PanelLoop::problem() {
  if (!panel || hasOthers || loop.getNumResults() != 1)
    return "it contains 'scf.for'";
  if (Type element = cast<ShapedType>(panel.getDestinations()[0].getType()).getElementType(); !element.isF32())
    return "caches of " + llvm::to_string(element);
  auto target = panel.getDestinations()[0].getDefiningOp<tensor::ExtractSliceOp>();
  auto insert = loop.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::InsertSliceOp>();
  bool isInOrder = isConstantIntValue(OpFoldResult(loop.getLowerBound()), 0) && isConstantIntValue(OpFoldResult(loop.getStep()), 1);
  if (!isInOrder || !rows || !target || !insert || !isPanel(target.getMixedOffsets(), loop.getInductionVar()) ||
      !isPanel(insert.getMixedOffsets(), loop.getInductionVar()) || target.getSource() != loop.getRegionIterArg(0) ||
      insert.getDest() != loop.getRegionIterArg(0) || insert.getSource() != panel.getResult(0))
    return "its panels are not one after the other";
  return "";
}

/// Adds a stage with the loops d0 over panels, d1 over components and d2 over columns.
std::string attune::translateKeyPanels(scf::ForOp loop, KernelText &text, std::string &why) {
  PanelLoop parts(loop);
  if (why = parts.problem(); !why.empty())
    return "";
  tensor::ExtractSliceOp rows = parts.rows;
  std::string source = text.addInput(rows.getSource());
  if (source.empty())
    return why = "elements of type " + llvm::to_string(rows.getSourceType().getElementType()), "";
  ScalarTranslator scalars(text, [&](Value value) -> std::string {
    if (value == loop.getInductionVar())
      return "d0";
    return loop.isDefinedOutsideOfLoop(value) && !getConstantIntValue(OpFoldResult(value)) ? text.addValue(value) : "";
  });
  auto index = [&](OpFoldResult value) {
    std::optional<int64_t> constant = getConstantIntValue(value);
    return constant ? number(*constant) : scalars.translate(cast<Value>(value));
  };
  Value columnValue = parts.panel.getColumn();
  std::string column = columnValue ? index(columnValue) : "0";
  std::string row = columnValue ? term("sub", {"d2", column}) : "d2", count;
  // The slice keeps two dimensions of its source: first the rows (keys), then the components.
  OpBuilder builder(loop);
  llvm::SmallBitVector dropped = rows.getDroppedDims();
  SmallVector<std::string> at{source};
  SmallVector<OpFoldResult> sizes = sizesOf(builder, rows.getSource());
  for (auto [dim, offset] : llvm::enumerate(rows.getMixedOffsets())) {
    at.push_back(index(offset));
    if (dropped[dim])
      continue;
    bool isRows = count.empty();
    if (isRows)
      count = index(rows.getMixedSizes()[dim]);
    std::string inside = isRows ? row : "d1";
    at.back() = at.back() == "0" ? inside : term("add", {at.back(), inside});
    if (isRows)
      at.back() = term("max", {term("min", {at.back(), term("sub", {text.addSize(sizes[dim]), "1"})}), "0"});
  }
  if (column.empty() || count.empty() || llvm::is_contained(at, ""))
    return why = scalars.why, "";
  std::string isKey = term("lt", {row, count});
  if (columnValue) {
    isKey = term("and", {term("ge", {row, "0"}), isKey});
    text.readDestinations();
  }
  auto shape = cast<ShapedType>(loop.getResult(0).getType());
  SmallVector<std::string> loops{term("parallel", {text.addSize(loop.getUpperBound())}), term("parallel", {number(shape.getDimSize(1))}),
                                 term("parallel", {number(shape.getDimSize(2))})};
  return text.addStage(loops, term("select", {isKey, term("load", at), columnValue ? "acc" : "0.0"}));
}
