//===- KernelVersions.h - Kernels for each variant of projections -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_KERNELVERSIONS_H
#define ATTUNE_COMPILER_TARGET_NVVM_KERNELVERSIONS_H

#include "compiler/Target/NVVM/ProjectionLoop.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// The schedule of architecture-specific kernels: the compute capability times 10 (0 for none), the columns and stages
/// of the Large tile of projections, and the bytes of keys and values that concurrent blocks of attention read.
struct WgmmaTiles {
  int64_t arch = 0, columns = 0, stages = 0, cacheBytes = 0;

  /// Returns the tile of |variant|, Large or Small. All stages of Small together have at most the bytes of those of
  /// Large.
  WgmmaTile tileOf(GemmVariant variant) const {
    int64_t small = getMaxColumns(GemmVariant::Small), large = getMaxColumns(GemmVariant::Large);
    return variant == GemmVariant::Large ? WgmmaTile{columns, stages, large}
                                         : WgmmaTile{small, stages * (kWarpgroupRows + columns) / (kWarpgroupRows + small), small};
  }
};

/// A parallel loop and the variant of the low-precision projections in it.
struct KernelVersion {
  mlir::scf::ForallOp loop;
  GemmVariant variant;
  /// True if only the architecture of WgmmaTiles runs it, as blocks of warpgroups.
  bool isArchSpecific = false;
};

/// Clones |loop| once for each GEMM variant that the number of columns of its iterations may need. The host chooses one
/// at run time, so a kernel has only the registers and shared memory of its variant. If |wgmma| has an architecture,
/// adds versions for this architecture only: of the variants Large and Small, if an iteration may need Large and
/// matchProjectionLoop accepts |loop|; of the variant Large, if isGroupedWarpgroups accepts the product that is |loop|;
/// or one version of attention, if isWarpgroupAttention accepts |loop|. A loop that needs no versions is returned
/// alone.
llvm::SmallVector<KernelVersion> createKernelVersions(mlir::scf::ForallOp loop, const WgmmaTiles &wgmma);

/// Returns true if |op| is a product that has code for each GemmVariant: of bf16 or f16, or by quantized weights.
bool isTensorCoreProduct(mlir::Operation *op);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_KERNELVERSIONS_H
