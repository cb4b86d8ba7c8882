//===- ReadRate.cpp - How fast memory can be read, measured ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefetchers of different machines are fastest with different numbers of streams. So the memory is read as one stream,
// as four and as eight side by side, and the fastest counts.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/ReadRate.h"

#include "attune/runtime.h"
#include "compiler/Tools/RunTogether.h"

#include <algorithm>
#include <sys/mman.h>

using namespace attune;

namespace {
/// The eight words of a cache line. They are added in as few instructions as the CPU's vectors allow, because the
/// number of instructions limits how many reads a core can have in flight.
typedef uint64_t Line __attribute__((vector_size(64)));
/// A function that reads |count| lines as |streams| equal parts side by side. Returns the sum of all words, so that the
/// compiler cannot omit a read.
using ReadFunction = uint64_t (*)(const Line *lines, size_t count, size_t streams);
} // namespace

#define ATTUNE_READ_STREAMS(NAME, ATTRIBUTE)                                                                                               \
  ATTRIBUTE static uint64_t NAME(const Line *lines, size_t count, size_t streams) {                                                        \
    Line a = {}, b = {}, c = {}, d = {};                                                                                                   \
    size_t part = count / streams / 8 * 8;                                                                                                 \
    for (size_t i = 0; i < part; i += 8)                                                                                                   \
      for (const Line *line = lines + i, *end = line + streams * part; line != end; line += part) {                                        \
        a += line[0], b += line[1], c += line[2], d += line[3];                                                                            \
        a += line[4], b += line[5], c += line[6], d += line[7];                                                                            \
      }                                                                                                                                    \
    a += b + c + d;                                                                                                                        \
    uint64_t total = 0;                                                                                                                    \
    for (int j = 0; j < 8; ++j)                                                                                                            \
      total += a[j];                                                                                                                       \
    return total;                                                                                                                          \
  }
ATTUNE_READ_STREAMS(readBaseline, )

#if defined(__x86_64__)
ATTUNE_READ_STREAMS(readAvx2, __attribute__((target("avx2"))))
ATTUNE_READ_STREAMS(readAvx512, __attribute__((target("avx512f"))))
#endif

static ReadFunction chooseRead() {
#if defined(__x86_64__)
  if (attune_cpu_has("avx512f") == 1)
    return readAvx512;
  if (attune_cpu_has("avx2") == 1)
    return readAvx2;
#endif
  return readBaseline;
}

ReadRate::ReadRate(size_t bytes) : bytes(bytes) {
  void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return;
  madvise(mapped, bytes, MADV_HUGEPAGE);
  memory = std::shared_ptr<uint64_t>(static_cast<uint64_t *>(mapped), [bytes](uint64_t *p) { munmap(p, bytes); });
  // Memory that was never written is one shared page of zeros, which stays in the cache.
  std::fill_n(memory.get(), bytes / sizeof(uint64_t), 1);
}

double ReadRate::measure(int64_t threads) {
  if (!memory)
    return 0;
  static constexpr size_t patterns[] = {1, 4, 8};
  size_t streams = patterns[turn++ % (sizeof(patterns) / sizeof(*patterns))];
  size_t part = bytes / sizeof(Line) / static_cast<size_t>(threads);
  ReadFunction read = chooseRead();
  double seconds = runTogether(threads, [&](int64_t thread) {
    volatile uint64_t sum = read(reinterpret_cast<const Line *>(memory.get()) + static_cast<size_t>(thread) * part, part, streams);
    (void)sum;
  });
  return static_cast<double>(part * sizeof(Line)) * static_cast<double>(threads) / seconds;
}

double ReadRate::best(int64_t threads, int passes) {
  double best = 0;
  for (int i = 0; i < passes; ++i)
    best = std::max(best, measure(threads));
  return best;
}
