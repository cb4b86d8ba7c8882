//===- Warpgroups.h - Products of warpgroups ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma.mma_async may happen at any time from its start to the wait for its group. Here it happens at once, or, if the
// driver is lazy, at the wait. Until then its sums are marks (NaN), which the wait replaces. Code that uses sums
// without waiting gets NaN, and code that writes to operands too early changes the product.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_WARPGROUPS_H
#define ATTUNE_TEST_FAKECUDA_WARPGROUPS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attune::fake {

class Block;

/// Threads of a warpgroup.
constexpr uint32_t warpgroupThreads = 128;

/// A wgmma as its text describes it: $0 to $N - 1 are the N sums that it returns, the following operands are its
/// inputs.
struct ProductForm {
  explicit ProductForm(const std::string &text);
  uint32_t columns, sums; ///< of the product; of a thread
  bool isBf16, aInRegisters, aIsTransposed, bIsTransposed;
  /// A matrix: the input with its descriptor or, if there is a |layout|, with the low half, to which |offset| is added.
  struct Descriptor {
    uint32_t input;
    int64_t offset, layout;
    uint64_t read(const uint64_t *inputs) const;
  };
  uint32_t aInput; ///< the first of four words, if they are in registers
  Descriptor a, b;
  int64_t scaleInput; ///< the input that tells whether the product is added to the former sums, -1 if |isSum| tells
  bool isSum;

private:
  Descriptor findDescriptor(const std::string &text, size_t at) const;
};

/// One product of a warpgroup that has been started.
struct WarpgroupProduct {
  const ProductForm *form;
  uint64_t aMatrix, bMatrix;    ///< descriptors
  bool isSum;                   ///< false: the former sums are not added
  std::vector<uint32_t> aWords; ///< [thread][4]
  std::vector<uint32_t> sums;   ///< [thread][form->sums], before and after
  bool isDone = false;
};

/// The products of one warpgroup.
class Warpgroup {
public:
  /// Starts |product| as part of the open group; its sums become marks or results.
  void start(Block &block, WarpgroupProduct &product);
  void commit();
  /// Finishes all groups but the last |left|.
  void finish(Block &block, size_t left);
  /// Returns |word|, or, if it is the mark of a finished product, the sum that it stands for.
  uint32_t resolve(uint32_t word, uint32_t thread) const;

private:
  void perform(Block &block, uint32_t number);

  std::map<uint32_t, WarpgroupProduct> products; ///< by number
  std::vector<std::vector<uint32_t>> groups;
  std::vector<uint32_t> open;
  uint32_t last = 0;
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_WARPGROUPS_H
