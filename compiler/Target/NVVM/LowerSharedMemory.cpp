//===- LowerSharedMemory.cpp - Shared memory as an external array ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects gpu.dynamic_shared_memory and buffers in the address space `workgroup`. The operation becomes the address of
// an external array. MLIR's own lowering creates an internal array, behind which the assembler places static shared
// memory, so that both would overlap. The address space becomes its number, since MLIR's conversion of vectors does not
// know `workgroup`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/Passes.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace attune {
#define GEN_PASS_DEF_LOWERSHAREDMEMORY
#include "compiler/Target/NVVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

static constexpr llvm::StringLiteral kSymbol = "attune_shared";
/// The alignment that swizzled TMA loads require, in bytes.
static constexpr int64_t kAlignment = 1024;
static constexpr unsigned kShared = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);

/// Replaces |op| by a buffer whose memory is |array|.
static void lower(gpu::DynamicSharedMemoryOp op, LLVM::GlobalOp array) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(), MemRefLayoutAttrInterface(), builder.getI64IntegerAttr(kShared));
  LLVMTypeConverter converter(builder.getContext());
  auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  Value data = LLVM::AddressOfOp::create(builder, loc, array);
  descriptor.setAllocatedPtr(builder, loc, data);
  descriptor.setAlignedPtr(builder, loc, data);
  descriptor.setConstantOffset(builder, loc, 0);
  descriptor.setConstantSize(builder, loc, 0, std::numeric_limits<int32_t>::max());
  descriptor.setConstantStride(builder, loc, 0, 1);
  op.replaceAllUsesWith(UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor)).getResult(0));
  op.erase();
}

namespace {
struct LowerSharedMemory : attune::impl::LowerSharedMemoryBase<LowerSharedMemory> {
  void runOnOperation() override {
    SmallVector<gpu::DynamicSharedMemoryOp> uses;
    getOperation().walk([&](gpu::DynamicSharedMemoryOp op) { uses.push_back(op); });
    if (uses.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    auto array = LLVM::GlobalOp::create(builder, getOperation().getLoc(), bytes, /*isConstant=*/false, LLVM::Linkage::External, kSymbol,
                                        Attribute(), kAlignment, kShared);
    for (gpu::DynamicSharedMemoryOp op : uses)
      lower(op, array);
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](gpu::AddressSpaceAttr space) -> std::optional<Attribute> {
      if (space.getValue() == gpu::AddressSpace::Workgroup)
        return IntegerAttr::get(IntegerType::get(&getContext(), 64), kShared);
      return std::nullopt;
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/false, /*replaceLocs=*/false, /*replaceTypes=*/true);
  }
};
} // namespace
