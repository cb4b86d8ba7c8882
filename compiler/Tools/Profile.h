//===- Profile.h - Time per kernel ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled entries run their kernels through the host's parallel_for; a host that looks at the clock around each call knows where the time
// goes. No code of the object is changed for it. The workers are a pool as sessions have it.
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

/// A host that adds up the time of every kernel it runs.
class KernelProfile {
public:
  /// Time of one kernel.
  struct Row {
    std::string name, op;
    int64_t runs = 0;
    double milliseconds = 0; // of all runs
    double fastest = 0;      // of one run
  };

  /// A profile whose host has |workers| workers, the calling thread among them.
  static Result<std::unique_ptr<KernelProfile>> create(int64_t workers);
  ~KernelProfile();
  KernelProfile(const KernelProfile &) = delete;

  /// The host to give to a session; valid as long as the profile.
  attune_host host();
  void clear() { bodies.clear(); }
  /// The kernels of |desc| that ran, longest first; last, under the name "other", bodies that are no kernel of it.
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
