//===- Prefetch.cpp - Panels of weights ahead of their use ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Prefetch.h"

#include <algorithm>
#include <functional>

using namespace attune;
using namespace Halide::Internal;
using Halide::Expr;

static constexpr int kLineBytes = 64;
/// The distance between prefetches is a fixed-point number of cache lines, in units of 1 / kFraction. A power of two.
static constexpr int kFraction = 1 << 10;

static bool contains(const std::string &name, const std::string &part) { return name.find(part) != std::string::npos; }

/// Returns |loop|, the reduction loop of the sums, with prefetches at the start of its body; unchanged if its extent is
/// not a positive constant.
Stmt PrefetchPanels::fetch(const For *loop) {
  const int64_t *iterations = as_const_int(loop->extent);
  if (!iterations || *iterations < 1)
    return loop;
  int lines = static_cast<int>(read.bytes / kLineBytes), own = std::max<int>(1, static_cast<int>(lines / *iterations));
  Expr iteration = Variable::make(Halide::Int(32), loop->name) - loop->min;
  int count = tiles ? (own + 1) / 2 : own;
  // Returns the cache line, counted from the beginning of the panel, that prefetch number n of this tile loads. If
  // |tiles| is set, the tile has a share of the lines of the next panel, and its prefetches are spread evenly over the
  // share.
  std::function<Expr(Expr)> lineOf = [&](Expr n) { return ahead / kLineBytes + n; };
  if (tiles) {
    Expr tile = Variable::make(Halide::Int(32), tiles->name) - tiles->min, share = lines / tiles->extent + 1;
    Expr step = share * kFraction / (static_cast<int>(*iterations) * count);
    lineOf = [=](const Expr &n) { return lines + tile * share + n * step / kFraction; };
  }
  Stmt body = loop->body;
  Expr base = Variable::make(Halide::type_of<void *>(), read.input);
  for (int line = count; line-- > 0;)
    body = Block::make(Evaluate::make(Call::make(Halide::UInt(8), Call::prefetch,
                                                 {base, lineOf(iteration * count + line) * kLineBytes, 1, 1}, Call::Intrinsic)),
                       body);
  return For::make(loop->name, loop->min, loop->extent, loop->for_type, loop->device_api, body);
}

Stmt PrefetchPanels::visit(const For *loop) {
  if (loop->name.compare(0, read.sum.size() + 4, read.sum + ".s1.") == 0 && contains(loop->name, read.reduction))
    return fetch(loop);
  const For *outer = tiles;
  if (!read.sharingLoop.empty() && contains(loop->name, read.sharingLoop))
    tiles = loop;
  Stmt result = IRMutator::visit(loop);
  tiles = outer;
  return result;
}
