//===- Profile.cpp - Time per kernel ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "runtime/verbs/Profile.h"

#include <algorithm>
#include <chrono>

using namespace attune;

attune_host KernelProfile::host() {
  attune_host host = {};
  host.abi_version = ATTUNE_ABI_VERSION;
  host.pool = this;
  host.num_workers = 1;
  host.parallel_for = run;
  return host;
}

void KernelProfile::run(void *pool, int64_t n, int64_t, attune_body_fn body, void *ctx) {
  using Clock = std::chrono::steady_clock;
  if (n <= 0)
    return;
  Clock::time_point start = Clock::now();
  body(ctx, 0, 0, n);
  Sum &sum = static_cast<KernelProfile *>(pool)->bodies[body];
  ++sum.calls;
  sum.milliseconds += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<KernelProfile::Row> KernelProfile::rows(const attune_model_desc &desc) const {
  std::vector<Row> rows;
  Row other{"other", "", 0, 0};
  for (const auto &[body, sum] : bodies) {
    const attune_kernel_desc *end = desc.kernels + desc.num_kernels;
    const attune_kernel_desc *kernel = std::find_if(desc.kernels, end, [body = body](const attune_kernel_desc &k) { return k.body == body; });
    if (kernel != end) {
      rows.push_back({kernel->name, kernel->op, sum.calls, sum.milliseconds});
    } else {
      other.calls += sum.calls;
      other.milliseconds += sum.milliseconds;
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.milliseconds > b.milliseconds; });
  if (other.calls)
    rows.push_back(other);
  return rows;
}
