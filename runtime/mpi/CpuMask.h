//===- CpuMask.h - The CPUs of a rank ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_MPI_CPUMASK_H
#define ATTUNE_RUNTIME_MPI_CPUMASK_H

#include <sched.h>

namespace attune::ranks {

/// The CPUs on which a thread may run. Ranks exchange masks as bytes.
class CpuMask {
public:
  /// Returns the mask of the calling thread; an empty one if the system refuses to tell it.
  static CpuMask ofThread() {
    CpuMask mask;
    (void)sched_getaffinity(0, sizeof(mask.sets), mask.sets);
    return mask;
  }

  int count() const { return CPU_COUNT_S(sizeof(sets), sets); }
  bool intersects(const CpuMask &other) const {
    CpuMask both;
    CPU_AND_S(sizeof(sets), both.sets, sets, other.sets);
    return both.count() != 0;
  }

private:
  /// Room for 8192 CPUs, as in attune_available_cpus: the system refuses a mask that is smaller than its own.
  cpu_set_t sets[8] = {};
};

} // namespace attune::ranks

#endif // ATTUNE_RUNTIME_MPI_CPUMASK_H
