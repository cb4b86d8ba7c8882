//===- OursGenerate.cpp - A generation as the subject -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call generates from the tensors of the input file: the requested number of new ids in every sequence, by greedy
// or beam search.
//===----------------------------------------------------------------------===//
#include "attune/generate.h"
#include "bench/worker/Worker.h"

using namespace attune;
using namespace attune::bench;

namespace {
class OursGenerate : public Subject {
public:
  explicit OursGenerate(Artifact artifact) : artifact(std::move(artifact)) {}

  Status open(const std::vector<TensorView> &given, const Request &request) {
    for (const TensorView &view : given)
      memory.push_back({{view.name, view.dtype, view.shape}, std::vector<uint8_t>(view.data, view.data + view.bytes)});
    for (OwnedTensor &tensor : memory)
      inputs.push_back(toRuntime(tensor));
    attune_generation_options_init(artifact.model(), &options);
    options.num_beams = request.beams;
    options.num_return_sequences = 1;
    // No sequence ends early, so that both sides of a comparison do the same number of steps.
    options.max_new_tokens = options.min_new_tokens = request.newTokens;
    options.min_length = 0;
    options.early_stopping = ATTUNE_STOP_NEVER_EARLY;
    attune_dim_limit limits[ATTUNE_MAX_GENERATION_LIMITS];
    attune_session_options wanted;
    attune_session_options_init(&wanted);
    wanted.limits = limits;
    wanted.num_threads = request.threads;
    attune_session *created = nullptr;
    if (attune_generation_limits(artifact.model(), &options, inputs.data(), inputs.size(), limits, &wanted.num_limits) != ATTUNE_OK ||
        attune_session_create(artifact.model(), &wanted, &created) != ATTUNE_OK)
      return runtimeError(artifact);
    session.reset(created, attune_session_destroy);
    return {};
  }

  Status run() override {
    attune_generation *generation = nullptr;
    if (attune_generate(session.get(), &options, inputs.data(), inputs.size(), &generation) != ATTUNE_OK)
      return runtimeError(artifact);
    ids.assign(generation->sequences, generation->sequences + generation->rows * generation->length);
    int64_t steps = generation->steps;
    attune_generation_free(generation);
    if (steps != options.max_new_tokens)
      return Status::error("expected " + std::to_string(options.max_new_tokens) + " steps, got " + std::to_string(steps));
    return {};
  }

  /// Returns the ids of the last call.
  Result<std::vector<float>> output() override { return std::vector<float>(ids.begin(), ids.end()); }

private:
  Artifact artifact;
  std::shared_ptr<attune_session> session;
  attune_generation_options options;
  std::vector<OwnedTensor> memory;
  std::vector<attune_tensor> inputs;
  std::vector<int64_t> ids;
};
} // namespace

Result<std::unique_ptr<Subject>> attune::bench::makeOursGenerate(const Request &request) {
  Result<OpenedModel> model = OpenedModel::open(request);
  if (!model)
    return model.status();
  auto subject = std::make_unique<OursGenerate>(model->artifact);
  if (Status status = subject->open(model->inputs(), request); status.failed())
    return status;
  return std::unique_ptr<Subject>(std::move(subject));
}
