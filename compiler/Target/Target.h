//===- Target.h - The interface of all targets -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target is a kind of machine that kernels run on. The pipelines and the driver use targets through this interface
// only:
//
//     TargetRequest   the flags that choose a target
//     TargetInfo      a target of this build, by name
//     Target          the target of one compilation: its schedule, and the passes in which targets differ
//     TargetEmission  the code generation of one module after the phase `kernels`, for code outside the host module
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_TARGET_H
#define ATTUNE_COMPILER_TARGET_TARGET_H

#include "compiler/Object/Descriptor.h"
#include "compiler/Object/Emit.h"
#include "compiler/Object/HostMachine.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "dialect/Xfmr/IR/WeightFormats.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <map>
#include <memory>

namespace attune {

/// The flags that choose a target. An empty text stands for the target's default.
struct TargetRequest {
  /// `--target`; empty for the first target of the build.
  std::string name;
  /// `--gpu`: the GPUs that a target for GPUs compiles for, such as "sm_80,sm_90a".
  std::string gpu;
  /// `--kernels`: the kernel backend of a target for CPUs.
  std::string kernels;
  /// `--set KEY=VALUE`: the settings of the kernel backend, by key.
  std::map<std::string, std::string> settings;
  /// `--dtype`: the operand type of projections.
  mlir::xfmr::Precision precision = mlir::xfmr::Precision::F32;
  /// `--weights-format`: the formats of weights.
  mlir::xfmr::WeightFormats weightFormats = {};
  /// `--cache-dtype`: the type of the elements of caches of keys and values.
  mlir::xfmr::Precision cachePrecision = mlir::xfmr::Precision::F32;
  /// True for `--weights-format=auto`: the target chooses the format of projections, which is native in
  /// |weightFormats|.
  bool choosesFormat = false;
};

/// The state of a target for one module, from the phase `kernels` to its object.
class TargetEmission {
public:
  virtual ~TargetEmission();
  /// If other programs compile kernels of the target, starts processes that do so in parallel to the phases after
  /// `kernels`. |module| is the result of the phase `kernels`.
  virtual Status start(mlir::ModuleOp module) { return {}; }
  /// Completes the code of kernels outside the host module. |module| is the result of the phase `target`, before its
  /// translation to LLVM IR. Waits for the processes of start(), or removes the GPU kernels of |module| and compiles
  /// them to device code.
  virtual Status takeKernels(mlir::ModuleOp module) { return {}; }
  /// Returns the name of takeKernels() in the report of the time of each step; "" if the report omits it.
  virtual llvm::StringRef stepName() const { return ""; }
  /// Links the kernels that processes have compiled for the CPU, if any, into |host|, the LLVM IR of the host module.
  /// Called after takeKernels().
  virtual Status linkHost(llvm::Module &host) { return {}; }
  /// Returns the CPU features that |host| needs in addition to HostMachine::requiredFeatures, each after a comma, as
  /// ",a,b"; "" if it needs none.
  virtual std::string hostFeatures(const llvm::Module &host) const { return ""; }
  /// Adds the device code, if any, to |descriptor|. Functions of the device code that belong to no kernel in
  /// |signature|, such as copies between kernels, are listed as one kernel, which is added to |signature|.
  virtual void describe(ModelSignature &signature, DescriptorOptions &descriptor) const {}
  /// Returns the device code as PTX, that for the first GPU if there are several. Called only if Target::checkEmit
  /// allows EmitKind::Ptx.
  virtual std::string deviceText() const;
  /// Prints the LLVM IR of the device code, if any.
  virtual void print(llvm::raw_ostream &stream) const {}
};

/// A target of one compilation. Immutable.
class Target {
public:
  virtual ~Target();

  /// Returns the name, as in `--target`.
  virtual llvm::StringRef name() const = 0;
  /// Returns the attribute that describes this target; readTarget of it returns an equal target, except that settings
  /// of a kernel backend (`--set`) have their defaults.
  virtual mlir::rt::TargetAttr attribute(mlir::MLIRContext *context) const = 0;
  /// Returns the tile sizes and layouts for the passes that all targets share.
  virtual const mlir::rt::Schedule &schedule() const = 0;
  /// Returns the operand type of projections.
  mlir::xfmr::Precision precision() const { return rounding; }
  /// Returns the formats in which weights are stored.
  const mlir::xfmr::WeightFormats &weightFormats() const { return formats; }
  /// Returns the type of the elements of caches of keys and values.
  mlir::xfmr::Precision cachePrecision() const { return cacheRounding; }
  /// Returns true if embeddings may read their rows from packed weights, so that a matrix that is both a table and the
  /// weight of a projection is stored once.
  virtual bool readsPackedRows() const { return false; }
  /// Returns the name of the backend that compiles kernels whose `tile.kernel` attribute names none, such as "mlir".
  virtual llvm::StringRef defaultBackend() const = 0;
  /// Returns the flags that select this target, its GPUs and its kernel backend with its settings, "--a=b --c=d"; "" if
  /// the defaults select them.
  virtual std::string flags() const { return ""; }
  /// Returns the paths of the programs, other than the compiler, that take part in compiling kernels. The files are
  /// part of the key of a cached model, so that a model is compiled again after a program changes.
  virtual std::vector<std::string> programs() const { return {}; }
  /// Returns an error if the target has no output of |kind|.
  virtual Status checkEmit(EmitKind kind) const;
  /// Returns an error if the target has no collectives for |ranks| ranks.
  virtual Status checkRanks(int64_t ranks) const { return {}; }

  // The passes in which targets differ. |schedule| is the attribute `rt.schedule` of the module. It equals schedule()
  // unless it was edited in a dump of the module.
  /// Adds the passes at the end of phase `kernels`.
  virtual void addKernelPasses(mlir::OpPassManager &pm) const {}
  /// Adds the passes of phase `bufferized` on the buffers of kernels, before `attune-plan-memory`.
  virtual void addBufferPasses(mlir::OpPassManager &pm, const mlir::rt::Schedule &schedule) const = 0;
  /// Adds the passes of phase `vector`.
  virtual void addVectorPasses(mlir::OpPassManager &pm, const mlir::rt::Schedule &schedule) const = 0;
  /// Adds the passes of phase `target`.
  virtual void addTargetPasses(mlir::OpPassManager &pm) const = 0;

  /// Returns the emission of one module, whose host code runs on |host|; |host| must outlive the emission. An error if
  /// a program that the target needs is missing, or if a kernel backend cannot compile for |host|.
  virtual Result<std::unique_ptr<TargetEmission>> createEmission(const HostMachine &host) const = 0;

protected:
  explicit Target(mlir::xfmr::Precision rounding, mlir::xfmr::WeightFormats formats = {},
                  mlir::xfmr::Precision cacheRounding = mlir::xfmr::Precision::F32)
      : rounding(rounding), formats(std::move(formats)), cacheRounding(cacheRounding) {}

private:
  mlir::xfmr::Precision rounding;
  mlir::xfmr::WeightFormats formats;
  mlir::xfmr::Precision cacheRounding;
};

/// A target of this build.
struct TargetInfo {
  std::string name;
  void (*registerDialects)(mlir::DialectRegistry &registry);
  void (*registerPasses)();
  /// Returns the target that |request| asks for. |host| is the machine of the host code, and of kernels on a CPU.
  /// Errors begin with the flag that is wrong.
  Result<std::unique_ptr<Target>> (*create)(const TargetRequest &request, const HostMachine &host);
  /// Returns the target that |attribute| describes. An error if a property is wrong.
  Result<std::unique_ptr<Target>> (*read)(mlir::rt::TargetAttr attribute);
};

/// Registers |info|, unless a target of that name is registered.
void registerTarget(TargetInfo info);
/// Returns all targets of this build, in the order of their registration.
llvm::ArrayRef<TargetInfo> getTargets();

/// Returns the target that |request| asks for. An error if this build lacks the target, or the error of
/// TargetInfo::create. |host| is as there.
Result<std::unique_ptr<Target>> createTarget(const TargetRequest &request, const HostMachine &host);
/// Returns the target that |attribute| describes. An error if this build lacks the target or if a property is wrong.
Result<std::unique_ptr<Target>> readTarget(mlir::rt::TargetAttr attribute);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_TARGET_H
