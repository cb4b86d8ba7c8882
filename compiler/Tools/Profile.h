//===- Profile.h - Time per kernel ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles the kernels of an entry. Compiled entries run their kernels through the host's parallel_for, so a host that
// times each of these calls measures every kernel, without changes to the object. The host's workers are a pool like
// that of a session.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_PROFILE_H
#define ATTUNE_COMPILER_TOOLS_PROFILE_H

#include "attune/runtime.h"
#include "compiler/Support/Status.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace attune {

/// A host that sums the time of every kernel that it runs.
class KernelProfile {
public:
  /// The time of one kernel, in milliseconds. |op| is a line that describes the operation of the kernel.
  struct Row {
    std::string name, op;
    int64_t runs = 0;
    double milliseconds = 0; // of all runs
    double fastest = 0;      // of one run
  };

  /// Creates a profile whose host has |workers| workers, including the calling thread.
  static Result<std::unique_ptr<KernelProfile>> create(int64_t workers);
  ~KernelProfile();
  KernelProfile(const KernelProfile &) = delete;

  /// Returns the host for a session. It is valid as long as the profile.
  attune_host host();
  void clear() { bodies.clear(); }
  /// Returns the kernels of |desc| that ran, sorted by the time of all runs, longest first. If other loop bodies ran
  /// that are no kernel of |desc|, a last row, "other", has their sum.
  std::vector<Row> rows(const attune_model_desc &desc) const;

private:
  struct Sum {
    int64_t runs = 0;
    double milliseconds = 0;
    double fastest = 0;
  };
  explicit KernelProfile(int64_t workers) : workers(workers) {}
  static void run(void *pool, int64_t n, int64_t grain, attune_body_fn body, void *ctx);

  int64_t workers;
  attune_pool *pool = nullptr;
  std::unordered_map<attune_body_fn, Sum> bodies;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_PROFILE_H
