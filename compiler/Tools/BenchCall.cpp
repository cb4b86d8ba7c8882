//===- BenchCall.cpp - The calls that bench times -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/BenchCall.h"
#include "compiler/Support/Generate.h"
#include "compiler/Tools/Dims.h"
#include "compiler/Tools/ToolRanks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

using namespace attune;

PinnedThread::PinnedThread(bool wanted) {
  int cpu = sched_getcpu();
  cpu_set_t one;
  CPU_ZERO(&one);
  if (!wanted || cpu < 0 || sched_getaffinity(0, sizeof(saved), &saved) != 0)
    return;
  CPU_SET(cpu, &one);
  pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
}

PinnedThread::~PinnedThread() {
  if (pinned)
    sched_setaffinity(0, sizeof(saved), &saved);
}

/// Seed of the inputs, constant so that the same call is timed every time.
static constexpr int64_t inputSeed = 1;

Result<std::vector<OwnedTensor>> attune::randomInputs(const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
  std::vector<OwnedTensor> inputs;
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    const attune_tensor_desc &desc = entry.inputs[i];
    if (desc.fill != ATTUNE_FILL_REQUIRED)
      continue;
    OwnedTensor tensor{{desc.name, desc.dtype == ATTUNE_I64 ? DType::I64 : DType::F32, {}}, {}};
    for (uint32_t axis = 0; axis < desc.rank; ++axis)
      tensor.spec.shape.push_back(extentOf(desc, axis, dims));
    std::optional<int64_t> count = elementCount(tensor.spec.shape);
    if (!count || *count > (INT64_C(1) << 40))
      return Status::error("input '" + tensor.spec.name + "': expected less than 2^40 elements, got " + shapeText(tensor.spec.shape));
    std::vector<float> uniform(static_cast<size_t>(*count));
    generateValues("input:" + tensor.spec.name, inputSeed, {0.5, 0.5}, 0, *count, uniform.data());
    tensor.data.resize(uniform.size() * elementSize(tensor.spec.dtype));
    for (size_t j = 0; j < uniform.size(); ++j) {
      if (tensor.spec.dtype == DType::F32) {
        float value = 2 * uniform[j] - 1;
        std::memcpy(tensor.data.data() + j * 4, &value, 4);
        continue;
      }
      // Integers with a range are ids; others are a mask, in which everything is visible.
      int64_t value = 1;
      if (desc.max_value > 0)
        value = std::min(desc.max_value - 1, static_cast<int64_t>(static_cast<double>(uniform[j]) * static_cast<double>(desc.max_value)));
      std::memcpy(tensor.data.data() + j * 8, &value, 8);
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Result<std::vector<double>> attune::timeCall(EntryCall &call, int64_t repeat) {
  using Clock = std::chrono::steady_clock;
  // Pins only a single thread. The system schedules several threads, one of which is the caller. Ranks are not pinned,
  // because several of them may run on the same CPU at the moment.
  PinnedThread pin(call.threads() == 1 && !ranks::areStarted());
  constexpr int64_t warmups = 3, fewest = 10, most = 2000;
  constexpr double enoughMilliseconds = 2000;
  std::vector<double> times;
  double total = 0;
  for (int64_t i = 0; i < warmups; ++i)
    if (Status status = call.run(); status.failed())
      return status;
  auto done = [&] {
    int64_t count = static_cast<int64_t>(times.size());
    return repeat > 0 ? count >= repeat : count >= most || (count >= fewest && total >= enoughMilliseconds);
  };
  // All ranks make as many calls as rank 0.
  while (!ranks::decide(done())) {
    Clock::time_point start = Clock::now();
    if (Status status = call.run(); status.failed())
      return status;
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    total += times.back();
  }
  std::sort(times.begin(), times.end());
  return times;
}

double attune::percentile(const std::vector<double> &times, double percent) {
  size_t rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(times.size())));
  return times[std::min(times.size(), std::max<size_t>(rank, 1)) - 1];
}

EntryCall::Cached attune::cachedOf(const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
  EntryCall::Cached cached;
  for (uint32_t i = 0; i < entry.num_dims; ++i) {
    if (entry.dims[i].origin == ATTUNE_DIM_PAST)
      cached.past = dims[i];
    if (entry.dims[i].origin == ATTUNE_DIM_SOURCE_LENGTH)
      cached.source = dims[i];
  }
  return cached;
}

double attune::cacheBytesRead(const attune_model_desc &desc, const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
  if (entry.cache_use < ATTUNE_CACHE_APPEND)
    return 0;
  EntryCall::Cached cached = cachedOf(entry, dims);
  int64_t perToken[2] = {0, 0}, batch = 1;
  for (uint32_t i = 0; i < desc.num_caches; ++i)
    perToken[desc.caches[i].of_sources] += attune_cache_token_bytes(&desc.caches[i]);
  for (uint32_t i = 0; i < entry.num_dims; ++i)
    if (std::strcmp(entry.dims[i].name, "batch") == 0)
      batch = dims[i];
  return static_cast<double>(batch * (perToken[0] * cached.past + perToken[1] * cached.source));
}

double attune::tokensOf(const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
  double batch = 1, length = 1, source = 1;
  bool hasLength = entry.cache_use == ATTUNE_CACHE_CONTINUE; // an entry like `decode` has no dimension "length": its length is 1
  for (uint32_t i = 0; i < entry.num_dims; ++i) {
    std::string name = entry.dims[i].name;
    double value = static_cast<double>(dims[i]);
    if (name == "batch")
      batch = value;
    else if (name == "length")
      length = value, hasLength = true;
    else if (name == "source_length")
      source = value;
  }
  return batch * (hasLength ? length : source);
}
