//===- KernelVersions.h - Kernels for each variant of projections -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_KERNELVERSIONS_H
#define ATTUNE_COMPILER_TARGET_NVVM_KERNELVERSIONS_H

#include "compiler/Target/NVVM/LowPrecisionProjection.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// The schedule of architecture-specific kernels: the compute capability times 10 (0 for none), the columns and stages
/// of tiles of projections, and the bytes of keys and values that concurrent blocks of attention read.
struct WgmmaTiles {
  int64_t arch = 0, columns = 0, stages = 0, cacheBytes = 0;
};

/// A parallel loop and the variant of the low-precision projections in it.
struct KernelVersion {
  mlir::scf::ForallOp loop;
  GemmVariant variant;
  /// True if only the architecture of WgmmaTiles runs it, as blocks of warpgroups.
  bool isArchSpecific = false;
};

/// Clones |loop| once per GEMM variant that its block width may need. The host picks one, so a kernel has the registers
/// and shared memory of one variant. The largest variant also gets a version for the architecture of |wgmma|, if any. A
/// |loop| without such projections is returned alone.
llvm::SmallVector<KernelVersion> createKernelVersions(mlir::scf::ForallOp loop, const WgmmaTiles &wgmma);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_KERNELVERSIONS_H
