//===- PlainMemory.cpp - Memory and callbacks of an execution -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/PlainMemory.h"
#include "compiler/Plain/OpCall.h"

#include <cstdlib>
#include <cstring>

using namespace attune;

static thread_local PlainMemory *active = nullptr;

PlainMemory::PlainMemory(uint8_t poison) : poison(poison) { active = this; }

PlainMemory::~PlainMemory() {
  active = nullptr;
  for (void *block : blocks)
    std::free(block);
}

void *PlainMemory::allocate(uint64_t bytes) {
  uint64_t size = (bytes + 127) / 64 * 64;
  void *block = std::aligned_alloc(64, size);
  if (!block)
    std::abort();
  std::memset(block, poison, size);
  blocks.push_back(block);
  return block;
}

// The functions that the compiled code calls, see PlainMemory::symbols.

static void callReference(int64_t call, int64_t words) {
  auto *op = reinterpret_cast<OpCall *>(call);
  op->bind(reinterpret_cast<const int64_t *>(words));
  if (!op->substitute || !*op->substitute || !(*op->substitute)(*op))
    computeReference(*op);
  // An operation that failed may lack results, whose sizes and elements the compiled code still asks for. They become
  // zeros, with 0 in place of each dynamic size.
  for (auto [index, result] : llvm::enumerate(op->results))
    if (!result.buffer.data) {
      llvm::SmallVector<int64_t, 5> sizes;
      for (int64_t size : llvm::cast<mlir::ShapedType>(op->op->getResult(index).getType()).getShape())
        sizes.push_back(mlir::ShapedType::isDynamic(size) ? 0 : size);
      op->create(index, sizes);
    }
  if (op->observer && *op->observer)
    (*op->observer)(*op);
}

static int64_t getResultSize(int64_t call, int64_t result, int64_t dim) {
  return reinterpret_cast<OpCall *>(call)->results[result].buffer.size(dim);
}

static void takeResult(int64_t call, int64_t result, int64_t address) {
  const OpCall::Result &from = reinterpret_cast<OpCall *>(call)->results[result];
  std::memcpy(reinterpret_cast<void *>(address), from.buffer.data,
              static_cast<size_t>(from.buffer.elements() * getElementBytes(from.buffer.kind)));
}

static void *allocateMemory(uint64_t bytes) { return active->allocate(bytes); }
static void *allocateAligned(uint64_t, uint64_t bytes) { return active->allocate(bytes); }
static void freeMemory(void *) {}

namespace {
/// An unranked memref as compiled code passes it. |descriptor| is the allocated pointer, the aligned pointer, the
/// offset, |rank| sizes and |rank| strides; offset and strides are in elements.
struct UnrankedBuffer {
  int64_t rank;
  int64_t *descriptor;
};
} // namespace

/// Copies |source| to |target|, which have the same sizes. Takes the place of `memrefCopy` of MLIR's runtime library,
/// which the executor does not load.
static void copyBuffer(int64_t elementBytes, UnrankedBuffer *source, UnrankedBuffer *target) {
  int64_t rank = source->rank, *from = source->descriptor, *to = target->descriptor, count = 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    count *= from[3 + dim];
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, read = from[2], write = to[2];
    for (int64_t dim = rank; dim-- > 0; rest /= from[3 + dim]) {
      int64_t index = rest % from[3 + dim];
      read += index * from[3 + rank + dim];
      write += index * to[3 + rank + dim];
    }
    std::memcpy(reinterpret_cast<char *>(to[1]) + write * elementBytes, reinterpret_cast<char *>(from[1]) + read * elementBytes,
                static_cast<size_t>(elementBytes));
  }
}

std::vector<std::pair<std::string, void *>> PlainMemory::symbols() {
  return {{"plain_call", reinterpret_cast<void *>(callReference)},
          {"plain_size", reinterpret_cast<void *>(getResultSize)},
          {"plain_take", reinterpret_cast<void *>(takeResult)},
          {"_mlir_memref_to_llvm_alloc", reinterpret_cast<void *>(allocateMemory)},
          {"_mlir_memref_to_llvm_aligned_alloc", reinterpret_cast<void *>(allocateAligned)},
          {"_mlir_memref_to_llvm_free", reinterpret_cast<void *>(freeMemory)},
          {"memrefCopy", reinterpret_cast<void *>(copyBuffer)}};
}
