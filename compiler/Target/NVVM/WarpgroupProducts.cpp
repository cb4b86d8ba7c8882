//===- WarpgroupProducts.cpp - Products of warpgroups ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// MLIR's wgmma operation has no operand A in registers and takes the sums as operands even if it ignores them, and
// MLIR's wait does not order accesses to the sums. So products are inline PTX whose results are the sums. If a product
// is added to earlier sums, these are operands, too. The first product of a tile has no such operands, so that no
// instruction writes zeros to registers between the fence and the product.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

/// Emits the inline PTX |text|, which returns |count| f32 values and reads |others|. |constraints| are the constraints
/// of |others|, each after a comma. If |sums| is not empty, the results are in the same registers as |sums|.
static Values emitAsm(ThreadBuilder &e, StringRef text, int64_t count, ValueRange sums, ValueRange others, StringRef constraints) {
  std::string all;
  llvm::raw_string_ostream stream(all);
  // Without sums, results must not share registers with operands, which are still read after the instruction.
  llvm::interleave(SmallVector<StringRef>(count, sums.empty() ? "=&f" : "=f"), stream, ",");
  for (size_t i = 0; i < sums.size(); ++i)
    stream << ',' << i;
  stream << (count == 0 && sums.empty() ? constraints.drop_front() : constraints); // no comma before the first one
  Type type;
  if (count > 0)
    type = LLVM::LLVMStructType::getLiteral(e.getContext(), SmallVector<Type>(count, e.getF32Type()));
  SmallVector<Value> operands(sums);
  llvm::append_range(operands, others);
  Value after = LLVM::InlineAsmOp::create(e, type, operands, text, all, /*has_side_effects=*/true, /*is_align_stack=*/false,
                                          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
                    .getRes();
  Values parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(LLVM::ExtractValueOp::create(e, after, i));
  return parts;
}

/// The unit of addresses and distances in a descriptor, in bytes.
static constexpr int64_t kDescriptorUnit = 16;

SharedMatrix WarpgroupProducts::matrix(Value address, const MatrixLayout &layout) {
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(e, value, 32); };
  Value number = LLVM::PtrToIntOp::create(e, e.getI32Type(), address);
  Value start = arith::AndIOp::create(e, arith::ShRUIOp::create(e, number, constant(4)), constant(0x3fff));
  start = arith::OrIOp::create(e, start, constant(layout.leading / kDescriptorUnit << 16));
  return {start, (layout.isSwizzled ? int64_t(1) << 30 : 0) | layout.stride / kDescriptorUnit};
}

void WarpgroupProducts::commit() { NVVM::WgmmaGroupSyncAlignedOp::create(e); }
void WarpgroupProducts::wait(int64_t left) { NVVM::WgmmaWaitGroupSyncOp::create(e, static_cast<uint64_t>(left)); }

/// Returns the constraints of |count| words in registers, each after a comma, as emitAsm expects them.
static std::string wordConstraints(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += ",r";
  return text;
}

Values WarpgroupProducts::fence(ValueRange sums, ValueRange operands) {
  if (sums.empty() && operands.empty()) {
    NVVM::WgmmaFenceAlignedOp::create(e);
    return {};
  }
  return emitAsm(e, "wgmma.fence.sync.aligned;", static_cast<int64_t>(sums.size()), sums, operands, wordConstraints(operands.size()));
}

Values WarpgroupProducts::wait(int64_t left, ValueRange values, ValueRange operands) {
  return emitAsm(e, "wgmma.wait_group.sync.aligned " + std::to_string(left) + ";", static_cast<int64_t>(values.size()), values, operands,
                 wordConstraints(operands.size()));
}

Values WarpgroupProducts::multiply(int64_t columns, const ProductRows &a, SharedMatrix b, bool bIsTransposed) {
  return emit({}, columns / 2, a, b, bIsTransposed);
}

Values WarpgroupProducts::add(ValueRange sums, const ProductRows &a, SharedMatrix b, bool bIsTransposed) {
  return emit(sums, static_cast<int64_t>(sums.size()), a, b, bIsTransposed);
}

/// Emits one product with |count| sums per thread. If |sums| is not empty, the product is added to them.
Values WarpgroupProducts::emit(ValueRange sums, int64_t count, const ProductRows &a, SharedMatrix b, bool bIsTransposed) {
  std::string text, product, constraints;
  llvm::raw_string_ostream before(text), stream(product);
  Values operands;
  auto operand = [&](Value value, StringRef constraint) {
    operands.push_back(value);
    constraints += constraint;
    return "$" + std::to_string(count + static_cast<int64_t>(sums.size() + operands.size()) - 1);
  };
  auto matrix = [&](const SharedMatrix &from, StringRef name) {
    std::string start = operand(from.start, ",r");
    if (from.bytes != 0) {
      before << " .reg .b32 " << name << "0; add.s32 " << name << "0, " << start << ", " << from.bytes / kDescriptorUnit << ';';
      start = (name + "0").str();
    }
    before << " .reg .b64 " << name << "; mov.b64 " << name << ", {" << start << ", " << from.layout << "};";
    return name;
  };
  StringRef type = element.isF16() ? "f16" : "bf16";
  before << "{ .reg .pred p; setp.ne.b32 p, " << (sums.empty() ? 0 : 1) << ", 0;";
  stream << " wgmma.mma_async.sync.aligned.m64n" << 2 * count << "k16.f32." << type << '.' << type << " {";
  for (int64_t i = 0; i < count; ++i)
    stream << (i ? ", " : "") << '$' << i;
  stream << "}, ";
  if (a.words.empty()) {
    stream << matrix(a.matrix, "a");
  } else {
    stream << '{';
    for (auto [i, word] : llvm::enumerate(a.words))
      stream << (i ? ", " : "") << operand(word, ",r");
    stream << '}';
  }
  stream << ", " << matrix(b, "b");
  // Neither operand is negated; A in shared memory is not transposed.
  stream << ", p, 1, 1, " << (a.words.empty() ? "0, " : "") << (bIsTransposed ? 1 : 0) << "; }";
  return emitAsm(e, text + product, count, sums, operands, constraints);
}
