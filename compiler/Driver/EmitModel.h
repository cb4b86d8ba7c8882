//===- EmitModel.h - From the phase target to files -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_EMITMODEL_H
#define ATTUNE_COMPILER_DRIVER_EMITMODEL_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Object/Descriptor.h"
#include "compiler/Object/HostMachine.h"
#include "compiler/Target/NVVM/DeviceModule.h"

#include <memory>

namespace attune {

/// The LLVM side of one compilation.
class ModelEmitter {
public:
  ModelEmitter(const CompileOptions &options, const HostMachine &target) : options(options), target(target) {}

  /// Translates |module|, which is in the LLVM dialect, and links the |kernels| it calls, bitcode by Halide.
  Status translate(mlir::ModuleOp module, const std::vector<std::string> &kernels);
  /// Adds the descriptor of |signature|. The build id follows from |packed|, the code and the flags; |packed| is null if nothing is packed.
  Status describe(const ModelSignature &signature, const std::string &name, const PackingResult *packed);
  /// Makes the images of the kernels that translate found, for the GPUs that the options ask for. Before describe.
  Status emitDevice(ModelSignature &signature);
  /// The PTX for the first of them.
  Result<std::string> ptx() const;
  void optimize();
  /// The text of the LLVM IR.
  std::string print() const;
  /// The assembly, or the object, checked against what an object promises.
  Result<std::string> emit(bool assembly) const;

  /// What describe decided.
  const DescriptorOptions &descriptor() const { return described; }

private:
  const CompileOptions &options;
  const HostMachine &target;
  DescriptorOptions described;
  // The module before the context it lives in.
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule;
  /// The kernels, if they run on a GPU.
  std::unique_ptr<llvm::Module> deviceModule;
  std::vector<DeviceFunction> deviceFunctions;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_EMITMODEL_H
