//===- Schedule.cpp - Rules that schedule kernels -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel computes one iteration of a parallel loop. Its data fit into the L2 cache, so stages are computed one after
// the other. Only two things are nested: register tiles in their host, and all stages in a loop over rows if no row
// depends on another. The plan (Plan.h) decides where stages are computed; these rules decide how:
//
//   register tiles       accumulators in registers, unrolled; weight panels are prefetched
//   other reductions     in vector lanes that are joined at the end
//   elementwise stages   in vectors along the innermost loop
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Schedule.h"
#include "compiler/Target/Halide/Gen/Extent.h"

#include <algorithm>
#include <functional>

using namespace attune;
using Halide::Expr;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

namespace {

class Scheduler {
public:
  Scheduler(Algorithm &algorithm, const Plan &plan, const ScheduleOptions &options) : algorithm(algorithm), plan(plan), options(options) {}
  std::vector<PanelRead> run();

private:
  void scheduleTiles(StageFunc &host, size_t index);
  void scheduleSum(StageFunc &host, RowTiles &tiles);
  void findPanel(const RowTiles &tiles, const StageFunc &host);
  void scheduleReduction(StageFunc &stage);
  void scheduleElements(StageFunc &stage);

  Algorithm &algorithm;
  const Plan &plan;
  ScheduleOptions options;
  std::vector<PanelRead> panels;
};

} // namespace

/// Schedules all of |stage| to be computed before the next stage. Sets the bounds of its loops, since Halide cannot
/// infer them from tiles.
static void computeWhole(StageFunc &stage) {
  stage.func.compute_root();
  for (size_t dim = 0; dim < stage.vars.size(); ++dim)
    stage.func.bound(stage.vars[dim], 0, stage.extents[dim]);
}

std::vector<PanelRead> Scheduler::run() {
  const Stage *rowHost = plan.rowHost();
  for (StageFunc &stage : algorithm.stages) {
    if (plan.placeOf(*stage.stage) != Place::Whole)
      continue;
    if (rowHost && !stage.isOutput && !stage.stage->isReduction() && !fitsOnStack(stage, 1))
      continue; // inlined: computed again wherever it is used
    if (rowHost && !stage.isOutput)
      stage.func.compute_at(algorithm.at(rowHost->name).func, algorithm.at(rowHost->name).vars.back());
    else if (!stage.isOutput)
      computeWhole(stage);
    keepOnStack(stage, rowHost ? 1 : 0);
    for (size_t i = 0; i < stage.tiles.size(); ++i)
      scheduleTiles(stage, i);
    if (stage.stage->isReduction())
      scheduleReduction(stage);
    else if (stage.tiles.empty())
      scheduleElements(stage);
  }
  return panels;
}

/// Returns true if the operands of |contraction| that its columns index are packed panels whose rows are a multiple of
/// |count| columns apart. Then a tile may read |count| columns of a panel, including padding.
static bool arePadded(const Algorithm &algorithm, const StageFunc &contraction, int count) {
  std::string column = "d" + std::to_string(contraction.stage->parallelLoops() - 1);
  bool known = false;
  std::function<bool(const Term &)> visit = [&](const Term &term) {
    if (term.word == "load") {
      for (size_t i = 1; i + 1 < term.operands.size(); ++i)
        if (term.operands[i].word == column || term.operands[i].isList)
          return false;
      if (term.operands.size() < 2 || term.operands.back().word != column)
        return true;
      for (const Buffer &buffer : algorithm.description.inputs)
        if (buffer.name == term.operands[0].word) {
          size_t rank = buffer.strides.size();
          known = true;
          return rank >= 2 && buffer.strides[rank - 2] && *buffer.strides[rank - 2] % count == 0 && rank >= 3;
        }
      return false;
    }
    return std::all_of(term.operands.begin(), term.operands.end(), visit);
  };
  return visit(contraction.stage->body) && known;
}

/// Adds to |panels| the weight panels that the contraction of |tiles| reads: f32 inputs that it reads as (load w 0 k
/// column) and whose panels are a known number of elements apart.
void Scheduler::findPanel(const RowTiles &tiles, const StageFunc &host) {
  const StageFunc &sum = tiles.sum;
  std::string loop = tiles.rows == options.tileRows ? host.stage->name + "_tiles" + std::to_string(tiles.rows) + "$" : "";
  std::string column = "d" + std::to_string(sum.stage->parallelLoops() - 1);
  std::function<void(const Term &)> visit = [&](const Term &term) {
    if (term.word == "load" && term.operands.size() == 4 && term.operands[1].word == "0" && term.operands[3].word == column)
      for (const Buffer &buffer : algorithm.description.inputs)
        if (buffer.name == term.operands[0].word && buffer.type == "f32" && buffer.strides[0])
          panels.push_back({nameFor(buffer.name), *buffer.strides[0] * 4, sum.func.name(), sum.stage->name + "_r", loop});
    std::for_each(term.operands.begin(), term.operands.end(), visit);
  };
  visit(sum.stage->body);
}

void Scheduler::scheduleTiles(StageFunc &host, size_t index) {
  RowTiles &tiles = host.tiles[index];
  Halide::Stage update = host.func.update(static_cast<int>(index));
  int lanes = std::min(options.lanes, tiles.columns);
  std::vector<Halide::VarOrRVar> order;
  if (tiles.column) {
    order = {*tiles.column, tiles.row, tiles.tile, *tiles.columnTile};
    update.allow_race_conditions(); // two tiles write the columns in which they overlap, with the same values
  } else {
    Var xo("xo"), xi("xi");
    update.split(host.vars[0], xo, xi, tiles.columns,
                 isMultiple(host.extents[0], tiles.columns) ? TailStrategy::RoundUp : TailStrategy::GuardWithIf);
    order = {xi, tiles.row, tiles.tile, xo};
  }
  order.insert(order.end(), host.vars.begin() + 2, host.vars.end());
  // Accumulators are registers only if all accesses have constant indices, so columns and rows are unrolled unless the
  // sums are copied to memory.
  update.reorder(order).vectorize(order[0], lanes, TailStrategy::GuardWithIf);
  if (!tiles.kept.defined())
    update.unroll(order[0]).unroll(tiles.row);
  scheduleSum(host, tiles);
}

/// Schedules |tiles|.sum, which is computed for each tile of |host|, the stage that reads it.
void Scheduler::scheduleSum(StageFunc &host, RowTiles &tiles) {
  StageFunc &sum = tiles.sum;
  findPanel(tiles, host);
  int lanes = std::min(options.lanes, tiles.columns);
  bool whole = isMultiple(host.extents[0], tiles.columns) || constantOf(host.extents[0]);
  std::optional<int64_t> most = mostOf(host.extents[0]);
  bool padded = whole || (most && *most <= tiles.columns && arePadded(algorithm, sum, tiles.columns));
  Var column = sum.vars[0], row = sum.vars[1];
  sum.func.compute_at(host.func, tiles.tile).store_in(Halide::MemoryType::Stack);
  if (padded)
    sum.func.bound_extent(column, tiles.columns);
  if (tiles.kept.defined()) {
    tiles.kept.compute_at(host.func, tiles.tile).store_in(Halide::MemoryType::Stack);
    tiles.kept.vectorize(column, lanes, padded ? TailStrategy::RoundUp : TailStrategy::GuardWithIf).unroll(row);
    if (padded)
      tiles.kept.bound_extent(column, tiles.columns).unroll(column);
  }
  sum.func.vectorize(column, lanes, padded ? TailStrategy::RoundUp : TailStrategy::GuardWithIf).unroll(row);
  std::vector<Halide::VarOrRVar> order = {column, row};
  for (int i = 0; i < sum.reduction.dimensions(); ++i)
    order.emplace_back(sum.reduction[i]);
  order.insert(order.end(), sum.vars.begin() + 2, sum.vars.end());
  Halide::Stage update = sum.func.update();
  update.reorder(order).vectorize(column, lanes, padded ? TailStrategy::Auto : TailStrategy::GuardWithIf).unroll(row);
  if (padded) {
    sum.func.unroll(column);
    update.unroll(column);
  }
  std::optional<int64_t> depth = constantOf(sum.reduction[0].extent());
  if (sum.reduction.dimensions() == 1 && depth && *depth % 2 == 0)
    update.unroll(sum.reduction[0], 2);
}

/// Returns true if the body of |stage| is a sum, minimum or maximum of the accumulator and another term, so that each
/// vector lane may have an accumulator of its own.
static bool isAssociative(const Stage &stage) {
  const Term &body = stage.body;
  auto isAccumulator = [](const Term &term) { return term.word == "acc"; };
  if (body.word == "fma")
    return isAccumulator(body.operands[2]);
  if (body.word != "add" && body.word != "max" && body.word != "min")
    return false;
  return isAccumulator(body.operands[0]) || isAccumulator(body.operands[1]);
}

void Scheduler::scheduleReduction(StageFunc &stage) {
  if (stage.reduction.dimensions() != 1 || !isAssociative(*stage.stage) || stage.func.value().type() != Halide::Float(32))
    return;
  Expr extent = stage.reduction[0].extent();
  std::optional<int64_t> length = constantOf(extent);
  if (length && *length < options.lanes)
    return;
  int lanes = isMultiple(extent, 4 * options.lanes) ? 4 * options.lanes : options.lanes;
  RVar outer("ro"), inner("ri");
  Var lane("lane");
  stage.func.update().split(stage.reduction[0], outer, inner, lanes, TailStrategy::GuardWithIf);
  Halide::Func parts = stage.func.update().rfactor(inner, lane);
  if (stage.vars.empty())
    parts.compute_root();
  else
    parts.compute_at(stage.func, stage.vars[0]);
  parts.store_in(Halide::MemoryType::Stack).vectorize(lane, options.lanes);
  parts.update().reorder(lane, outer).vectorize(lane, options.lanes);
  if (lanes > options.lanes) {
    parts.unroll(lane);
    parts.update().unroll(lane);
  }
  stage.func.update().atomic().vectorize(inner);
}

void Scheduler::scheduleElements(StageFunc &stage) {
  if (stage.vars.empty())
    return;
  std::optional<int64_t> length = constantOf(stage.extents[0]);
  if ((length && *length < options.lanes) || stage.func.value().type() != Halide::Float(32))
    return;
  bool shifts = length && *length % options.lanes != 0 && stage.isOutput;
  TailStrategy tail = shifts ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
  if (stage.stage->readsDestination())
    stage.func.update().vectorize(stage.vars[0], options.lanes, TailStrategy::GuardWithIf);
  else
    stage.func.vectorize(stage.vars[0], options.lanes, tail);
}

std::vector<PanelRead> attune::scheduleByRules(Algorithm &algorithm, const Plan &plan, const ScheduleOptions &options) {
  return Scheduler(algorithm, plan, options).run();
}
