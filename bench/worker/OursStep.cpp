//===- OursStep.cpp - A step of a compiled decoder as the subject -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `input_ids` [1, past + 1] of the file are a prompt and the token after it. The prompt is read once, and each call
// appends the token to it. With --new-tokens N a call does the least work that generating N ids from the prompt needs:
// it reads the prompt and appends the token N - 1 times. The subject of a prefill reads the prompt in each call.
//===----------------------------------------------------------------------===//
#include "bench/worker/Worker.h"
#include "compiler/Tools/EntryCall.h"

#include <cstring>

using namespace attune;
using namespace attune::bench;

namespace {
class OursStep : public Subject {
public:
  OursStep(Artifact artifact, bool promptOnly) : artifact(std::move(artifact)), promptOnly(promptOnly) {}

  Status open(const TensorView &ids, const Request &request) {
    past = ids.elements - 1;
    newTokens = request.newTokens;
    attune_dim_limit limits[] = {{"batch", 1}, {"length", past}, {"past", past + newTokens}};
    attune_session_options options;
    attune_session_options_init(&options);
    options.limits = limits;
    options.num_limits = 3;
    options.num_threads = request.threads;
    attune_session *created = nullptr;
    if (attune_session_create(artifact.model(), &options, &created) != ATTUNE_OK)
      return runtimeError(artifact);
    session.reset(created, attune_session_destroy);
    prompt.token = {{"input_ids", DType::I64, {1, past}}, std::vector<uint8_t>(ids.data, ids.data + past * sizeof(int64_t))};
    step.token = {{"input_ids", DType::I64, {1, 1}}, std::vector<uint8_t>(ids.data + past * sizeof(int64_t), ids.data + ids.bytes)};
    for (Call *call : {&prompt, &step})
      if (Status status = prepare(*call); status.failed())
        return status;
    return run(prompt);
  }

  Status run() override {
    if (attune_session_slot_truncate(session.get(), 0, newTokens > 1 || promptOnly ? 0 : past) != ATTUNE_OK)
      return runtimeError(artifact);
    if (promptOnly)
      return run(prompt);
    if (newTokens == 1)
      return run(step);
    Status status = run(prompt);
    for (int64_t i = 1; i < newTokens && !status.failed(); ++i)
      status = run(step);
    return status;
  }

  Result<std::vector<float>> output() override {
    const std::vector<uint8_t> &logits = (promptOnly ? prompt : step).logits.data;
    std::vector<float> values(logits.size() / sizeof(float));
    std::memcpy(values.data(), logits.data(), logits.size());
    return values;
  }

private:
  /// A call of |entry| with one input, the ids |token|, and one output, |logits|.
  struct Call {
    const char *entry;
    OwnedTensor token, logits;
  };

  /// Takes memory for the first output of |call|.
  Status prepare(Call &call) {
    Result<const attune_entry_desc *> desc = artifact.entry(call.entry);
    if (!desc)
      return desc.status();
    attune_tensor input = toRuntime(call.token);
    std::vector<int64_t> dims((*desc)->num_dims);
    if (attune_infer_dims(artifact.model(), call.entry, &input, 1, dims.data()) != ATTUNE_OK)
      return runtimeError(artifact);
    Result<OwnedTensor> made = makeOutput(artifact, **desc, 0, dims);
    if (!made)
      return made.status();
    call.logits = std::move(*made);
    return {};
  }

  Status run(Call &call) {
    attune_tensor input = toRuntime(call.token), output = toRuntime(call.logits);
    if (attune_session_run(session.get(), call.entry, &input, 1, &output, 1) != ATTUNE_OK)
      return runtimeError(artifact);
    return {};
  }

  Artifact artifact;
  std::shared_ptr<attune_session> session;
  /// True if a measured call only reads the prompt (makeOursPrefill).
  bool promptOnly;
  int64_t past = 0, newTokens = 1;
  Call prompt{"prefill", {}, {}}, step{"decode", {}, {}};
};
} // namespace

static Result<std::unique_ptr<Subject>> make(const Request &request, bool promptOnly) {
  Result<OpenedModel> model = OpenedModel::open(request);
  if (!model)
    return model.status();
  const TensorView *ids = model->file.find("input_ids");
  if (!ids || ids->dtype != DType::I64 || ids->shape.size() != 2 || ids->shape[0] != 1 || ids->shape[1] < 2)
    return Status::error(request.input + ": tensor 'input_ids': expected I64 [1, past + 1]");
  auto subject = std::make_unique<OursStep>(model->artifact, promptOnly);
  if (Status status = subject->open(*ids, request); status.failed())
    return status;
  return std::unique_ptr<Subject>(std::move(subject));
}

Result<std::unique_ptr<Subject>> attune::bench::makeOursStep(const Request &request) { return make(request, /*promptOnly=*/false); }

Result<std::unique_ptr<Subject>> attune::bench::makeOursPrefill(const Request &request) { return make(request, /*promptOnly=*/true); }
