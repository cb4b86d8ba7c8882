//===- Schedule.cpp - Rules that schedule kernels -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel is one task of a parallel loop: what it touches fits into the second-level cache, so stages follow each other whole and only
// register tiles are nested. The rules:
//
//   contraction       at a register tile of the stage that uses it, accumulators in registers
//   other reduction   whole, in lanes that are joined at the end; a stage that a reduction or several stages use is computed before them
//   elementwise       part of the one elementwise stage that uses it, or vectors of the innermost loop
//
// No rule computes a reduction again for each element of its user, which would be correct and take for ever.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Schedule.h"

#include <algorithm>

using namespace attune;
using Halide::Expr;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// What becomes of a stage.
enum class Place { Whole, AtTile, Inline };

class Scheduler {
public:
  Scheduler(Algorithm &algorithm, const ScheduleOptions &options) : algorithm(algorithm), options(options) {}
  void run();

private:
  Place placeOf(StageFunc &stage);
  StageFunc *hostOf(StageFunc &stage);
  void scheduleTile(StageFunc &host, StageFunc &contraction);
  void scheduleReduction(StageFunc &stage);
  void scheduleElements(StageFunc &stage);
  std::vector<int> tileRowsFor(const Expr &rows);
  int tileColumnsFor(const Expr &columns);

  Algorithm &algorithm;
  ScheduleOptions options;
  std::map<const StageFunc *, Place> places;
};

} // namespace

/// The value of |extent| if it is a constant.
static std::optional<int64_t> constantOf(const Expr &extent) {
  Expr simple = Halide::Internal::simplify(extent);
  if (const int64_t *value = Halide::Internal::as_const_int(simple))
    return *value;
  return std::nullopt;
}

/// What |extent| is at most, if that is known.
static std::optional<int64_t> mostOf(const Expr &extent) {
  Expr bound = Halide::Internal::find_constant_bound(extent, Halide::Internal::Direction::Upper);
  if (bound.defined())
    if (std::optional<int64_t> value = constantOf(bound); value && *value < (1 << 30))
      return value;
  return std::nullopt;
}

/// Whether |extent| is known to be a multiple of |factor|.
static bool isMultiple(const Expr &extent, int factor) { return Halide::Internal::can_prove(extent % factor == 0); }

/// Keeps what is not an output on the stack; a caller gives the rest.
static void store(StageFunc &stage) {
  if (stage.isOutput)
    return;
  for (const Expr &extent : stage.extents)
    if (!mostOf(extent))
      throw DescriptionError("stage '" + stage.stage->name + "' may be of any size: expected bounds of its loops, or an output");
  stage.func.store_in(Halide::MemoryType::Stack);
}

static std::vector<StageFunc *> usersOf(Algorithm &algorithm, const StageFunc &stage) {
  std::vector<StageFunc *> users;
  for (StageFunc &user : algorithm.stages)
    if (std::count(user.reads.begin(), user.reads.end(), stage.stage->name))
      users.push_back(&user);
  return users;
}

/// The stage whose tiles a contraction belongs to: its only user, or the only user of that if it is a part of it. Null if there is none.
StageFunc *Scheduler::hostOf(StageFunc &stage) {
  std::vector<StageFunc *> users = usersOf(algorithm, stage);
  if (users.size() != 1 || users[0]->stage->isReduction() || users[0]->vars.size() != stage.vars.size())
    return nullptr;
  return places[users[0]] == Place::Inline ? hostOf(*users[0]) : users[0];
}

Place Scheduler::placeOf(StageFunc &stage) {
  if (stage.isOutput)
    return Place::Whole;
  if (stage.stage->isReduction())
    return isContraction(*stage.stage) && hostOf(stage) ? Place::AtTile : Place::Whole;
  std::vector<StageFunc *> users = usersOf(algorithm, stage);
  return users.size() == 1 && !users[0]->stage->isReduction() ? Place::Inline : Place::Whole;
}

void Scheduler::run() {
  // Users before what they use.
  for (size_t i = algorithm.stages.size(); i-- > 0;)
    places[&algorithm.stages[i]] = placeOf(algorithm.stages[i]);
  std::map<StageFunc *, StageFunc *> contractionOf;
  for (StageFunc &stage : algorithm.stages)
    if (places[&stage] == Place::AtTile) {
      if (StageFunc *&contraction = contractionOf[hostOf(stage)]; !contraction)
        contraction = &stage;
      else
        places[&stage] = Place::Whole; // one set of accumulators fills the registers
    }
  for (StageFunc &stage : algorithm.stages) {
    if (places[&stage] != Place::Whole)
      continue;
    if (!stage.isOutput)
      stage.func.compute_root();
    store(stage);
    if (StageFunc *contraction = contractionOf[&stage])
      scheduleTile(stage, *contraction);
    else if (stage.stage->isReduction())
      scheduleReduction(stage);
    else
      scheduleElements(stage);
  }
}

/// Numbers of rows of register tiles, most first, down to 1.
std::vector<int> Scheduler::tileRowsFor(const Expr &rows) {
  std::vector<int> result;
  std::optional<int64_t> most = mostOf(rows);
  for (int count : {options.tileRows, 4, 1})
    if (count <= options.tileRows && (result.empty() || count < result.back()) && (!most || count <= std::max<int64_t>(1, *most)))
      result.push_back(count);
  return result;
}

/// Columns of a register tile: as many as registers hold, in whole tiles if there are only whole vectors, and no more than there are.
int Scheduler::tileColumnsFor(const Expr &columns) {
  for (int count = options.tileColumns; count > options.lanes; count -= options.lanes)
    if (isMultiple(columns, count))
      return count;
  std::optional<int64_t> length = constantOf(columns);
  if (isMultiple(columns, options.lanes))
    return options.lanes;
  if (!length || *length >= options.tileColumns)
    return options.tileColumns;
  return static_cast<int>(*length < options.lanes ? *length : *length / options.lanes * options.lanes);
}

/// Whether all columns up to |count| exist for |contraction|, maybe as padding: those of a weight panel of that width do.
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

void Scheduler::scheduleTile(StageFunc &host, StageFunc &contraction) {
  Var x = host.vars[0], y = host.vars[1], xo("xo"), xi("xi"), yo("yo"), yi("yi");
  int columns = tileColumnsFor(host.extents[0]);
  // If the number of columns is known, the last tile overlaps the one before: Halide 14 leaves out a guarded tile of less than one vector.
  bool whole = isMultiple(host.extents[0], columns) || constantOf(host.extents[0]);
  int lanes = std::min(options.lanes, columns);
  std::optional<int64_t> most = mostOf(host.extents[0]);
  bool single = most && *most <= columns;
  bool padded = whole || (single && arePadded(algorithm, contraction, columns));
  auto tile = [&](Halide::Stage stage, int rows) {
    std::vector<Halide::VarOrRVar> order = {xi, yi, yo, xo};
    order.insert(order.end(), host.vars.begin() + 2, host.vars.end());
    stage.split(x, xo, xi, columns, whole ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf)
        .split(y, yo, yi, rows, rows == 1 ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards)
        .reorder(order)
        .vectorize(xi, lanes, TailStrategy::GuardWithIf)
        .unroll(xi) // the accumulators are registers if every access is at a constant place
        .unroll(yi);
  };
  std::vector<int> counts = tileRowsFor(host.extents[1]);
  for (int rows : counts)
    if (rows > 1)
      tile(host.func.specialize(host.extents[1] >= rows), rows);
  tile(Halide::Stage(host.func), 1);

  Halide::Func &sum = contraction.func;
  Var column = contraction.vars[0], row = contraction.vars[1];
  sum.compute_at(host.func, yo).store_in(Halide::MemoryType::Stack);
  if (padded)
    sum.bound_extent(column, columns);
  TailStrategy tail = padded ? TailStrategy::RoundUp : TailStrategy::GuardWithIf;
  sum.vectorize(column, lanes, tail).unroll(row);
  std::vector<Halide::VarOrRVar> order = {column, row};
  for (int i = 0; i < contraction.reduction.dimensions(); ++i)
    order.emplace_back(contraction.reduction[i]);
  order.insert(order.end(), contraction.vars.begin() + 2, contraction.vars.end());
  Halide::Stage update = sum.update();
  update.reorder(order).vectorize(column, lanes, padded ? TailStrategy::Auto : TailStrategy::GuardWithIf).unroll(row);
  if (padded) {
    sum.unroll(column);
    update.unroll(column);
  }
  std::optional<int64_t> depth = constantOf(contraction.reduction[0].extent());
  if (contraction.reduction.dimensions() == 1 && depth && *depth % 2 == 0)
    update.unroll(contraction.reduction[0], 2);
}

/// Whether the body joins the accumulator with something by an operation that lanes may take apart.
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
  stage.func.vectorize(stage.vars[0], options.lanes, shifts ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf);
}

void attune::scheduleNone(Algorithm &algorithm) {
  for (StageFunc &stage : algorithm.stages) {
    if (stage.isOutput)
      continue;
    std::vector<StageFunc *> users = usersOf(algorithm, stage);
    bool isBounded = std::all_of(stage.extents.begin(), stage.extents.end(), [](const Expr &extent) { return mostOf(extent).has_value(); });
    if (isBounded || users.size() != 1 || users[0]->stage->isReduction()) {
      stage.func.compute_root();
      store(stage);
    } else {
      stage.func.compute_at(users[0]->func, users[0]->vars[0]).store_in(Halide::MemoryType::Stack); // one element for one element
    }
  }
}

void attune::scheduleByRules(Algorithm &algorithm, const ScheduleOptions &options) { Scheduler(algorithm, options).run(); }
