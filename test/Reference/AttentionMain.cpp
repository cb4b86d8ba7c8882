//===- AttentionMain.cpp - attune-test-attention ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-attention SEED COUNT FOLDER [plain|cached|long]
//
// Writes a module with COUNT random attentions into FOLDER (model.mlir, weights.safetensors, in.safetensors), and its
// expected outputs, expected.safetensors. With `cached`, keys and values are in caches. With `long`, there is a single
// sequence of 513 to 1600 keys. The default is `plain`. Every combination of masks, biases, hidden positions, grouped
// heads, ragged lengths and outputs may occur.
//===----------------------------------------------------------------------===//

#include "test/Reference/AttentionModule.h"
#include "test/Reference/Random.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

using namespace attune;
using namespace attune::reference;

namespace {

/// Returns a case of which only the lengths of sequences are set. All cases of a module share these lengths.
AttentionCase drawLengths(Random &r, const std::string &kind) {
  AttentionCase c;
  c.cached = kind == "cached";
  bool isLong = kind == "long", self = r.chance(40);
  int64_t batch = isLong ? 1 : r.pick<int64_t>({1, 2, 3});
  for (int64_t b = 0; b < batch; ++b) {
    int64_t keys = isLong ? r.range(513, 1600) : r.pick<int64_t>({0, 1, 3, 15, 16, 17, 40, 63, 64, 65, 130});
    int64_t queries = isLong ? r.pick<int64_t>({1, 9, 130}) : r.pick<int64_t>({0, 1, 1, 2, 5, 8, 9, 13, 31});
    if (self && !c.cached)
      queries = keys;
    c.queries.push_back(queries);
    c.keyTokens.push_back(c.cached ? std::max(keys, queries) : keys);
  }
  c.queries[0] += *std::max_element(c.queries.begin(), c.queries.end()) == 0; // a call has at least one query
  c.keyTokens[0] = std::max(c.keyTokens[0], c.cached ? c.queries[0] + 1 : int64_t(1));
  c.maxQueries = std::max<int64_t>(1, *std::max_element(c.queries.begin(), c.queries.end())) + (isLong ? 0 : r.range(0, 2));
  c.maxKeys = std::max<int64_t>(1, *std::max_element(c.keyTokens.begin(), c.keyTokens.end())) + (isLong ? 0 : r.range(0, 2));
  c.distances = 2 * (std::max(c.maxQueries, c.maxKeys) + r.range(0, 3)) - 1;
  return c;
}

/// A generator of one random case with given lengths of sequences.
class Draw {
public:
  Draw(Random &random, const AttentionCase &lengths, bool isLong) : r(random), isLong(isLong), c(lengths) {}

  AttentionCase run() {
    heads();
    c.start = !c.cached && r.chance(40);
    c.keyLengths = !c.cached && r.chance(30);
    for (int64_t keys : c.keyTokens)
      c.keys.push_back(c.keyLengths ? r.range(0, keys) : keys);
    hiding();
    operands();
    if (r.chance(60))
      mask();
    if (r.chance(50))
      outputs();
    return c;
  }

private:
  void heads() {
    c.kvHeads = r.pick<int64_t>({1, 1, 2, 3});
    c.heads = c.kvHeads * r.pick<int64_t>({1, 1, 1, 2, 3, 4, 7, 11});
    c.headDim = r.pick<int64_t>({1, 4, 12, 16, 24, 33, 64});
    c.valueDim = r.chance(60) ? c.headDim : r.pick<int64_t>({1, 5, 16, 20, 64, 80});
    c.scale = r.chance(80) ? 1 / std::sqrt(double(c.headDim)) : 1;
  }

  void hiding() {
    c.causal = r.chance(45);
    if (r.chance(25))
      c.windowLeft = r.range(0, isLong ? 700 : 20);
    if (r.chance(20))
      c.windowRight = r.range(0, isLong ? 700 : 20);
    if (r.chance(20))
      c.softcap = r.pick<double>({0.5, 2, 30});
    c.maskedRows = r.pick<MaskedRows>({MaskedRows::Uniform, MaskedRows::Zero, MaskedRows::LeastMasked, MaskedRows::LeastMaskedPast});
  }

  void operands() {
    int64_t tq = 0, tk = 0;
    for (int64_t b = 0; b < c.batch(); ++b)
      tq += c.queries[b], tk += c.keyTokens[b];
    c.query = r.values(tq * c.heads * c.headDim, 2);
    c.key = r.values(tk * c.kvHeads * c.headDim, 2);
    c.value = r.values(tk * c.kvHeads * c.valueDim, 1);
    if (r.chance(20)) {
      c.headMask = r.values(c.heads, 1);
      c.headMask[0] = 0;
    }
    if (r.chance(20)) {
      c.sinks = r.values(c.heads, 4);
      c.maskedRows = MaskedRows::Zero;
    }
    if (r.chance(25)) {
      c.biasHeads = r.chance(50) ? 1 : c.heads;
      c.distanceBias = r.values(c.biasHeads * c.distances, 2);
    }
    if (r.chance(20)) {
      c.relativeKey = relativeTable();
      c.relativeQuery = r.chance(30) ? c.relativeKey : r.chance(50) ? relativeTable() : RelativeTable();
    } else if (r.chance(5)) {
      c.relativeQuery = relativeTable();
    }
  }

  /// Returns a table of at least all distances, or one that may end before the largest distance.
  RelativeTable relativeTable() {
    RelativeTable table;
    table.distances = r.chance(50) ? c.distances + 2 * r.range(0, 2) : 2 * r.range(0, c.distances / 2) + 1;
    table.ofHeads = r.chance(50);
    table.values = r.values(table.distances * (table.ofHeads ? c.heads : 1) * c.headDim, 1);
    return table;
  }

  void mask() {
    Mask &m = c.mask;
    m.kind = r.pick<MaskKind>({MaskKind::Float, MaskKind::Integer, MaskKind::Boolean});
    m.shape = {c.batch(), c.heads, c.maxQueries, c.maxKeys};
    int64_t rank = r.range(2, 4);
    if (rank < 4)
      m.shape.erase(m.shape.begin() + 1);
    if (rank < 3)
      m.shape.erase(m.shape.begin() + 1);
    int64_t count = 1;
    for (int64_t dim = 0; dim < rank; ++dim) {
      bool isHeads = rank == 4 && dim == 1, isKeys = dim == rank - 1, one = r.chance(isKeys ? 5 : 30);
      m.shape[dim] = one ? 1 : m.shape[dim];
      // In the type, the size of heads is static unless it is 1, and a size of 1 for the keys is always static: the
      // operation broadcasts a single key only if its size is static.
      m.dynamic.push_back(isKeys ? !one : isHeads ? one && r.chance(50) : !one || r.chance(50));
      count *= m.shape[dim];
    }
    int percent = r.pick<int>({0, 10, 50, 100});
    // The first two values hide a key. -1.5e38 does not, but a score loses all its digits if it is added. -100 gives a
    // key almost no probability, but a score keeps its digits, which count where all keys of a query have -100.
    float low = r.pick<float>({std::numeric_limits<float>::lowest(), -std::numeric_limits<float>::infinity(), -1.5e38f, -100.0f});
    for (int64_t i = 0; i < count; ++i) {
      bool hidden = r.chance(percent);
      m.values.push_back(m.kind == MaskKind::Float ? (hidden ? low : r.chance(50) ? 0 : r.uniform()) : !hidden);
    }
    if (m.kind != MaskKind::Float && r.chance(40))
      c.maskFill = r.pick<double>({-1e10, -5, 0});
  }

  void outputs() {
    c.probabilities = true;
    c.stage = r.chance(50) ? Stage::Softmax : r.pick<Stage>({Stage::Product, Stage::Capped, Stage::Masked});
  }

  Random &r;
  bool isLong;
  AttentionCase c;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "expected SEED COUNT FOLDER [plain|cached|long]\n");
    return 1;
  }
  Random random(std::strtoull(argv[1], nullptr, 10));
  std::string kind = argc > 4 ? argv[4] : "plain";
  AttentionCase lengths = drawLengths(random, kind);
  AttentionModule module;
  for (int i = 0, count = std::atoi(argv[2]); i < count; ++i)
    module.add(Draw(random, lengths, kind == "long").run());
  std::filesystem::create_directories(argv[3]);
  if (Status status = module.write(argv[3]); status.failed()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
}
