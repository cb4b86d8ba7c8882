//===- Bench.cpp - The verb bench ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times one entry on random valid inputs. Rates are those of the fastest repetition, as the peak they are compared with is.
//===----------------------------------------------------------------------===//
#include "runtime/io/Generate.h"
#include "runtime/io/Json.h"
#include "runtime/verbs/Compare.h"
#include "runtime/verbs/Dims.h"
#include "runtime/verbs/EntryCall.h"
#include "runtime/verbs/PackedWeights.h"
#include "runtime/verbs/PeakRate.h"
#include "runtime/verbs/Profile.h"
#include "runtime/verbs/ReadRate.h"
#include "runtime/verbs/Roofline.h"
#include "runtime/verbs/Verbs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sched.h>

using namespace attune;

namespace {
struct BenchOptions {
  std::string entry;
  DimFlags dims;
  int64_t threads = 0;
  int64_t repeat = 0;
  bool profile = false;
  bool json = false;
};

/// Keeps the calling thread on one CPU while alive.
class PinnedThread {
public:
  PinnedThread() {
    int cpu = sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    if (cpu < 0 || sched_getaffinity(0, sizeof(saved), &saved) != 0)
      return;
    CPU_SET(cpu, &one);
    pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
  }
  ~PinnedThread() {
    if (pinned)
      sched_setaffinity(0, sizeof(saved), &saved);
  }

private:
  cpu_set_t saved;
  bool pinned = false;
};
} // namespace

/// Seed of the inputs: the same call is timed every time.
static constexpr int64_t inputSeed = 1;

/// Random values for every required input; optional inputs keep their defaults.
static Result<std::vector<OwnedTensor>> randomInputs(const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
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
      // A range of values is ids; without one it is a mask, all visible.
      int64_t value = 1;
      if (desc.max_value > 0)
        value = std::min(desc.max_value - 1, static_cast<int64_t>(static_cast<double>(uniform[j]) * static_cast<double>(desc.max_value)));
      std::memcpy(tensor.data.data() + j * 8, &value, 8);
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

/// Milliseconds of each repetition, sorted. Without --repeat: for about two seconds, but at least 10 and at most 2000 times.
static Result<std::vector<double>> timeCall(EntryCall &call, int64_t repeat) {
  using Clock = std::chrono::steady_clock;
  std::optional<PinnedThread> pin;
  if (call.threads() == 1) // with more, the caller is one of the workers, which the system places
    pin.emplace();
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
  while (!done()) {
    Clock::time_point start = Clock::now();
    if (Status status = call.run(); status.failed())
      return status;
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    total += times.back();
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// The value that |percent| of the sorted |times| do not exceed.
static double percentile(const std::vector<double> &times, double percent) {
  size_t rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(times.size())));
  return times[std::min(times.size(), std::max<size_t>(rank, 1)) - 1];
}

/// What is in the caches before each call.
static EntryCall::Cached cachedOf(const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
  EntryCall::Cached cached;
  for (uint32_t i = 0; i < entry.num_dims; ++i) {
    if (entry.dims[i].origin == ATTUNE_DIM_PAST)
      cached.past = dims[i];
    if (entry.dims[i].origin == ATTUNE_DIM_SOURCE_LENGTH)
      cached.source = dims[i];
  }
  return cached;
}

/// Bytes of the keys, values and masks of all tokens that a call finds in the caches and reads.
static double cacheBytesRead(const attune_model_desc &desc, const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
  if (entry.cache_use < ATTUNE_CACHE_APPEND)
    return 0;
  EntryCall::Cached cached = cachedOf(entry, dims);
  int64_t perToken[2] = {0, 0}, batch = 1;
  for (uint32_t i = 0; i < desc.num_caches; ++i)
    perToken[desc.caches[i].of_sources] += desc.caches[i].heads * desc.caches[i].size * static_cast<int64_t>(sizeof(float));
  for (uint32_t i = 0; i < entry.num_dims; ++i)
    if (std::strcmp(entry.dims[i].name, "batch") == 0)
      batch = dims[i];
  return static_cast<double>(batch * (perToken[0] * cached.past + perToken[1] * cached.source));
}

/// Tokens one call takes in: batch * length, for entries that have these dimensions.
static double tokensOf(const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
  double batch = 1, length = 1, source = 1;
  bool hasLength = entry.cache_use == ATTUNE_CACHE_CONTINUE; // of 1
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

/// Milliseconds per call of each kernel, the mean of a few calls, and of its fastest run, and how near to |machine| that is, as rows of a
/// JSON array.
static Result<nlohmann::ordered_json> profileKernels(const Artefact &artefact, const attune_entry_desc &entry,
                                                     const std::vector<TensorView> &inputs, int64_t threads, const MachineRates &machine,
                                                     EntryCall::Cached cached) {
  constexpr int64_t calls = 5;
  Result<std::unique_ptr<KernelProfile>> created = KernelProfile::create(threads);
  if (!created)
    return created.status();
  KernelProfile &profile = **created;
  attune_host host = profile.host();
  Result<EntryCall> call = EntryCall::prepare(artefact, entry.name, inputs, threads, &host, cached);
  if (!call)
    return call.status();
  std::optional<PinnedThread> pin;
  if (threads == 1)
    pin.emplace();
  if (Status status = call->run(); status.failed()) // warm-up
    return status;
  profile.clear();
  for (int64_t i = 0; i < calls; ++i)
    if (Status status = call->run(); status.failed())
      return status;
  std::vector<KernelProfile::Row> rows = profile.rows(artefact.desc());
  double total = 0;
  for (const KernelProfile::Row &row : rows)
    total += row.milliseconds;
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  std::optional<std::vector<attune_kernel_work>> work = kernelWork(artefact.desc(), entry, call->dims());
  for (const KernelProfile::Row &row : rows) {
    result.push_back({{"name", row.name},
                      {"op", row.op},
                      {"calls", row.calls / calls},
                      {"ms", row.milliseconds / calls},
                      {"min_ms", row.fastest},
                      {"share", total > 0 ? row.milliseconds / total : 0}});
    for (uint32_t i = 0; work && i < artefact.desc().num_kernels; ++i)
      if (row.name == artefact.desc().kernels[i].name) {
        addWork(result.back(), (*work)[i]);
        addRoof(result.back(), (*work)[i], row.milliseconds / calls, machine);
      }
  }
  return result;
}

/// Time, share of all, number of runs, and share of the roof where there is one.
static void printKernels(const nlohmann::ordered_json &rows) {
  std::printf("kernels:\n");
  for (const auto &row : rows) {
    std::string roof;
    if (row.contains("roof_fraction"))
      roof = numberText(100 * row["roof_fraction"].get<double>(), 3) + " % of " + row["bound"].get<std::string>();
    std::printf("  %9s ms  %5s %%  %4s x  %-18s  %s\n", numberText(row["ms"].get<double>(), 4).c_str(),
                numberText(100 * row["share"].get<double>(), 3).c_str(), row["calls"].dump().c_str(), roof.c_str(),
                row["name"].get<std::string>().c_str());
  }
}

static Result<nlohmann::ordered_json> benchModel(const VerbHost &host, const std::string &model, const BenchOptions &options) {
  ModelRequest request;
  if (!options.entry.empty())
    request.entries = {options.entry};
  Result<Artefact> artefact = host.openModel(model, request);
  if (!artefact)
    return artefact.status();
  const attune_model_desc &desc = artefact->desc();
  bool onGpu = desc.device == ATTUNE_DEVICE_CUDA;
  if (onGpu && options.profile)
    return Status::error("--profile: model '" + std::string(desc.name) + "' runs on a GPU, where kernels are not timed one by one");
  Result<const attune_entry_desc *> entry = artefact->entry(options.entry);
  if (!entry)
    return entry.status();
  Result<std::vector<int64_t>> dims = options.dims.resolve(**entry, /*strict=*/true);
  if (!dims)
    return dims.status();
  Result<std::vector<OwnedTensor>> inputs = randomInputs(**entry, *dims);
  if (!inputs)
    return inputs.status();
  std::vector<TensorView> views;
  for (const OwnedTensor &input : *inputs)
    views.push_back(viewOf(input));
  Result<EntryCall> call = EntryCall::prepare(*artefact, (*entry)->name, views, options.threads, nullptr, cachedOf(**entry, *dims));
  if (!call)
    return call.status();

  // The peak before and after: clock rates drift, and the better of the two is the honest divisor. A GPU's is not measured here.
  int64_t threads = call->threads();
  auto measurePeak = [&] { return onGpu ? 0 : measurePeakGflops(threads); };
  double peak = measurePeak();
  Result<std::vector<double>> times = timeCall(*call, options.repeat);
  if (!times)
    return times.status();
  peak = std::max(peak, measurePeak());

  double fastest = times->front() / 1e3;
  double flops = static_cast<double>((*entry)->flops(call->dims().data(), threads));
  nlohmann::ordered_json result;
  result["model"] = desc.name;
  result["build_id"] = buildIdText(desc.build_id);
  result["entry"] = (*entry)->name;
  for (uint32_t i = 0; i < (*entry)->num_dims; ++i)
    result[(*entry)->dims[i].name] = call->dims()[i];
  if (!onGpu)
    result["threads"] = threads;
  result["repeat"] = times->size();
  result["min_ms"] = times->front();
  result["p50_ms"] = percentile(*times, 50);
  result["p90_ms"] = percentile(*times, 90);
  result["p99_ms"] = percentile(*times, 99);
  result["tokens_per_s"] = tokensOf(**entry, call->dims()) / fastest;
  result["gflops"] = flops / fastest / 1e9;
  if (!onGpu) {
    result["peak_gflops"] = peak;
    result["peak_fraction"] = peak > 0 ? flops / fastest / 1e9 / peak : 0;
  }
  result["bytes_per_s"] = (weightBytesRead(desc, **entry, call->dims()) + cacheBytesRead(desc, **entry, call->dims())) / fastest;
  result["flops"] = flops;
  result["open_ms"] = artefact->openMilliseconds();
  result["workspace_bytes"] = (*entry)->workspace_bytes(call->dims().data(), threads);
  result["weights_bytes"] = desc.weights_bytes;
  if (options.profile) {
    constexpr int passes = 6;
    MachineRates machine{peak, ReadRate().best(threads, passes)};
    result["read_bytes_per_s"] = machine.readBytesPerSecond;
    Result<nlohmann::ordered_json> kernels = profileKernels(*artefact, **entry, views, threads, machine, cachedOf(**entry, *dims));
    if (!kernels)
      return kernels.status();
    result["kernels"] = *kernels;
  }
  return result;
}

int attune::runVerbBench(const VerbHost &host, const std::vector<std::string> &arguments) {
  BenchOptions options;
  FlagTable flags;
  flags.addString("entry", "E", options.entry, "entry to time (default: the first)");
  options.dims.addTo(flags);
  addThreadsFlag(flags, options.threads);
  flags.addInteger("repeat", "N", options.repeat, 1, 100'000'000, "repetitions (default: for two seconds, 10 to 2000)");
  flags.addSwitch("profile", options.profile, "also the time of each kernel, and the machine's read bandwidth");
  flags.addSwitch("json", options.json, "print one JSON object");
  if (host.addFlags)
    host.addFlags(flags);
  std::vector<std::string> positional;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, positional, "bench " + host.modelHelp + " [flags]",
                         "Times an entry on random inputs. Rates are those of the fastest repetition; gflops counts matrix products and "
                         "the\ntwo attention "
                         "products, peak_gflops is the FMA peak measured in the same run (of a CPU), bytes_per_s the weights and caches "
                         "that a call reads."))
    return *status;
  Result<std::string> model = singleModel(positional);
  if (!model)
    return reportError(host.tool, model.message());
  Result<nlohmann::ordered_json> result = benchModel(host, *model, options);
  if (!result)
    return reportError(host.tool, result.message());
  if (options.json) {
    std::printf("%s\n", result->dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    return exitDone;
  }
  for (const auto &[key, value] : result->items()) {
    if (value.is_array()) {
      printKernels(value);
      continue;
    }
    std::string text = value.is_number_float() ? std::string() : value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_number_float())
      text = numberText(value.get<double>(), 5);
    std::printf("%-16s %s\n", key.c_str(), text.c_str());
  }
  return exitDone;
}
