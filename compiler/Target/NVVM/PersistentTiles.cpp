//===- PersistentTiles.cpp - Query tiles of a persistent block ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The persistent tile scheduler of attention. A group is a sequence with query heads that share keys; a pair is two
// neighboring query tiles of one group. In a grid with one block per pair, every pair would start with an empty
// pipeline, multiprocessors would be idle while the longest pairs end, and concurrent blocks would read the keys of
// more groups than fit into the L2 cache. So there are as many blocks as run at a time, and each computes a fixed
// series of pairs.
//
// The pairs are numbered section by section. A section is the pairs of `groupsInL2` groups; it begins with the last
// pair of each of its groups and ends with the first pair of each. In every round each block takes at most one number:
// in even rounds the blocks take the numbers of the round in ascending order, in odd rounds in descending order. For
// example, causal attention with 4 groups g of 3 pairs p each, and 2 groups in L2:
//
//   number   0    1    2    3    4    5  |  6    7    8    9    10   11
//   group    g0   g1   g0   g1   g0   g1 |  g2   g3   g2   g3   g2   g3      a section: its keys stay in the L2 cache
//   pair     p2   p2   p1   p1   p0   p0 |  p2   p2   p1   p1   p0   p0
//   keys     3    3    2    2    1    1  |  3    3    2    2    1    1       long pairs first; unit: queries of a pair
//   block    0    1    2    2    1    0  |  0    1    2    2    1    0       8 units for each of 3 blocks; 10, 8 and 6
//                                                                            if every round went forward
//
// Invariants. Every pair has exactly one number below groups x pairs of a group. A block's series depends on its number
// among the blocks alone, so the producer and the consumers of a block compute the same series without communication,
// and no atomic counter is needed. The last section may have fewer groups (`width`). Tiles beyond the end of a short
// sequence are in the series; the caller skips them.
//
// Cost. Three divisions for each pair, of 32-bit numbers, since a GPU needs many more instructions and registers to
// divide 64-bit numbers.
//
// Tried before: one block for every pair. No product ran during the first loads and the last stores of a pair, which
// for short sequences are most of the time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/PersistentTiles.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

static Value word(ThreadBuilder &e, int64_t value) { return arith::ConstantIntOp::create(e, value, 32); }
static Value narrow(ThreadBuilder &e, Value index) { return arith::IndexCastOp::create(e, e.getI32Type(), index); }
static Value widen(ThreadBuilder &e, Value word) { return arith::IndexCastUIOp::create(e, e.getIndexType(), word); }

PersistentTiles::PersistentTiles(ThreadBuilder &host, Value sequences, Value ofHeads, Value tiles, Value fit, Value workers) {
  Value ofPairs = host.div(host.add(tiles, 1), 2), all = host.mul(host.mul(sequences, ofHeads), ofPairs);
  blocks = host.min(all, workers);
  heads = narrow(host, ofHeads), pairs = narrow(host, ofPairs), groups = narrow(host, host.mul(sequences, ofHeads));
  groupsInL2 = narrow(host, fit), count = narrow(host, all), step = narrow(host, blocks);
  rounds = narrow(host, host.div(host.add(all, host.add(blocks, -1)), host.max(blocks, host.index(1))));
}

QueryTilePair PersistentTiles::pairAt(ThreadBuilder &e, Value number) const {
  Value section = e.div(number, e.mul(groupsInL2, pairs)), first = e.mul(section, groupsInL2);
  Value within = e.sub(number, e.mul(first, pairs)), width = e.min(groupsInL2, e.sub(groups, first));
  Value row = e.div(within, width), group = e.add(first, e.sub(within, e.mul(row, width))), sequence = e.div(group, heads);
  Value pair = e.sub(e.sub(pairs, word(e, 1)), row);
  return {widen(e, sequence), widen(e, e.sub(group, e.mul(sequence, heads))), e.mul(widen(e, pair), 2)};
}

Values PersistentTiles::forEach(ThreadBuilder &e, Value block, ValueRange initial,
                                llvm::function_ref<Values(QueryTilePair, ValueRange)> body) const {
  Value zero = word(e, 0), one = word(e, 1), forth = narrow(e, block), back = e.sub(e.sub(step, one), forth);
  return e.loop(zero, rounds, one, initial, [&](Value round, ValueRange carried) -> Values {
    Value isForth = e.compare(arith::CmpIPredicate::eq, e.rem(round, word(e, 2)), zero);
    Value number = e.add(e.mul(round, step), e.select(isForth, forth, back));
    auto some = [&] { return body(pairAt(e, number), carried); };
    auto none = [&] { return Values(carried); };
    return e.choose(e.compare(arith::CmpIPredicate::slt, number, count), some, none);
  });
}
