//===- Init.cpp - The command init ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/ModelFolder.h"
#include "compiler/Support/HubCache.h"
#include "compiler/Tools/CompileFlags.h"
#include "compiler/Tools/CompilerCommands.h"

using namespace attune;

int attune::runInitCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  std::string folder;
  int64_t seed = 0;
  FlagTable flags;
  flags.addString("o", "DIR", folder, "the model folder to write");
  std::vector<AdapterRequest> adapters;
  addAdapterFlag(flags, adapters);
  flags.addInteger("seed", "N", seed, INT64_MIN, INT64_MAX, "equal seeds give equal weights (0)");
  std::vector<std::string> positional;
  if (std::optional<int> status = parseArguments(host, flags, arguments, positional, "init CONFIG_DIR -o DIR [--seed=N]",
                                                 "Writes a model folder with the config.json of CONFIG_DIR and generated weights, to try\n"
                                                 "size and speed without a download."))
    return *status;
  if (positional.size() != 1 || positional[0].empty())
    return reportError(host.tool, "expected one folder with a config.json, attune init CONFIG_DIR -o DIR");
  if (folder.empty())
    return reportError(host.tool, "expected an output folder, -o DIR");
  Result<ModelPath> source = findModel(positional[0]);
  if (!source)
    return reportError(host.tool, source.message());
  Status status = initModelFolder({source->path, "", adapters}, folder, seed,
                                  [](uint64_t done, uint64_t total) { showProgress("writing weights", done, total); });
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
