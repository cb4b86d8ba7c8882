//===- Plan.cpp - The command plan ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Support/HubCache.h"
#include "compiler/Tools/CompileFlags.h"
#include "compiler/Tools/CompilerCommands.h"
#include "compiler/Tools/PeakRate.h"
#include "compiler/Tools/RankPlan.h"
#include "compiler/Tools/ReadRate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Threading.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

namespace {
struct PlanOptions {
  CompileOptions compile;
  HostRates rates;
  PlannedSizes sizes;
  bool hasLink = false, json = false;
};
} // namespace

/// Reads |text|, "GBPS,US": gigabits per second, and microseconds of a small message.
static Status readLink(const std::string &text, PlanOptions &options) {
  auto [first, second] = llvm::StringRef(text).split(',');
  Result<double> gigabits = parseNumber(first.str()), latency = parseNumber(second.str());
  if (!gigabits || !latency || !std::isfinite(*gigabits) || !std::isfinite(*latency) || *gigabits <= 0 || *latency < 0)
    return Status::error("expected gigabits per second and microseconds, as in 25,20, got '" + text + "'");
  options.rates.linkGigabits = *gigabits;
  options.rates.messageLatency = *latency;
  options.hasLink = true;
  return {};
}

static void addRate(FlagTable &flags, const std::string &name, double &rate, const std::string &help) {
  flags.addCustom(name, "X", help, [&rate](const std::string &text) {
    Result<double> value = parseNumber(text);
    if (!value || !std::isfinite(*value) || *value <= 0)
      return Status::error("expected a number above 0, got '" + text + "'");
    rate = *value;
    return Status();
  });
}

/// Fails if the number of operations of a call might not fit in 63 bits. Attention computes pairs of tokens, so the
/// limit is 2^39 pairs in all sequences together; one sequence is always accepted.
static Status checkSizes(const PlannedSizes &sizes) {
  constexpr int64_t mostPairs = int64_t(1) << 39;
  int64_t tokens = std::max(sizes.length.value_or(PlannedSizes::kLength), sizes.past.value_or(PlannedSizes::kPast));
  int64_t most = std::max<int64_t>(mostPairs / (tokens * tokens), 1);
  return sizes.batch <= most ? Status()
                             : Status::error("--batch: expected at most " + std::to_string(most) + " sequences of " +
                                             std::to_string(tokens) + " tokens, got " + std::to_string(sizes.batch));
}

/// Measures the rates of this machine that no flag gives.
static Status measureRates(PlanOptions &options) {
  auto threads = static_cast<int64_t>(llvm::hardware_concurrency().compute_thread_count());
  HostRates &rates = options.rates;
  if (rates.gflops == 0) {
    mlir::xfmr::Precision precision = options.compile.target.precision;
    if (precision == mlir::xfmr::Precision::F32)
      rates.gflops = measurePeakGflops(threads);
    if (precision == mlir::xfmr::Precision::Int8)
      rates.gflops = measurePeakByteGops(threads);
    if (rates.gflops == 0)
      return Status::error("--gflops: expected the rate of products of " + mlir::xfmr::stringifyPrecision(precision).str() +
                           ", which cannot be measured here: no loop for this CPU, or no threads");
  }
  constexpr int passes = 6;
  if (rates.readGigabytes == 0)
    rates.readGigabytes = ReadRate().best(threads, passes) / 1e9;
  return rates.readGigabytes > 0 ? Status()
                                 : Status::error("--read-rate: expected a rate, which cannot be measured here: no memory, or no threads");
}

static OrderedJson describeTraffic(const Traffic &traffic, double seconds) {
  return {{"exchanges", traffic.exchanges}, {"bytes", traffic.bytes}, {"exchange_ms", traffic.seconds * 1e3}, {"ms", seconds * 1e3}};
}

static OrderedJson describePlan(const PlanOptions &options, const RankPlan &plan) {
  OrderedJson result = {{"ranks", plan.ranks},
                        {"link_gbps", options.rates.linkGigabits},
                        {"latency_us", options.rates.messageLatency},
                        {"gflops", options.rates.gflops},
                        {"read_gb_per_s", options.rates.readGigabytes},
                        {"weight_bytes", plan.weightBytes},
                        {"cache_bytes", plan.cacheBytes},
                        {"calls", OrderedJson::array()}};
  for (const PlannedCall &call : plan.calls)
    result["calls"].push_back({{"entry", call.entry},
                               {"tokens", call.tokens},
                               {"flops", call.flops},
                               {"weight_bytes_read", call.weightBytesRead},
                               {"cache_bytes_read", call.cacheBytesRead},
                               {"arithmetic_ms", call.arithmeticSeconds * 1e3},
                               {"read_ms", call.readSeconds * 1e3},
                               {"gathers", describeTraffic(call.gathers, call.seconds())},
                               {"all_reduce", describeTraffic(call.allReduce, call.allReduceSeconds())},
                               {"tokens_per_s", static_cast<double>(call.tokens) / call.seconds()}});
  return result;
}

static void printTraffic(const char *title, const Traffic &traffic, double seconds) {
  std::printf("  %-12s %10.3f ms  %.0f exchanges, %.1f KB received, call %.3f ms\n", title, traffic.seconds * 1e3, traffic.exchanges,
              traffic.bytes / 1e3, seconds * 1e3);
}

static void printPlan(const PlanOptions &options, const RankPlan &plan) {
  std::printf("ranks %lld, one on each host; link %g Gbit/s, %g us a message; %.4g GFLOP/s, %.4g GB/s\n",
              static_cast<long long>(plan.ranks), options.rates.linkGigabits, options.rates.messageLatency, options.rates.gflops,
              options.rates.readGigabytes);
  std::printf("memory of a host: weights %.1f MB, caches %.1f MB\n", plan.weightBytes / 1e6, plan.cacheBytes / 1e6);
  for (const PlannedCall &call : plan.calls) {
    std::printf("%s, tokens %lld: %.3f ms, %.1f tokens/s\n", call.entry.c_str(), static_cast<long long>(call.tokens), call.seconds() * 1e3,
                static_cast<double>(call.tokens) / call.seconds());
    std::printf("  %-12s %10.3f ms  %.3f GFLOP\n", "arithmetic", call.arithmeticSeconds * 1e3, call.flops / 1e9);
    std::printf("  %-12s %10.3f ms  weights %.1f MB, caches %.1f MB\n", "reads", call.readSeconds * 1e3, call.weightBytesRead / 1e6,
                call.cacheBytesRead / 1e6);
    printTraffic("gathers", call.gathers, call.seconds());
    printTraffic("all-reduce", call.allReduce, call.allReduceSeconds());
  }
}

int attune::runPlanCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  constexpr int64_t mostTokens = int64_t(1) << 19;
  PlanOptions options;
  options.compile.weightsOptional = true;
  FlagTable flags;
  addRanksFlag(flags, options.compile);
  flags.addCustom("link", "GBPS,US", "the link of a host: gigabits per second, microseconds of a small message",
                  [&](const std::string &text) { return readLink(text, options); });
  addRate(flags, "gflops", options.rates.gflops, "rate of matrix products of a host (this machine's peak)");
  addRate(flags, "read-rate", options.rates.readGigabytes, "GB/s that a host reads from memory (this machine's)");
  flags.addInteger("batch", "N", options.sizes.batch, 1, 1 << 16, "sequences of a call (1)");
  flags.addInteger("length", "N", options.sizes.length, 1, mostTokens, "tokens of a prompt (128, or the model's most)");
  flags.addInteger("past", "N", options.sizes.past, 0, mostTokens,
                   "tokens in the caches before a decoding step (1024, or the model's most)");
  flags.addSwitch("json", options.json, "print one JSON object");
  flags.beginGroup("Compilation of a model folder", /*isFolded=*/true);
  addCompileFlags(flags, options.compile);
  if (std::optional<int> status =
          parseModelArguments(host, flags, arguments, options.compile.model, "plan MODEL --ranks=N --link=GBPS,US [flags]",
                              "Estimates time, memory and traffic of a model that is divided among hosts, a rank on each.\n"
                              "The weights of a model folder need not exist."))
    return *status;
  if (options.compile.model.empty())
    return reportError(host.tool, "expected a model, attune plan MODEL --ranks=N --link=GBPS,US");
  if (!options.hasLink)
    return reportError(host.tool, "--link: expected gigabits per second and microseconds, as in 25,20");
  if (options.compile.target.name == "cuda")
    return reportError(host.tool, "--target: expected cpu, since models for cuda are not divided");
  if (Status status = checkSizes(options.sizes); status.failed())
    return reportError(host.tool, status.message());
  Result<ModelPath> model = findModel(options.compile.model);
  if (!model)
    return reportError(host.tool, model.message());
  options.compile.model = model->path;
  if (Status status = measureRates(options); status.failed())
    return reportError(host.tool, status.message());
  Result<RankPlan> plan = planRanks(options.compile, options.rates, options.sizes);
  if (!plan)
    return reportError(host.tool, plan.message());
  if (options.json)
    std::printf("%s\n", describePlan(options, *plan).dump(1, ' ', false, Json::error_handler_t::replace).c_str());
  else
    printPlan(options, *plan);
  return exitDone;
}
