//===- EmitModel.h - From the phase target to files -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_EMITMODEL_H
#define ATTUNE_COMPILER_DRIVER_EMITMODEL_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Target/Target.h"

#include <memory>

namespace attune {

/// The LLVM side of one compilation.
class ModelEmitter {
public:
  /// |emission| has the kernels that are not part of the host module.
  ModelEmitter(const CompileOptions &options, const HostMachine &host, const Target &target, TargetEmission &emission)
      : options(options), host(host), target(target), emission(emission) {}

  /// Translates |module|, which is in the LLVM dialect, and links the kernels it calls.
  Status translate(mlir::ModuleOp module);
  /// Adds the descriptor of |signature|, to which it adds the target's own kernels. The build id is a hash of the host code and the images
  /// for GPUs, the signature, the flags and |packed|, the weights file of each rank, which is empty if nothing is packed.
  Status describe(ModelSignature &signature, const std::string &name, llvm::ArrayRef<PackingResult> packed);
  void optimize();
  /// Returns the text of the LLVM IR.
  std::string print() const;
  /// Returns the assembly, or the object, whose guarantees are checked (see checkObject).
  Result<std::string> emit(bool assembly) const;

  const llvm::Module &hostModule() const { return *llvmModule; }
  /// Returns the contents of the descriptor that describe() set.
  const DescriptorOptions &descriptor() const { return described; }

private:
  const CompileOptions &options;
  const HostMachine &host;
  const Target &target;
  TargetEmission &emission;
  DescriptorOptions described;
  // Declared after its context, so that the module is destroyed first.
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_EMITMODEL_H
