//===- Algorithm.cpp - Halide functions of the stages of a kernel ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Algorithm.h"
#include "compiler/Target/Halide/Gen/Extent.h"

#include <algorithm>
#include <cctype>

using namespace attune;
using Halide::Expr;

static Halide::Type typeOf(const std::string &name) {
  if (name == "f32")
    return Halide::Float(32);
  return name == "i64" ? Halide::Int(64) : name == "i32" ? Halide::Int(32) : Halide::UInt(8);
}

std::string attune::nameFor(const std::string &name) {
  bool isTaken = name.size() > 1 && std::all_of(name.begin() + 1, name.end(), [](unsigned char c) { return std::isdigit(c); });
  return isTaken ? name.substr(0, 1) + "_" + name.substr(1) : name;
}

/// Returns the function of |stage| with its variables and extents, but without a definition.
static StageFunc declare(const Stage &stage, const Scope &scope) {
  StageFunc result;
  result.stage = &stage;
  result.func = Halide::Func(nameFor(stage.name));
  Halide::Region ranges;
  for (size_t i = stage.loops.size(); i-- > 0;) { // innermost first
    Expr extent = ExpressionBuilder(scope, {}, Expr()).build(stage.loops[i].extent);
    if (stage.loops[i].isReduction) {
      ranges.emplace_back(0, extent);
    } else {
      result.vars.emplace_back("d" + std::to_string(i));
      result.extents.push_back(extent);
    }
  }
  if (stage.isReduction())
    result.reduction = Halide::RDom(ranges, stage.name + "_r");
  return result;
}

/// Returns the variables of the loops of |result|, parallel and reduction, outermost first as in the description.
static std::vector<Expr> indicesOf(const StageFunc &result) {
  std::vector<Expr> indices(result.stage->loops.size());
  size_t parallel = 0, reduced = 0;
  for (size_t i = indices.size(); i-- > 0;) {
    if (result.stage->loops[i].isReduction)
      indices[i] = result.reduction[static_cast<int>(reduced++)];
    else
      indices[i] = result.vars[parallel++];
  }
  return indices;
}

/// Defines the function of |result|. |indices| are the values of its loops, outermost first. A reduction starts from
/// its initial value. A stage that reads its destination starts from an undefined value (Halide::undef), by which
/// Halide leaves the destination as it is.
static void define(StageFunc &result, const Scope &scope, const std::vector<Expr> &indices) {
  const Stage &stage = *result.stage;
  if (!stage.isReduction() && !stage.readsDestination()) {
    result.func(result.vars) = ExpressionBuilder(scope, indices, Expr()).build(stage.body);
    return;
  }
  result.func(result.vars) =
      stage.isReduction() ? ExpressionBuilder(scope, indices, Expr()).build(*stage.init) : Halide::undef(Halide::Float(32));
  std::vector<Expr> at(result.vars.begin(), result.vars.end());
  result.func(result.vars) = ExpressionBuilder(scope, indices, result.func(at)).build(stage.body);
}

/// Returns the number of columns of a register tile for a stage of |columns| columns: at most options.tileColumns, and
/// at most |columns| if that is a constant. If |columns| is known to be a multiple of a vector's lanes, the result
/// divides it.
static int tileColumnsFor(const Expr &columns, const ScheduleOptions &options) {
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

/// Returns an estimate of the instructions that |term| needs for one vector.
static int costOf(const Term &term) {
  int cost = term.isList;
  for (const char *word : {"erf", "exp", "exp2", "log", "tanh"})
    cost += term.word == word ? 20 : 0;
  for (const Term &operand : term.operands)
    cost += costOf(operand);
  return cost;
}

/// The largest cost (costOf) of a host and its inlined stages for which their expressions are unrolled over all rows
/// and columns of a tile. More expensive ones are computed in loops that read the sums from memory.
static constexpr int kMostUnrolled = 8;

/// Adds |count| tiles of |rows| rows, from row |first| on, to |host|, for each tile of |columns| columns. |chain| is
/// Plan::tileStages of the host. Each tile of rows computes its own part of these stages: there, rows are counted from
/// the tile's first row, and the number of the tile is a further dimension, the outermost.
static void addTiles(StageFunc &host, Scope scope, const std::vector<const Stage *> &chain, int rows, const Expr &first, const Expr &count,
                     int columns) {
  RowTiles tiles;
  tiles.rows = rows;
  tiles.columns = columns;
  Halide::Func last;
  std::string name;
  for (const Stage *stage : chain) {
    StageFunc copy = declare(*stage, scope);
    std::vector<Expr> indices = indicesOf(copy);
    copy.vars.emplace_back("tile");
    indices[stage->parallelLoops() - 2] = first + copy.vars.back() * rows + copy.vars[1];
    if (stage != chain[0])
      scope.values[name] = last(std::vector<Expr>(copy.vars.begin(), copy.vars.end()));
    define(copy, scope, indices);
    last = copy.func;
    name = stage->name;
    if (stage != chain[0])
      continue;
    tiles.sum = copy;
    int cost = costOf(host.stage->body);
    for (const Stage *part : chain)
      cost += part == stage ? 0 : costOf(part->body);
    if (cost > kMostUnrolled) {
      last = tiles.kept = Halide::Func(stage->name + "_kept");
      std::vector<Expr> same(copy.vars.begin(), copy.vars.end());
      tiles.kept(copy.vars) = copy.func(same);
    }
  }
  std::optional<int64_t> length = constantOf(host.extents[0]);
  bool overlaps = length && *length % columns != 0;
  Halide::Region ranges = {{0, rows}, {0, count}};
  if (overlaps) { // innermost first, as in scheduleTiles, since Halide does not reorder reduction loops
    ranges.insert(ranges.begin(), {0, columns});
    ranges.emplace_back(0, static_cast<int>((*length + columns - 1) / columns));
  }
  Halide::RDom domain(ranges, host.stage->name + "_tiles" + std::to_string(rows));
  tiles.row = domain[overlaps];
  tiles.tile = domain[overlaps + 1];
  std::vector<Expr> indices = indicesOf(host), at(host.vars.begin(), host.vars.end());
  if (overlaps) {
    tiles.column = domain[0];
    tiles.columnTile = domain[3];
    indices.back() = at[0] = Halide::min(domain[3] * columns, static_cast<int>(*length) - columns) + domain[0];
  }
  std::vector<Expr> own = at;
  own[1] = tiles.row;
  own.emplace_back(tiles.tile);
  scope.values[name] = last(own);
  indices[indices.size() - 2] = at[1] = first + tiles.tile * rows + tiles.row;
  host.func(at) = ExpressionBuilder(scope, indices, Expr()).build(host.stage->body);
  host.tiles.push_back(std::move(tiles));
}

/// Defines |host| by tiles, so that no row is computed twice: as many tiles of options.tileRows rows as possible, then
/// tiles whose numbers of rows are powers of two. These are only powers of four if the number of columns is not known
/// to be a multiple of the tile's, since each size may then need code for partial tiles of columns, too. The same holds
/// if the stage has more than two parallel loops. Fewer sizes need less code.
static void defineTiles(StageFunc &host, const Scope &scope, const Plan &plan, const ScheduleOptions &options) {
  std::vector<const Stage *> chain = plan.tileStages(*host.stage);
  int columns = tileColumnsFor(host.extents[0], options);
  host.func(host.vars) = Halide::undef(Halide::Float(32));
  std::vector<int> heights{options.tileRows};
  for (int rows = 64; rows > 0; rows /= isMultiple(host.extents[0], columns) && host.vars.size() == 2 ? 2 : 4)
    if (rows < options.tileRows)
      heights.push_back(rows);
  Expr first = 0, remaining = host.extents[1];
  for (int rows : heights) {
    std::optional<int64_t> most = mostOf(remaining);
    if (most && *most < rows)
      continue;
    Expr count = Halide::Internal::simplify(remaining / rows);
    addTiles(host, scope, chain, rows, first, count, columns);
    first = Halide::Internal::simplify(first + count * rows);
    remaining = Halide::Internal::simplify(remaining % rows);
  }
}

Algorithm::Algorithm(const Description &description, const Plan *plan, const ScheduleOptions &options) : description(description) {
  Scope scope;
  std::vector<Halide::Argument> strides;
  auto strideOf = [&](const Buffer &buffer, size_t dim) -> Expr {
    if (buffer.strides[dim])
      return Expr(static_cast<int32_t>(*buffer.strides[dim]));
    Halide::Param<int32_t> stride(buffer.name + "_stride_" + std::to_string(dim));
    strides.push_back(stride);
    return stride;
  };
  for (const Buffer &buffer : description.inputs) {
    int rank = static_cast<int>(buffer.strides.size());
    Halide::ImageParam input(typeOf(buffer.type), rank, nameFor(buffer.name));
    for (int dim = 0; dim < rank; ++dim)
      input.dim(rank - 1 - dim).set_min(0).set_stride(strideOf(buffer, dim));
    scope.inputs.emplace(buffer.name, input);
    arguments.push_back(input);
  }
  for (const Scalar &scalar : description.scalars) {
    Halide::Param<int32_t> param(nameFor(scalar.name));
    arguments.push_back(param);
    Expr value = param;
    if (scalar.isExtent)
      value = Halide::unsafe_promise_clamped(value, 0, scalar.most ? Expr(static_cast<int32_t>(*scalar.most)) : Expr(1 << 30));
    scope.scalars.emplace(scalar.name, value);
  }
  for (const Stage &stage : description.stages) {
    StageFunc &result = stages.emplace_back(declare(stage, scope));
    if (plan && plan->contractionOf(stage))
      defineTiles(result, scope, *plan, options);
    else
      define(result, scope, indicesOf(result));
    if (!scope.stages.emplace(stage.name, result.func).second)
      throw DescriptionError("stage '" + stage.name + "' is there twice");
  }
  for (const Output &output : description.outputs) {
    StageFunc &stage = at(output.stage);
    if (stage.vars.size() != output.buffer.strides.size())
      throw DescriptionError("expected output '" + output.buffer.name + "' of rank " + std::to_string(stage.vars.size()) + ", got " +
                             std::to_string(output.buffer.strides.size()));
    if (stage.func.value().type() != typeOf(output.buffer.type))
      throw DescriptionError("expected output '" + output.buffer.name + "' to have the type of stage '" + output.stage + "'");
    stage.isOutput = true;
    int rank = static_cast<int>(stage.vars.size());
    for (int dim = 0; dim < rank; ++dim)
      stage.func.output_buffer().dim(rank - 1 - dim).set_bounds(0, stage.extents[rank - 1 - dim]).set_stride(strideOf(output.buffer, dim));
    outputs.push_back(stage.func);
  }
  for (StageFunc &stage : stages) {
    if (stage.stage->readsDestination() && !stage.isOutput)
      throw DescriptionError("stage '" + stage.stage->name + "' keeps what there was: expected it to be an output");
    for (size_t dim = 0; dim < stage.vars.size(); ++dim)
      if (stage.isOutput)
        stage.func.bound(stage.vars[dim], 0, stage.extents[dim]);
  }
  arguments.insert(arguments.end(), strides.begin(), strides.end());
}

StageFunc &Algorithm::at(const std::string &name) {
  for (StageFunc &stage : stages)
    if (stage.stage->name == name)
      return stage;
  throw DescriptionError("expected a stage, got '" + name + "'");
}
