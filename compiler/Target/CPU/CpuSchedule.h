//===- CpuSchedule.h - Tile sizes per CPU, as data -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_CPUSCHEDULE_H
#define ATTUNE_COMPILER_TARGET_CPU_CPUSCHEDULE_H

#include "compiler/Target/CPU/DotUnit.h"
#include "dialect/Rt/IR/Schedule.h"
#include "llvm/ADT/StringSet.h"

namespace attune {

/// The properties of a CPU that its schedule depends on.
struct CpuFeatures {
  /// The bits of a vector register, and the number of vector registers.
  int64_t vectorBits = 512, vectorRegisters = 32;
  /// Features of x86; empty for other CPUs. "x86" is in the set for every x86 CPU. The other names are LLVM's:
  /// instructions for products of lower precision ("avx512bf16", "avx512vnni", "avxvnni", "amx-bf16", "amx-int8"), and
  /// "sse4a", which identifies CPUs of AMD.
  llvm::StringSet<> names;
};

/// Parameters that only the passes of CPUs read. They change speed, not results, except that |dotUnit| may change the
/// bits of bf16 products, and |roundsBF16| subnormal numbers that are rounded to bf16.
struct CpuSchedule {
  /// Vectors of 16 columns of attention's result that are accumulated at once, for each row.
  int64_t valueVectors = 3;
  /// Rows of scores whose exponentials are computed at once.
  int64_t softmaxRows = 8;
  /// Instructions for products of lower precision.
  DotUnit dotUnit = DotUnit::Avx512;
  /// True if the CPU has vpdpbusd for its widest vectors: this instruction multiplies unsigned by signed bytes and adds
  /// four products.
  bool vnni = false;
  /// The prefetch of weights (see PanelPrefetch.cpp). With 4 streams, a block of one to three row tiles prefetches four
  /// parts of the next panel side by side. With 1 stream, a block of one row tile prefetches the weights
  /// |prefetchAhead| bytes after those in use; in products by weights with a scale per group, a tile of a single row
  /// then prefetches nothing. All other blocks prefetch the next panel in one stream. Where one row reads several
  /// panels side by side, it prefetches in each panel at the distance of |prefetchAhead| bytes divided by the number of
  /// panels, with either number of streams. The better choice depends on the CPU: see docs/measurements.md.
  int64_t prefetchStreams = 4, prefetchAhead = 16384;
  /// True if the CPU has an instruction that rounds f32 to bf16.
  bool roundsBF16 = false;
};

/// Returns the tile sizes and layouts of CPUs with |features|.
mlir::rt::Schedule getSchedule(const CpuFeatures &features);
/// Returns the parameters of CPUs with |features| that only the passes of CPUs read.
CpuSchedule getCpuSchedule(const CpuFeatures &features);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_CPUSCHEDULE_H
