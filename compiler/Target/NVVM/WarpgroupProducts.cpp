//===- WarpgroupProducts.cpp - Products of warpgroups ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Upstream's operation has neither A in registers nor sums that may not count, and its wait does not hold sums back; so this is inline PTX
// whose sums are operands and results.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attune;
using Values = ThreadEmitter::Values;

/// Emits |text|, which replaces |sums| and reads |others|, whose constraints are |constraints|.
static Values emitOnSums(ThreadEmitter &e, StringRef text, ValueRange sums, ValueRange others, StringRef constraints) {
  std::string all;
  llvm::raw_string_ostream stream(all);
  llvm::interleave(SmallVector<StringRef>(sums.size(), "=f"), stream, ",");
  for (size_t i = 0; i < sums.size(); ++i)
    stream << ',' << i;
  stream << constraints;
  auto type = LLVM::LLVMStructType::getLiteral(e.builder.getContext(), SmallVector<Type>(sums.size(), e.builder.getF32Type()));
  SmallVector<Value> operands(sums);
  llvm::append_range(operands, others);
  Value after = LLVM::InlineAsmOp::create(e.builder, e.loc, type, operands, text, all, /*has_side_effects=*/true, /*is_align_stack=*/false,
                                          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
                    .getRes();
  Values parts;
  for (size_t i = 0; i < sums.size(); ++i)
    parts.push_back(LLVM::ExtractValueOp::create(e.builder, e.loc, after, static_cast<int64_t>(i)));
  return parts;
}

Value WarpgroupProducts::matrix(Value address, const MatrixLayout &layout) {
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(builder, e.loc, value, 64); };
  Value number = LLVM::PtrToIntOp::create(builder, e.loc, i64, address);
  Value start = arith::AndIOp::create(builder, e.loc, arith::ShRUIOp::create(builder, e.loc, number, constant(4)), constant(0x3fff));
  int64_t rest = (layout.isSwizzled ? int64_t(1) << 62 : 0) | layout.stride / 16 << 32 | layout.leading / 16 << 16;
  return arith::OrIOp::create(builder, e.loc, start, constant(rest));
}

Value WarpgroupProducts::advance(Value matrix, int64_t bytes) {
  return bytes == 0 ? matrix : arith::AddIOp::create(builder, e.loc, matrix, arith::ConstantIntOp::create(builder, e.loc, bytes / 16, 64));
}

void WarpgroupProducts::fence() { NVVM::WgmmaFenceAlignedOp::create(builder, e.loc); }
void WarpgroupProducts::commit() { NVVM::WgmmaGroupSyncAlignedOp::create(builder, e.loc); }
void WarpgroupProducts::wait(int64_t left) { NVVM::WgmmaWaitGroupSyncOp::create(builder, e.loc, static_cast<uint64_t>(left)); }

Values WarpgroupProducts::wait(int64_t left, ValueRange sums) {
  return emitOnSums(e, "wgmma.wait_group.sync.aligned " + std::to_string(left) + ";", sums, {}, "");
}

Values WarpgroupProducts::multiply(ValueRange sums, ValueRange a, Value b, bool bIsTransposed, Value adds) {
  std::string text, constraints;
  llvm::raw_string_ostream stream(text);
  size_t operand = 2 * sums.size();
  auto list = [&](size_t first, size_t count) {
    stream << '{';
    for (size_t i = 0; i < count; ++i)
      stream << (i ? ", " : "") << '$' << first + i;
    stream << "}, ";
  };
  bool inRegisters = a.size() == 4;
  StringRef type = element.isF16() ? "f16" : "bf16";
  stream << "{ .reg .pred p; setp.ne.b32 p, $" << operand + a.size() + 1 << ", 0; wgmma.mma_async.sync.aligned.m64n" << 2 * sums.size()
         << "k16.f32." << type << '.' << type << ' ';
  list(0, sums.size());
  if (inRegisters)
    list(operand, 4);
  else
    stream << '$' << operand << ", ";
  stream << '$' << operand + a.size() << ", p, 1, 1, " << (inRegisters ? "" : "0, ") << (bIsTransposed ? 1 : 0) << "; }";
  for (Value part : a)
    constraints += part.getType().isInteger(32) ? ",r" : ",l";
  constraints += ",l,r";
  SmallVector<Value> others(a);
  others.push_back(b);
  others.push_back(arith::ExtUIOp::create(builder, e.loc, builder.getI32Type(), adds));
  return emitOnSums(e, text, sums, others, constraints);
}
