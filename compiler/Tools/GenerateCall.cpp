//===- GenerateCall.cpp - One generation from named tensors ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/GenerateCall.h"

#include "compiler/Tools/EntryCall.h"

#include <algorithm>
#include <cstring>

using namespace attune;

/// The names of the outputs of a generation.
static const char *const outputNames[] = {"sequences", "sequences_scores", "step_logits"};

/// Returns true for an input of generation that the families' default inputs include.
static bool isUsual(const std::string &name) { return name == "input_ids" || name == "attention_mask" || name == "decoder_input_ids"; }

ModelRequest attune::generationRequest(const std::vector<TensorSpec> &inputs, const std::vector<std::string> &names) {
  ModelRequest request;
  request.outputs = {"logits"};
  request.entries = {"encode", "prefill", "decode"};
  // If all inputs are usual, none is requested: the family's default inputs include them and, for an encoder-decoder,
  // the inputs of encoder and decoder. Otherwise all are requested, the usual ones too, because a request replaces the
  // defaults. An attention_mask of floats, or of another rank than 2, is not usual.
  bool usual = std::all_of(names.begin(), names.end(), isUsual) && std::all_of(inputs.begin(), inputs.end(), [](const TensorSpec &input) {
                 return isUsual(input.name) && (input.name != "attention_mask" || (isInteger(input.dtype) && input.shape.size() == 2));
               });
  if (!usual)
    request.inputs = inputs, request.inputNames = names;
  return request;
}

/// Returns |input| as I64 if it has integers or BOOL, as F32 if it has floats. Fails for BOOL if an entry of |model|
/// has an I64 input of this name that is not a mask.
static Result<OwnedTensor> convert(const attune_model_desc &model, const TensorView &input) {
  for (const attune_entry_desc *entry = model.entries; entry != model.entries + model.num_entries; ++entry)
    for (const attune_tensor_desc *own = entry->inputs; own != entry->inputs + entry->num_inputs; ++own)
      if (own->dtype == ATTUNE_I64 && input.name == own->name)
        if (Status status = checkIntegers(*own, input.dtype); status.failed())
          return status;
  DType dtype = isInteger(input.dtype) ? DType::I64 : DType::F32;
  OwnedTensor tensor{{input.name, dtype, input.shape}, std::vector<uint8_t>(static_cast<size_t>(input.elements) * elementSize(dtype))};
  if (dtype == DType::I64)
    convertToI64(input, 0, input.elements, reinterpret_cast<int64_t *>(tensor.data.data()));
  else if (isFloat(input.dtype))
    convertToF32(input, 0, input.elements, reinterpret_cast<float *>(tensor.data.data()));
  else
    return Status::error("input '" + input.name + "': expected integers or floats, got " + dtypeName(input.dtype));
  return tensor;
}

template <typename T>
static OwnedTensor copyOf(const char *name, DType dtype, std::vector<int64_t> shape, const T *values) {
  size_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<size_t>(size);
  const auto *bytes = reinterpret_cast<const uint8_t *>(values);
  return {{name, dtype, std::move(shape)}, {bytes, bytes + count * sizeof(T)}};
}

/// Returns copies of the |wanted| outputs of |generation|; copies of all its outputs if |wanted| is empty.
static std::vector<OwnedTensor> collect(const attune_generation &generation, const std::vector<std::string> &wanted) {
  std::vector<OwnedTensor> outputs;
  auto isWanted = [&](const char *name) { return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end(); };
  if (isWanted(outputNames[0]))
    outputs.push_back(copyOf(outputNames[0], DType::I64, {generation.rows, generation.length}, generation.sequences));
  if (generation.scores && isWanted(outputNames[1]))
    outputs.push_back(copyOf(outputNames[1], DType::F32, {generation.rows}, generation.scores));
  if (generation.step_logits)
    outputs.push_back(
        copyOf(outputNames[2], DType::F32, {generation.rows, generation.steps, generation.vocab_size}, generation.step_logits));
  return outputs;
}

static Status checkWanted(const std::vector<std::string> &wanted, const attune_generation_options &options) {
  for (const std::string &name : wanted) {
    if (std::find(std::begin(outputNames), std::end(outputNames), name) == std::end(outputNames))
      return Status::error("--outputs: expected sequences, sequences_scores or step_logits, got '" + name + "'");
    if (name == outputNames[1] && options.num_beams == 1)
      return Status::error("--outputs: 'sequences_scores' are those of beams, expected num_beams of at least 2, got 1");
  }
  return {};
}

/// Creates a session with the limits that the generation needs.
static Result<std::shared_ptr<attune_session>> makeSession(const Artifact &artifact, const attune_generation_options &options,
                                                           const std::vector<attune_tensor> &inputs, int64_t threads) {
  attune_dim_limit limits[ATTUNE_MAX_GENERATION_LIMITS];
  attune_session_options sessionOptions;
  attune_session_options_init(&sessionOptions);
  sessionOptions.limits = limits;
  sessionOptions.num_threads = threads;
  attune_session *session = nullptr;
  if (attune_generation_limits(artifact.model(), &options, inputs.data(), inputs.size(), limits, &sessionOptions.num_limits) != ATTUNE_OK ||
      attune_session_create(artifact.model(), &sessionOptions, &session) != ATTUNE_OK)
    return Status::error(artifact.label() + ": " + attune_last_error());
  return std::shared_ptr<attune_session>(session, attune_session_destroy);
}

/// Returns an `attention_mask` that hides the padding in `input_ids`; nullopt if |inputs| have a mask, if they have no
/// `input_ids` of rank 2, if the model takes no mask, or if there is no padding. As in transformers, ids equal to
/// pad_token_id are padding unless pad_token_id is also one of eos_token_ids.
static std::optional<OwnedTensor> maskPadding(const Artifact &artifact, const attune_generation_options &options,
                                              const std::vector<OwnedTensor> &inputs) {
  constexpr const char *name = "attention_mask";
  auto takesMask = [&](const char *entry) {
    const attune_entry_desc *desc = attune_model_entry(artifact.model(), entry);
    return desc && std::any_of(desc->inputs, desc->inputs + desc->num_inputs,
                               [](const attune_tensor_desc &input) { return std::strcmp(input.name, name) == 0; });
  };
  auto find = [&](const char *name) {
    return std::find_if(inputs.begin(), inputs.end(), [&](const OwnedTensor &input) { return input.spec.name == name; });
  };
  auto ids = find("input_ids");
  const int64_t *ends = options.eos_token_ids, pad = options.pad_token_id;
  if (ids == inputs.end() || ids->spec.dtype != DType::I64 || ids->spec.shape.size() != 2 || find(name) != inputs.end() ||
      (!takesMask("encode") && !takesMask("prefill")) || pad < 0 ||
      std::find(ends, ends + options.num_eos_token_ids, pad) != ends + options.num_eos_token_ids)
    return std::nullopt;
  OwnedTensor mask{{name, DType::I64, ids->spec.shape}, std::vector<uint8_t>(ids->data.size())};
  bool hides = false;
  for (size_t at = 0; at < mask.data.size(); at += sizeof(int64_t)) {
    int64_t id, visible;
    std::memcpy(&id, ids->data.data() + at, sizeof(id));
    visible = id != pad;
    hides |= !visible;
    std::memcpy(mask.data.data() + at, &visible, sizeof(visible));
  }
  return hides ? std::optional(std::move(mask)) : std::nullopt;
}

Result<std::vector<OwnedTensor>> attune::runGeneration(const Artifact &artifact, const std::vector<TensorView> &inputs,
                                                       GenerationSettings settings, const std::vector<std::string> &wanted,
                                                       int64_t threads) {
  attune_generation_options options;
  attune_generation_options_init(artifact.model(), &options);
  settings.apply(options);
  if (Status status = checkWanted(wanted, options); status.failed())
    return status;
  options.want_step_logits = std::find(wanted.begin(), wanted.end(), outputNames[2]) != wanted.end();
  std::vector<OwnedTensor> memory;
  std::vector<attune_tensor> tensors;
  for (const TensorView &input : inputs) {
    Result<OwnedTensor> converted = convert(artifact.desc(), input);
    if (!converted)
      return Status::error(artifact.label() + ": " + converted.message());
    memory.push_back(std::move(*converted));
  }
  if (std::optional<OwnedTensor> mask = maskPadding(artifact, options, memory))
    memory.push_back(std::move(*mask));
  for (OwnedTensor &tensor : memory) {
    tensors.push_back({tensor.spec.name.c_str(), tensor.spec.dtype == DType::I64 ? ATTUNE_I64 : ATTUNE_F32,
                       static_cast<uint32_t>(tensor.spec.shape.size()), tensor.spec.shape.data(), tensor.data.data(), tensor.data.size()});
  }
  Result<std::shared_ptr<attune_session>> session = makeSession(artifact, options, tensors, threads);
  if (!session)
    return session.status();
  attune_generation *generation = nullptr;
  if (attune_generate(session->get(), &options, tensors.data(), tensors.size(), &generation) != ATTUNE_OK)
    return Status::error(artifact.label() + ": " + attune_last_error());
  std::vector<OwnedTensor> outputs = collect(*generation, wanted);
  attune_generation_free(generation);
  return outputs;
}
