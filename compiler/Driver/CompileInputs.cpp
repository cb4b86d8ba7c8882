//===- CompileInputs.cpp - The files that a compilation reads -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CompileInputs.h"
#include "compiler/Support/InputFiles.h"

using namespace attune;

ModelFiles attune::listInputFiles(const CompileOptions &options) {
  ModelFiles files;
  auto add = [](std::vector<std::string> &to, const std::vector<std::string> &from) { to.insert(to.end(), from.begin(), from.end()); };
  auto addTensors = [&](const std::string &path) {
    if (!isModelSource(path)) {
      files.tensors.push_back(path);
      return;
    }
    ModelFiles listed = listModelFiles(path);
    add(files.settings, listed.settings);
    add(files.tensors, listed.tensors);
  };
  if (isModelSource(options.model))
    addTensors(options.model);
  else
    files.settings.push_back(options.model);
  if (!options.weights.empty())
    addTensors(options.weights);
  if (!options.calibrate.empty())
    files.tensors.push_back(options.calibrate);
  for (const AdapterRequest &adapter : options.adapters) {
    ModelFiles listed = listAdapterFiles(adapter.folder);
    add(files.tensors, listed.settings);
    add(files.tensors, listed.tensors);
  }
  return files;
}

Status attune::declareInputs(const CompileOptions &options) {
  ModelFiles files = listInputFiles(options);
  for (const std::vector<std::string> *list : {&files.settings, &files.tensors})
    for (const std::string &file : *list)
      if (Status status = declareInput(file); status.failed())
        return status;
  return {};
}
