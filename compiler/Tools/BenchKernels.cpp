//===- BenchKernels.cpp - bench --profile ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/BenchKernels.h"
#include "compiler/Tools/BenchCall.h"
#include "compiler/Tools/Compare.h"
#include "compiler/Tools/Profile.h"
#include "compiler/Tools/ToolRanks.h"

#include <cstdio>

using namespace attune;

Result<nlohmann::ordered_json> attune::profileKernels(const Artifact &artifact, const attune_entry_desc &entry,
                                                      const std::vector<TensorView> &inputs, int64_t threads, const MachineRates &machine,
                                                      EntryCall::Cached cached) {
  constexpr int64_t calls = 5;
  Result<std::unique_ptr<KernelProfile>> created = KernelProfile::create(threads);
  if (!created)
    return created.status();
  KernelProfile &profile = **created;
  attune_host host = profile.host();
  Result<EntryCall> call = EntryCall::prepare(artifact, entry.name, inputs, threads, &host, cached);
  if (!call)
    return call.status();
  PinnedThread pin(threads == 1 && !ranks::areStarted()); // as in timeCall
  if (Status status = call->run(); status.failed()) // warm-up
    return status;
  profile.clear();
  for (int64_t i = 0; i < calls; ++i)
    if (Status status = call->run(); status.failed())
      return status;
  std::vector<KernelProfile::Row> rows = profile.rows(artifact.desc());
  double total = 0;
  for (const KernelProfile::Row &row : rows)
    total += row.milliseconds;
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  std::optional<std::vector<attune_kernel_work>> work = kernelWork(artifact.desc(), entry, call->dims());
  for (const KernelProfile::Row &row : rows) {
    result.push_back({{"name", row.name},
                      {"op", row.op},
                      {"calls", row.runs / calls},
                      {"runs", row.runs / calls},
                      {"ms", row.milliseconds / calls},
                      {"min_ms", row.fastest},
                      {"share", total > 0 ? row.milliseconds / total : 0}});
    for (uint32_t i = 0; work && i < artifact.desc().num_kernels; ++i)
      if (row.name == artifact.desc().kernels[i].name) {
        result.back()["calls"] = (*work)[i].calls;
        addWork(result.back(), (*work)[i]);
        addRoof(result.back(), (*work)[i], row.milliseconds / calls, machine);
      }
  }
  return result;
}

void attune::printKernels(const nlohmann::ordered_json &rows) {
  std::printf("kernels:\n");
  for (const auto &row : rows) {
    std::string roof;
    if (row.contains("roof_fraction"))
      roof = numberText(100 * row["roof_fraction"].get<double>(), 3) + " % of " + row["bound"].get<std::string>();
    std::printf("  %9s ms  %5s %%  %4s x  %-18s  %s\n", numberText(row["ms"].get<double>(), 4).c_str(),
                numberText(100 * row["share"].get<double>(), 3).c_str(), row["runs"].dump().c_str(), roof.c_str(),
                row["name"].get<std::string>().c_str());
  }
}
