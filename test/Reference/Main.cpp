//===- Main.cpp - attune-test-reference ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-reference MODEL_DIR IN.safetensors OUT.safetensors [--outputs=NAME,…] [--padding=compute|skip]
// [--case=case.json]
//
// Writes the outputs of one call, each rounded once to float. --outputs takes names or groups; --padding=skip puts
// zeros where the integer mask of the tokens is 0, as a model compiled with that flag leaves them. --case writes the
// case.json by which MODEL_DIR, IN and OUT are a golden case.
//===----------------------------------------------------------------------===//

#include "compiler/Support/SafetensorsWriter.h"
#include "test/Reference/Bert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

using namespace attune;
using namespace attune::reference;

/// Returns true if |name| or its group ("hidden_states" of "hidden_states.2") is in the comma-separated |list|; an
/// empty list contains all.
static bool wanted(const std::string &name, const std::string &list) {
  if (list.empty())
    return true;
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');)
    if (name == item || name.compare(0, item.size() + 1, item + ".") == 0)
      return true;
  return false;
}

/// Sets the elements of padding tokens to zero: rows of [B, S, …], query rows and key columns of [B, A, S, S].
static void clearPadding(Output &output, const BertInputs &in) {
  std::vector<double> &data = output.value.data;
  int64_t length = in.length, perSequence = data.size() / in.batch, perToken = perSequence / length;
  bool probabilities = output.value.shape.size() == 4;
  for (size_t i = 0; i < data.size(); ++i) {
    size_t sequence = i / perSequence * length;
    size_t token = probabilities ? sequence + i / length % length : i / perToken;
    if (in.padding[token] || (probabilities && in.padding[sequence + i % length]))
      data[i] = 0;
  }
}

/// The absolute tolerance of an output, as a share of its largest magnitude. Golden cases allow 30 times the error of
/// the float32 reference (test/fixtures/README.md). That error is up to 1.3e-6 of the largest magnitude for small
/// models, and 30 times as much is 4e-5. A wrong form of gelu differs by more than ten times this tolerance.
static constexpr double allowedShareOfLargest = 4e-5;

static Json describeOutput(const Array &value) {
  double largest = 0;
  for (double v : value.data)
    largest = std::max(largest, std::abs(v));
  return {{"dtype", "F32"}, {"shape", value.shape}, {"max_abs", largest}, {"atol", allowedShareOfLargest * largest}, {"rtol", 1e-5}};
}

static void writeCase(const std::string &path, const Json &outputs) {
  Json description = {{"call", {{"function", "forward"}, {"kwargs", Json::object()}}}, {"outputs", outputs}};
  std::string text = description.dump(1) + "\n";
  Result<OutputFile> file = OutputFile::create(path);
  if (!file)
    fail(file.message());
  Status status = file->write(text.data(), text.size());
  if (!status.failed())
    status = file->commit();
  if (status.failed())
    fail(status.message());
}

static OwnedTensor toTensor(const Output &output) {
  std::vector<float> values(output.value.data.begin(), output.value.data.end());
  OwnedTensor tensor{{output.name, DType::F32, output.value.shape}, std::vector<uint8_t>(values.size() * sizeof(float))};
  if (!values.empty())
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

int main(int argc, char **argv) {
  std::string list, padding = "compute", casePath;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.rfind("--outputs=", 0) == 0)
      list = argument.substr(10);
    else if (argument.rfind("--case=", 0) == 0)
      casePath = argument.substr(7);
    else if (argument == "--padding=compute" || argument == "--padding=skip")
      padding = argument.substr(10);
    else
      files.push_back(argument);
  }
  if (files.size() != 3)
    fail("expected MODEL_DIR IN.safetensors OUT.safetensors [--outputs=NAME,…] [--padding=compute|skip] [--case=FILE]");

  BertConfig config = readConfig(files[0]);
  BertInputs inputs = readInputs(files[1], config);
  std::vector<OwnedTensor> tensors;
  Json descriptions = Json::object();
  for (Output &output : runBert(config, Weights(files[0]), inputs)) {
    if (!wanted(output.name, list))
      continue;
    if (padding == "skip" && output.perToken && !inputs.padding.empty())
      clearPadding(output, inputs);
    descriptions[output.name] = describeOutput(output.value);
    tensors.push_back(toTensor(output));
  }
  if (Status status = saveSafetensors(files[2], tensors); status.failed())
    fail(status.message());
  if (!casePath.empty())
    writeCase(casePath, descriptions);
}
