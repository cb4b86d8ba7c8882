//===- Ours.cpp - A compiled object as the subject --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "bench/worker/Worker.h"
#include "compiler/Tools/EntryCall.h"

#include <cstring>

using namespace attune;
using namespace attune::bench;

namespace {
class Ours : public Subject {
public:
  explicit Ours(EntryCall call) : call(std::move(call)) {}

  Status run() override { return call.run(); }

  Result<std::vector<float>> output() override {
    Result<std::vector<OwnedTensor>> outputs = call.outputs({call.entry().outputs[0].name});
    if (!outputs)
      return outputs.status();
    const OwnedTensor &tensor = outputs->front();
    if (tensor.spec.dtype != DType::F32)
      return Status::error("output '" + tensor.spec.name + "': expected F32, got " + dtypeName(tensor.spec.dtype));
    std::vector<float> values(tensor.data.size() / sizeof(float));
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
  }

private:
  EntryCall call;
};
} // namespace

Result<OpenedModel> OpenedModel::open(const Request &request) {
  Result<Artifact> artifact = Artifact::openShared(request.model);
  if (!artifact)
    return artifact.status();
  Result<SafetensorsFile> file = SafetensorsFile::open(request.input);
  if (!file)
    return file.status();
  return OpenedModel{std::move(*artifact), std::move(*file)};
}

std::vector<TensorView> OpenedModel::inputs() const {
  std::vector<TensorView> views;
  for (const auto &[name, tensor] : file.tensors())
    views.push_back(tensor);
  return views;
}

Result<std::unique_ptr<Subject>> attune::bench::makeOurs(const Request &request) {
  Result<OpenedModel> model = OpenedModel::open(request);
  if (!model)
    return model.status();
  Result<EntryCall> call = EntryCall::prepare(model->artifact, "", model->inputs(), request.threads);
  if (!call)
    return call.status();
  return std::unique_ptr<Subject>(new Ours(std::move(*call)));
}
