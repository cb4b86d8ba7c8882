//===- Inspect.cpp - The command inspect ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds one JSON value that describes the artifact, then prints it as JSON or as text, so both have the same content;
// the text shortens long lists.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Commands.h"
#include "compiler/Tools/Describe.h"
#include "compiler/Tools/PackedWeights.h"
#include "compiler/Tools/ToolRanks.h"

#include <cstdio>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

namespace {
struct InspectOptions {
  DescribeOptions describe;
  bool json = false;
  std::string kernel, remarks;
};
} // namespace

static Result<OrderedJson> inspectWeights(const std::string &path, const InspectOptions &options) {
  Result<PackedWeights> weights = PackedWeights::open(path);
  if (!weights)
    return weights.status();
  OrderedJson result;
  result["file"] = path;
  result["build_id"] = buildIdText(weights->header().build_id);
  result["file_bytes"] = weights->header().file_bytes;
  result["weights_bytes"] = weights->header().data_bytes;
  if (options.describe.verified) {
    if (Status status = weights->verify(); status.failed())
      return status;
    result["verified"] = true;
  }
  result["weights"] = describeManifest(weights->tensors());
  return result;
}

static Result<OrderedJson> inspectModel(const CommandHost &host, const std::string &model, const InspectOptions &options) {
  if (options.kernel.empty() && !options.remarks.empty())
    return Status::error("--remarks: expected --why=KERNEL with it");
  if (!options.kernel.empty())
    return host.explain(model, options.kernel, options.remarks);
  if (!model.empty() && PackedWeights::isPackedWeights(model))
    return inspectWeights(model, options);
  Result<Artifact> artifact = host.openModel(model, {});
  if (!artifact)
    return artifact.status();
  if (options.describe.verified)
    if (Status status = artifact->verify(); status.failed())
      return status;
  return describeModel(*artifact, options.describe);
}

int attune::runInspectCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  ranks::inspectOnly();
  InspectOptions options;
  FlagTable flags;
  flags.addSwitch("verify", options.describe.verified, "read all weights and the tokenizer and compare their checksums");
  flags.addSwitch("json", options.json, "print one JSON object");
  flags.addString("profile", "FILE", options.describe.profile, "what bench --profile --json wrote: adds times and shares of the roof");
  if (host.explain) {
    flags.addString("why", "KERNEL", options.kernel, "print only what passes did and did not do to a kernel, and why");
    flags.addString("remarks", "FILE", options.remarks, "for --why: what compile --remarks=FILE wrote; required for OUT.so");
  }
  options.describe.dims.addTo(flags);
  addThreadsFlag(flags, options.describe.threads);
  std::string model;
  if (std::optional<int> status =
          parseModelArguments(host, flags, arguments, model, "inspect " + host.modelHelp + "|OUT.weights [flags]",
                              "Shows signature, limits, sizes (workspace for the dimensions given), caches, kernels and their backends, "
                              "and the weights."))
    return *status;
  Result<OrderedJson> result = inspectModel(host, model, options);
  if (!result)
    return reportError(host.tool, result.message());
  if (options.json)
    std::printf("%s\n", result->dump(1, ' ', false, Json::error_handler_t::replace).c_str());
  else if (!options.kernel.empty())
    for (const OrderedJson &remark : (*result)["remarks"])
      std::printf("%s\n", remark["text"].get<std::string>().c_str());
  else
    printDescription(*result);
  return exitDone;
}
