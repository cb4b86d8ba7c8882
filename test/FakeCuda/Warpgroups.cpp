//===- Warpgroups.cpp - Products of warpgroups -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Warpgroups.h"
#include "MemoryBarriers.h"
#include "Operations.h"
#include "Settings.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

using namespace attune;
using namespace attune::fake;

/// The rows M and the depth K of every wgmma.
static constexpr uint32_t rows = 64, depth = 16;
/// A mark is a quiet NaN. Bits 7 to 21 hold the number of a product, from 1 to |maxNumber|; bits 0 to 6 hold the index
/// of a sum among the sums of its thread.
static constexpr uint32_t markBits = 0x7fc00000, maxNumber = (1 << 15) - 1;
/// The number of products that a warpgroup keeps. Marks of older products are never replaced.
static constexpr size_t keptProducts = 64;

/// Returns the number that follows |before| in |text|, or -1 if |before| does not occur.
static int64_t numberAfter(const std::string &text, const std::string &before) {
  size_t at = text.find(before);
  return at == std::string::npos ? -1 : std::atoll(text.c_str() + at + before.size());
}

uint64_t ProductForm::Descriptor::read(const uint64_t *inputs) const {
  return layout < 0 ? inputs[input] : (inputs[input] + static_cast<uint64_t>(offset) & 0xffffffff) | static_cast<uint64_t>(layout) << 32;
}

/// Returns the descriptor whose operand is at offset |at| of |text|. The operand is $N, or a register that "mov.b64
/// REGISTER, {LOW, LAYOUT};" sets. LOW is $N, or a register that "add.s32 LOW, $N, OFFSET;" sets.
ProductForm::Descriptor ProductForm::findDescriptor(const std::string &text, size_t at) const {
  auto word = [](const std::string &from) { return from.substr(0, from.find_first_of(",;} ")); };
  auto after = [&](const std::string &before) {
    size_t found = text.find(before);
    return found == std::string::npos ? "" : text.substr(found + before.size());
  };
  Descriptor matrix{0, 0, -1};
  std::string name = word(text.substr(at));
  if (std::string halves = name[0] == '$' ? "" : after("mov.b64 " + name + ", {"); !halves.empty()) {
    name = word(halves);
    matrix.layout = std::atoll(halves.c_str() + halves.find(',') + 1);
  }
  if (std::string sum = name[0] == '$' ? "" : after("add.s32 " + name + ", "); !sum.empty()) {
    name = word(sum);
    matrix.offset = std::atoll(sum.c_str() + sum.find(',') + 1);
  }
  matrix.input = static_cast<uint32_t>(std::atoi(name.c_str() + 1)) - sums;
  return matrix;
}

ProductForm::ProductForm(const std::string &text) {
  size_t shape = text.find(".m64n");
  columns = static_cast<uint32_t>(std::atoi(text.c_str() + shape + 5));
  sums = columns / 2;
  isBf16 = text.find(".f32.bf16.bf16", shape) != std::string::npos;
  size_t list = text.find('{', shape), second = text.find('{', list + 1);
  aInRegisters = second != std::string::npos;
  // The immediate operands at the end are the signs of A and B, whether A is transposed (only if A is in shared
  // memory), and whether B is transposed.
  size_t end = text.rfind(';');
  bIsTransposed = text[text.find_last_not_of(' ', end - 1)] == '1';
  size_t comma = text.rfind(',', end);
  aIsTransposed = !aInRegisters && text[text.find_last_not_of(' ', comma - 1)] == '1';
  size_t atA = text.find_first_not_of("}, {", text.find('}', list)), afterA = text.find(aInRegisters ? '}' : ',', atA);
  aInput = static_cast<uint32_t>(numberAfter(text.substr(atA), "$")) - sums;
  a = findDescriptor(text, atA);
  b = findDescriptor(text, text.find_first_not_of("}, ", afterA));
  int64_t scale = numberAfter(text, "setp.ne.b32 p, $");
  scaleInput = scale < 0 ? -1 : scale - sums;
  isSum = numberAfter(text, "setp.ne.b32 p, ") != 0;
}

namespace {

/// A matrix of 16-bit elements in shared memory, given by its matrix descriptor: the low 18 bits of its address, two
/// distances in bytes, and the swizzle (none or 128 bytes). Rows below are rows of A or columns of B.
///
/// Without a swizzle, the matrix consists of core matrices of 8 x 8 elements, stored as 8 times 16 bytes. Core matrices
/// are |stride| apart along the rows and |leading| apart along k. With the swizzle, memory has rows of 128 bytes. If
/// the matrix is not transposed, such a row has 64 values of k, and groups of 8 rows are |stride| apart. If the matrix
/// is transposed, such a row has 64 rows at one k; groups of 8 values of k are |stride| apart, and groups of 64 rows
/// are |leading| apart.
struct Matrix {
  Matrix(Block &block, uint64_t descriptor)
      : block(block), start((descriptor & 0x3fff) << 4), leading((descriptor >> 16 & 0x3fff) << 4),
        stride((descriptor >> 32 & 0x3fff) << 4), isSwizzled(descriptor >> 62 == 1) {
    if (descriptor >> 62 > 1 || (isSwizzled && (descriptor >> 49 & 7)))
      block.fail("multiplies a matrix whose layout the emulator does not know");
  }
  /// Returns element (row, k). Neighbors in memory differ in k or, if |isTransposed|, in the row.
  uint16_t at(uint32_t row, uint32_t k, bool isTransposed) const {
    uint64_t offset = start;
    if (!isTransposed)
      offset += isSwizzled ? row / 8 * stride + row % 8 * 128 + 2 * k : row / 8 * stride + k / 8 * leading + row % 8 * 16 + k % 8 * 2;
    else
      offset += isSwizzled ? row / 64 * leading + row % 64 * 2 + k / 8 * stride + k % 8 * 128
                           : row / 8 * stride + k / 8 * leading + k % 8 * 16 + row % 8 * 2;
    return block.sharedElement(isSwizzled ? swizzle128(offset) : offset);
  }

  Block &block;
  uint64_t start, leading, stride;
  bool isSwizzled;
};

} // namespace

void Warpgroup::start(Block &block, WarpgroupProduct &product) {
  last = last % maxNumber + 1;
  open.push_back(last);
  WarpgroupProduct &kept = products[last] = product;
  if (products.size() > keptProducts)
    products.erase(products.find(last) == products.begin() ? std::prev(products.end()) : products.begin());
  if (!Settings::get().lazy)
    perform(block, last);
  for (size_t i = 0; i < kept.sums.size(); ++i)
    product.sums[i] = Settings::get().lazy ? markBits | last << 7 | static_cast<uint32_t>(i % kept.form->sums) : kept.sums[i];
}

void Warpgroup::commit() {
  groups.push_back(std::move(open));
  open.clear();
}

void Warpgroup::finish(Block &block, size_t left) {
  while (groups.size() > left) {
    if (Settings::get().lazy)
      for (uint32_t number : groups.front())
        perform(block, number);
    groups.erase(groups.begin());
  }
}

uint32_t Warpgroup::resolve(uint32_t word, uint32_t thread) const {
  uint32_t number = word >> 7 & maxNumber;
  auto found = (word & markBits) == markBits && word >> 31 == 0 ? products.find(number) : products.end();
  if (found == products.end() || !found->second.isDone)
    return word;
  return found->second.sums[thread * found->second.form->sums + (word & 127)];
}

void Warpgroup::perform(Block &block, uint32_t number) {
  WarpgroupProduct &product = products.at(number);
  const ProductForm &form = *product.form;
  auto number16 = [&](uint32_t bits) { return form.isBf16 ? fromBf16(bits) : fromF16(bits); };
  static float a[rows][depth], b[depth][256], sum[rows][256];
  if (form.aInRegisters) {
    for (uint32_t t = 0; t < warpgroupThreads; ++t)
      for (uint32_t r = 0; r < 4; ++r)
        for (uint32_t half = 0; half < 2; ++half)
          a[16 * (t / 32) + t % 32 / 4 + 8 * (r & 1)][2 * (t % 4) + 8 * (r >> 1) + half] =
              number16(product.aWords[4 * t + r] >> (16 * half) & 0xffff);
  } else {
    Matrix matrix(block, product.aMatrix);
    for (uint32_t m = 0; m < rows; ++m)
      for (uint32_t k = 0; k < depth; ++k)
        a[m][k] = number16(matrix.at(m, k, form.aIsTransposed));
  }
  Matrix matrix(block, product.bMatrix);
  for (uint32_t k = 0; k < depth; ++k)
    for (uint32_t n = 0; n < form.columns; ++n)
      b[k][n] = number16(matrix.at(n, k, form.bIsTransposed));
  auto place = [&](uint32_t t, uint32_t i) -> float & {
    return sum[16 * (t / 32) + t % 32 / 4 + 8 * (i / 2 % 2)][8 * (i / 4) + 2 * (t % 4) + i % 2];
  };
  for (uint32_t t = 0; t < warpgroupThreads; ++t)
    for (uint32_t i = 0; i < form.sums; ++i)
      place(t, i) = product.isSum ? toFloat(resolve(product.sums[t * form.sums + i], t)) : 0.0f;
  for (uint32_t m = 0; m < rows; ++m)
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t n = 0; n < form.columns; ++n)
        sum[m][n] += a[m][k] * b[k][n];
  for (uint32_t t = 0; t < warpgroupThreads; ++t)
    for (uint32_t i = 0; i < form.sums; ++i)
      product.sums[t * form.sums + i] = static_cast<uint32_t>(fromFloat(place(t, i)));
  product.isDone = true;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Executes wgmma.mma_async. The inputs are the former sums, if the product may be added to them, then A (a descriptor
/// or four words of two elements), the descriptor of B, and the flag of ProductForm::scaleInput if there is one.
static void multiply(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  static std::map<const emulated::Operation *, std::unique_ptr<ProductForm>> forms;
  std::unique_ptr<ProductForm> &form = forms[&operation];
  if (!form)
    form = std::make_unique<ProductForm>(operation.name);
  Block &block = Block::current();
  const ProductForm *known = form.get();
  block.meetWarpgroup(operation, inputs, outputs, [&block, known](Meeting &meeting, uint32_t first) {
    const uint64_t *in = meeting.inputs[first];
    WarpgroupProduct product{known, known->aInRegisters ? 0 : known->a.read(in), known->b.read(in), known->isSum, {}, {}};
    if (known->scaleInput >= 0)
      product.isSum = (in[known->scaleInput] & 0xffffffff) != 0;
    for (uint32_t t = 0; t < warpgroupThreads; ++t) {
      for (uint32_t i = 0; i < known->sums; ++i)
        product.sums.push_back(product.isSum ? static_cast<uint32_t>(meeting.inputs[first + t][i]) : 0);
      for (uint32_t r = 0; known->aInRegisters && r < 4; ++r)
        product.aWords.push_back(static_cast<uint32_t>(meeting.inputs[first + t][known->aInput + r]));
    }
    block.warpgroups[first / warpgroupThreads].start(block, product);
    for (uint32_t t = 0; t < warpgroupThreads; ++t)
      for (uint32_t i = 0; i < known->sums; ++i)
        meeting.outputs[first + t][i] = product.sums[t * known->sums + i];
  });
}

static void commitGroup(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  Block &block = Block::current();
  block.meetWarpgroup(operation, inputs, outputs,
                      [&block](Meeting &, uint32_t first) { block.warpgroups[first / warpgroupThreads].commit(); });
}

/// Executes wgmma.wait_group. The number of latest groups that it does not wait for is the input or, if the operation
/// returns sums, stands in its text. The sums are inputs and outputs, so that marks become results.
static void waitForGroups(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  Block &block = Block::current();
  const emulated::Operation *of = &operation;
  block.meetWarpgroup(operation, inputs, outputs, [&block, of](Meeting &meeting, uint32_t first) {
    Warpgroup &group = block.warpgroups[first / warpgroupThreads];
    const char *text = std::strstr(of->name, "aligned ");
    group.finish(block, text ? static_cast<size_t>(std::atoi(text + 8)) : meeting.inputs[first][0]);
    for (uint32_t t = 0; t < warpgroupThreads; ++t)
      for (uint32_t i = 0; i < of->numOutputs; ++i)
        meeting.outputs[first + t][i] = group.resolve(static_cast<uint32_t>(meeting.inputs[first + t][i]), t);
  });
}

/// Executes wgmma.fence, which orders accesses to registers; these need no order here. If the operation has outputs,
/// they are sums, which are also its inputs.
static void fence(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  std::copy_n(inputs, operation.numOutputs, outputs);
}

const HandlerEntry fake::warpgroupHandlers[] = {{"wgmma.mma_async", multiply},
                                                {"wgmma.commit_group", commitGroup},
                                                {"wgmma.wait_group", waitForGroups},
                                                {"wgmma.fence", fence},
                                                {nullptr, nullptr}};
