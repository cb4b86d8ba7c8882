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
/// How far ahead a tile of few rows reads.
static constexpr int kAheadBytes = 16 << 10;
/// Tiles that share a panel; those that follow ask for its lines again.
static constexpr int kMostSharers = 8;
/// Parts of a line that prefetches advance by, a power of two.
static constexpr int kFraction = 1 << 10;

static bool contains(const std::string &name, const std::string &part) { return name.find(part) != std::string::npos; }

/// |loop| with prefetches in front of its body.
Stmt PrefetchPanels::fetch(const For *loop) {
  const int64_t *iterations = as_const_int(loop->extent);
  if (!iterations || *iterations < 1)
    return loop;
  int lines = static_cast<int>(read.bytes / kLineBytes), own = std::max<int>(1, static_cast<int>(lines / *iterations));
  Expr iteration = Variable::make(Halide::Int(32), loop->name) - loop->min;
  int count = tiles ? (own + 1) / 2 : own;
  // The first line of this iteration: a tile's share of the next panel is spread over all of them, so that memory is asked at an even rate.
  Expr first = iteration * count + kAheadBytes / kLineBytes, share = lines;
  if (tiles) {
    Expr sharers = Halide::min(tiles->extent, kMostSharers), tile = Variable::make(Halide::Int(32), tiles->name) - tiles->min;
    share = lines / sharers + 1;
    first = lines + tile % sharers * share + iteration * (share * kFraction / static_cast<int>(*iterations)) / kFraction;
  }
  Stmt body = loop->body;
  Expr base = Variable::make(Halide::type_of<void *>(), read.input);
  for (int line = count; line-- > 0;) {
    Stmt prefetch =
        Evaluate::make(Call::make(Halide::UInt(8), Call::prefetch, {base, first * kLineBytes + line * kLineBytes, 1, 1}, Call::Intrinsic));
    // Many tiles share a panel by less than a line for each iteration of each.
    if (tiles && line > 0)
      prefetch = Halide::Internal::IfThenElse::make(share > line * static_cast<int>(*iterations), prefetch);
    body = Block::make(prefetch, body);
  }
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
