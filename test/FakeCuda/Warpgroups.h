//===- Warpgroups.h - Products of warpgroups ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a GPU, wgmma.mma_async may multiply at any time between its start and the wait for its group. Here it multiplies
// at its start or, with `lazy`, at the wait. With `lazy` it first returns marks, special NaN, as its sums, and the wait
// replaces the marks by the sums. So code that uses sums without waiting computes with NaN, and code that overwrites
// operands too early changes the product.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_WARPGROUPS_H
#define ATTUNE_TEST_FAKECUDA_WARPGROUPS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attune::fake {

class Block;

/// The number of threads of a warpgroup.
constexpr uint32_t warpgroupThreads = 128;

/// A wgmma.mma_async, parsed from the text of its inline PTX. The operands $0 to $(N - 1) are the N sums that a thread
/// gets, and operand $(N + i) is input i.
struct ProductForm {
  explicit ProductForm(const std::string &text);
  uint32_t columns, sums; ///< the columns of the product, and the sums of each thread (N above)
  bool isBf16, aInRegisters, aIsTransposed, bIsTransposed;
  /// The place of a matrix descriptor among the inputs. Input |input| is the descriptor itself if |layout| is -1.
  /// Otherwise the low 32 bits of the descriptor are the low 32 bits of that input plus |offset|, and the high 32 bits
  /// are |layout|.
  struct Descriptor {
    uint32_t input;
    int64_t offset, layout;
    uint64_t read(const uint64_t *inputs) const;
  };
  uint32_t aInput; ///< the first of the four inputs with elements of A, if A is in registers
  Descriptor a, b;
  int64_t scaleInput; ///< number of the input that is 0 if the product replaces the former sums; -1 if there is none
  bool isSum;         ///< if |scaleInput| is -1, true if the product is added to the former sums

private:
  Descriptor findDescriptor(const std::string &text, size_t at) const;
};

/// One product that a warpgroup has started.
struct WarpgroupProduct {
  const ProductForm *form;
  uint64_t aMatrix, bMatrix;    ///< descriptors; |aMatrix| is 0 if A is in registers
  bool isSum;                   ///< true if the product is added to the former sums
  std::vector<uint32_t> aWords; ///< [thread][4], the elements of A if they are in registers
  std::vector<uint32_t> sums;   ///< [thread][form->sums], the former sums, and the new ones when |isDone|
  bool isDone = false;
};

/// The products of one warpgroup.
class Warpgroup {
public:
  /// Starts |product| as part of the open group. The sums of |product| become marks with `lazy`, else results.
  void start(Block &block, WarpgroupProduct &product);
  /// Closes the open group.
  void commit();
  /// Finishes the products of all closed groups but the latest |left|.
  void finish(Block &block, size_t left);
  /// Returns |word| or, if it is a mark of a finished product, the sum for which the mark stands. |thread| is the
  /// number of the thread in the warpgroup whose register holds |word|.
  uint32_t resolve(uint32_t word, uint32_t thread) const;

private:
  void perform(Block &block, uint32_t number);

  std::map<uint32_t, WarpgroupProduct> products; ///< by number
  std::vector<std::vector<uint32_t>> groups;     ///< the numbers of the products of each closed group, oldest first
  std::vector<uint32_t> open;                    ///< the numbers of the products of the open group
  uint32_t last = 0;                             ///< the number of the last product that was started
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_WARPGROUPS_H
