//===- KernelBackend.h - Code generators for CPU kernels -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_KERNELBACKEND_H
#define ATTUNE_COMPILER_TARGET_KERNELBACKEND_H

#include "compiler/Target/Target.h"

namespace attune {

/// The vectors and register tiles in the schedule of a CPU, for backends that tile kernels by themselves.
struct KernelTiles {
  /// Bits of a vector register.
  int64_t vectorBits;
  /// The maximum rows of a register tile of f32 products, and its columns, those of a packed panel.
  int64_t rows, columns;
  /// The prefetch distance of weights, in bytes.
  int64_t prefetchAhead;
};

/// A code generator for some kernels of a CPU; our own passes compile the others.
class KernelBackend {
public:
  virtual ~KernelBackend();
  /// Returns the name, as in `--kernels` and in the attribute `tile.kernel` of its kernels.
  virtual llvm::StringRef name() const = 0;
  /// Replaces tile sizes in |schedule| that the backend cannot use.
  virtual void adjust(mlir::rt::Schedule &schedule) const {}
  /// Returns the flags other than `--kernels` that differ from their defaults, each after a space: " --a=b".
  virtual std::string flags() const { return ""; }
  /// Returns the paths of the programs, other than the compiler, that compile kernels; see Target::programs.
  virtual std::vector<std::string> programs() const { return {}; }
  /// Adds the passes that select the kernels of the backend and mark them in `tile.kernel`, at the end of phase
  /// `kernels`.
  virtual void addSelectPasses(mlir::OpPassManager &pm) const = 0;
  /// Adds the passes of phase `vector` for the kernels that addSelectPasses() has marked. These passes replace the
  /// computation in a kernel's parallel loop by a call of the function that the backend compiles.
  virtual void addTilePasses(mlir::OpPassManager &pm) const = 0;
  /// Returns the emission of one module, whose kernels run on |host| and have the vectors and tiles of |tiles|. An
  /// error if the backend cannot compile for |host|, or if a program is missing.
  virtual Result<std::unique_ptr<TargetEmission>> createEmission(const HostMachine &host, const KernelTiles &tiles) const = 0;
};

/// A backend of this build.
struct KernelBackendInfo {
  std::string name;
  void (*registerDialects)(mlir::DialectRegistry &registry);
  void (*registerPasses)();
  /// Returns the backend with |settings|. Errors begin with the flag that is wrong.
  Result<std::unique_ptr<KernelBackend>> (*create)(const std::map<std::string, std::string> &settings);
};

/// The value of `--kernels` for our own passes.
inline constexpr llvm::StringLiteral kOwnKernels = "mlir";

/// Registers |info|, unless a backend of that name is registered.
void registerKernelBackend(KernelBackendInfo info);
/// Returns all backends of this build, in the order of their registration.
llvm::ArrayRef<KernelBackendInfo> getKernelBackends();
/// Returns the backend called |name|; null if |name| is kOwnKernels or empty, which mean our own passes. An error if
/// the backend is not in this build or if |settings| are wrong; our own passes have no settings.
Result<std::unique_ptr<KernelBackend>> createKernelBackend(llvm::StringRef name, const std::map<std::string, std::string> &settings);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_KERNELBACKEND_H
