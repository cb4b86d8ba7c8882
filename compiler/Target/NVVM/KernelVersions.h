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

/// A parallel loop and the GEMM variant of its products by tensor cores. The variant of a loop without such products is
/// Small and has no effect.
struct KernelVersion {
  mlir::scf::ForallOp loop;
  GemmVariant variant;
  /// True if only the architecture of WgmmaTiles runs it, as blocks of warpgroups.
  bool isArchSpecific = false;
};

/// Returns the versions of |loop| and emits the branches by which the host chooses one of them at run time, so that a
/// kernel has only the registers and shared memory of its variant. A loop over (row, column) with products by tensor
/// cores, whose number of columns in an iteration is not constant, has a version for each GEMM variant that an
/// iteration may need. If |wgmma| has an architecture, the following loops get versions for this architecture, too:
///
/// - such a loop, if an iteration may need Large and matchProjectionLoop accepts it: of the variants Large and Small;
/// - such a loop, if an iteration may need Large, matchGroupedLoop accepts it, and isGroupedWarpgroups accepts its
///   product: of the variant Large;
/// - a loop that isWarpgroupAttention accepts: one version, for sequences with several query tiles.
///
/// Any other loop is returned alone, with the variant of its constant number of columns or else Small.
llvm::SmallVector<KernelVersion> createKernelVersions(mlir::scf::ForallOp loop, const WgmmaTiles &wgmma);

/// Returns true if |op| is a product that has code for each GemmVariant: of bf16 or f16, or by quantized weights.
bool isTensorCoreProduct(mlir::Operation *op);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_KERNELVERSIONS_H
