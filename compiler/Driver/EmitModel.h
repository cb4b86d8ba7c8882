//===- EmitModel.h - From the phase target to files -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_EMITMODEL_H
#define ATTUNE_COMPILER_DRIVER_EMITMODEL_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Target/Target.h"

#include <memory>

namespace attune {

/// The part of one compilation from the `llvm` dialect to code: translation, descriptor, optimization and emission.
class ModelEmitter {
public:
  /// |emission| has the kernels that are not part of the host module.
  ModelEmitter(const CompileOptions &options, const HostMachine &host, const Target &target, TargetEmission &emission)
      : options(options), host(host), target(target), emission(emission) {}

  /// Removes the weights and the attributes of Attune's dialects from |module|, which is in the LLVM dialect,
  /// translates it to LLVM IR, and links the kernels that it calls.
  Status translate(mlir::ModuleOp module);
  /// Adds the target's own kernels to |signature|, and the descriptor of |signature| to the host module. The build id
  /// in the descriptor is a hash of the compiler's version, the host code, the images for GPUs, the signature, the
  /// flags and |packed|. |packed| has the weights file of each rank and is empty if nothing is packed.
  Status describe(ModelSignature &signature, const std::string &name, llvm::ArrayRef<PackingResult> packed);
  void optimize();
  /// Returns the text of the LLVM IR of the host code and, if the target has any, of the device code.
  std::string print() const;
  /// Returns the assembly of the host code if |assembly|, else the object, whose guarantees are checked (see
  /// checkObject).
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
  // The context is declared before the module, so that the module is destroyed first.
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_EMITMODEL_H
