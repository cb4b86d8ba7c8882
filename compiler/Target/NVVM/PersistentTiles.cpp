//===- PersistentTiles.cpp - Query tiles of a persistent block ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All of it in 32 bits, which numbers of blocks fit into: a GPU divides such numbers in a few instructions and registers.
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
