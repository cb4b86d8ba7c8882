//===- Bench.cpp - The command bench --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times one entry on random valid inputs. Rates are those of the fastest repetition, since the peak that they are
// compared with is also the best of several measurements.
//===----------------------------------------------------------------------===//
#include "compiler/Support/Json.h"
#include "compiler/Tools/BenchCall.h"
#include "compiler/Tools/BenchKernels.h"
#include "compiler/Tools/Commands.h"
#include "compiler/Tools/Compare.h"
#include "compiler/Tools/Dims.h"
#include "compiler/Tools/PackedWeights.h"
#include "compiler/Tools/PeakRate.h"
#include "compiler/Tools/ReadRate.h"

#include <algorithm>
#include <cstdio>

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
} // namespace

static Result<nlohmann::ordered_json> benchModel(const CommandHost &host, const std::string &model, const BenchOptions &options) {
  ModelRequest request;
  if (!options.entry.empty())
    request.entries = {options.entry};
  Result<Artifact> artifact = host.openModel(model, request);
  if (!artifact)
    return artifact.status();
  const attune_model_desc &desc = artifact->desc();
  bool onGpu = desc.device == ATTUNE_DEVICE_CUDA;
  if (onGpu && options.profile)
    return Status::error("--profile: model '" + std::string(desc.name) + "' runs on a GPU, where kernels are not timed one by one");
  Result<const attune_entry_desc *> entry = artifact->entry(options.entry);
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
  Result<EntryCall> call = EntryCall::prepare(*artifact, (*entry)->name, views, options.threads, nullptr, cachedOf(**entry, *dims));
  if (!call)
    return call.status();

  // Measures the peak before and after the calls, because clock rates drift. Rates are relative to the higher peak. The
  // peak of a GPU is not measured.
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
    if (double own = ratesFor(desc, peak, 0).gflops; own > 0)
      result["peak_fraction"] = flops / fastest / 1e9 / own;
  }
  result["bytes_per_s"] = (weightBytesRead(desc, **entry, call->dims()) + cacheBytesRead(desc, **entry, call->dims())) / fastest;
  result["flops"] = flops;
  result["open_ms"] = artifact->openMilliseconds();
  result["workspace_bytes"] = (*entry)->workspace_bytes(call->dims().data(), threads);
  result["weights_bytes"] = desc.weights_bytes;
  if (options.profile) {
    constexpr int passes = 6;
    MachineRates machine = ratesFor(desc, peak, ReadRate().best(threads, passes));
    result["read_bytes_per_s"] = machine.readBytesPerSecond;
    Result<nlohmann::ordered_json> kernels = profileKernels(*artifact, **entry, views, threads, machine, cachedOf(**entry, *dims));
    if (!kernels)
      return kernels.status();
    result["kernels"] = *kernels;
  }
  return result;
}

int attune::runBenchCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  BenchOptions options;
  FlagTable flags;
  flags.addString("entry", "E", options.entry, "entry to time (default: the first)");
  options.dims.addTo(flags);
  addThreadsFlag(flags, options.threads);
  flags.addInteger("repeat", "N", options.repeat, 1, 100'000'000, "repetitions (default: for two seconds, 10 to 2000)");
  flags.addSwitch("profile", options.profile, "also the time of each kernel, and the machine's read bandwidth");
  flags.addSwitch("json", options.json, "print one JSON object");
  std::string model;
  if (std::optional<int> status = parseModelArguments(
          host, flags, arguments, model, "bench " + host.modelHelp + " [flags]",
          "Times an entry on random inputs. Rates are those of the fastest repetition; gflops counts matrix products and "
          "the\ntwo attention "
          "products, peak_gflops is the FMA peak measured in the same run (of a CPU), bytes_per_s the weights and caches "
          "that a call reads."))
    return *status;
  Result<nlohmann::ordered_json> result = benchModel(host, model, options);
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
