//===- Profile.cpp - Time per kernel --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Profile.h"

#include <algorithm>
#include <chrono>

using namespace attune;

Result<std::unique_ptr<KernelProfile>> KernelProfile::create(int64_t workers) {
  std::unique_ptr<KernelProfile> profile(new KernelProfile(workers));
  if (attune_pool_create(workers, &profile->pool) != ATTUNE_OK)
    return Status::error(attune_last_error());
  return profile;
}

KernelProfile::~KernelProfile() { attune_pool_destroy(pool); }

attune_host KernelProfile::host() {
  attune_host host = {};
  host.abi_version = ATTUNE_ABI_VERSION;
  host.pool = this;
  host.num_workers = workers;
  host.parallel_for = run;
  return host;
}

void KernelProfile::run(void *opaque, int64_t n, int64_t grain, attune_body_fn body, void *ctx) {
  using Clock = std::chrono::steady_clock;
  if (n <= 0)
    return;
  KernelProfile &profile = *static_cast<KernelProfile *>(opaque);
  Clock::time_point start = Clock::now();
  attune_pool_parallel_for(profile.pool, n, grain, body, ctx);
  double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  Sum &sum = profile.bodies[body];
  sum.fastest = sum.runs++ ? std::min(sum.fastest, milliseconds) : milliseconds;
  sum.milliseconds += milliseconds;
}

std::vector<KernelProfile::Row> KernelProfile::rows(const attune_model_desc &desc) const {
  std::vector<Row> rows;
  Row other{"other", "", 0, 0, 0};
  for (const auto &[body, sum] : bodies) {
    const attune_kernel_desc *end = desc.kernels + desc.num_kernels;
    const attune_kernel_desc *kernel =
        std::find_if(desc.kernels, end, [body = body](const attune_kernel_desc &k) { return k.body == body; });
    if (kernel != end) {
      rows.push_back({kernel->name, kernel->op, sum.runs, sum.milliseconds, sum.fastest});
    } else {
      other.fastest = other.runs ? std::min(other.fastest, sum.fastest) : sum.fastest;
      other.runs += sum.runs;
      other.milliseconds += sum.milliseconds;
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.milliseconds > b.milliseconds; });
  if (other.runs)
    rows.push_back(other);
  return rows;
}
