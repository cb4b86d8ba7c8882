//===- MarkTensorMaps.cpp - TMA descriptors as kernel parameters -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attune/abi.h"
#include "compiler/Target/NVVM/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace attune {
#define GEN_PASS_DEF_MARKTENSORMAPS
#include "compiler/Target/NVVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct MarkTensorMaps : attune::impl::MarkTensorMapsBase<MarkTensorMaps> {
  void runOnOperation() override {
    Builder builder(&getContext());
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), ATTUNE_TENSOR_MAP_BYTES);
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      auto launched = kernel->getAttrOfType<rt::DeviceFunctionAttr>(rt::kDeviceFunctionAttr);
      if (launched && launched.getTensorMaps() > kernel.getNumArguments()) {
        kernel.emitError("expects at most ") << kernel.getNumArguments() << " tensor maps, one for each parameter, but got "
                                             << launched.getTensorMaps();
        return signalPassFailure();
      }
      for (unsigned i = 0; launched && i < launched.getTensorMaps(); ++i) {
        kernel.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
        kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(ATTUNE_TENSOR_MAP_ALIGNMENT));
        kernel.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
      }
    }
  }
};
} // namespace
