//===- StepCall.cpp - Sequences fed through the caches in chunks ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/StepCall.h"
#include "compiler/Tools/Compare.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

using namespace attune;

namespace {
/// The session that runs the chunks.
class StepSession {
public:
  StepSession(const Artifact &artifact, const StepRequest &request) : artifact(artifact), request(request) {}
  Result<std::vector<OwnedTensor>> run();

private:
  Status sortInputs();
  /// Computes |batch|, and |length|, |pastLength| and |sourceLength| in tokens, from the inputs. Fails if the sizes of
  /// the chunks do not add up to |length|.
  Status measure();
  Status makeSession();
  Status encode();
  /// Fills the caches with the given keys and values. If `attention_mask` has columns for their tokens, moves these
  /// columns from the input to the caches.
  Status loadPast();
  Status feed(int64_t begin, int64_t size);
  Status call(const attune_entry_desc &entry, std::vector<OwnedTensor> &inputs, std::vector<OwnedTensor> &outputs);
  /// Copies the outputs |chunk| of the chunk that begins at token |begin| into their columns of the results.
  void keep(std::vector<OwnedTensor> &chunk, int64_t begin);
  /// Adds the requested keys and values to the results.
  Status readCaches();

  const Artifact &artifact;
  StepRequest request;
  const attune_entry_desc *extend = nullptr, *decode = nullptr, *encoder = nullptr;
  /// The complete inputs of all chunks, the inputs of the encoder, and the initial contents of the caches.
  std::vector<OwnedTensor> chunked, sources, past;
  int64_t batch = 0, length = 0, pastLength = 0, sourceLength = 0;
  std::shared_ptr<attune_session> session;
  std::vector<OwnedTensor> results;
};
} // namespace

bool attune::isPastKeyValue(const std::string &name) { return name.substr(0, name.find('.')) == "past_key_values"; }

std::vector<std::string> attune::stepEntries() { return {"encode", "extend", "decode"}; }

/// Returns the input |name| of |entry|, or null if either does not exist.
static const attune_tensor_desc *findInput(const attune_entry_desc *entry, const std::string &name) {
  for (uint32_t i = 0; entry && i < entry->num_inputs; ++i)
    if (name == entry->inputs[i].name)
      return &entry->inputs[i];
  return nullptr;
}

/// Returns true if the input |name| of |entry| has a column for each token of a chunk. A head mask, for example, has
/// none.
static bool hasColumns(const attune_entry_desc &entry, const std::string &name) {
  const attune_tensor_desc *input = findInput(&entry, name);
  return input && input->rank >= 2 && input->shape[1] < 0 && std::strcmp(entry.dims[-input->shape[1] - 1].name, "length") == 0;
}

/// Fails if an element of the I64 |tensor| is negative or not below |desc|.max_value, as the runtime does for a call.
/// Accepts all elements if max_value is 0, and all floats.
static Status checkValues(const attune_tensor_desc &desc, const OwnedTensor &tensor) {
  if (tensor.spec.dtype != DType::I64 || desc.max_value <= 0)
    return {};
  const TensorView view = viewOf(tensor);
  for (int64_t i = 0; i < view.elements; ++i) {
    int64_t value;
    convertToI64(view, i, 1, &value);
    if (value < 0 || value >= desc.max_value)
      return Status::error("input '" + view.name + "' is " + std::to_string(value) + " at " + indexText(view.shape, i) + ", expected 0 " +
                           (desc.max_value == 2 ? "or " : "to ") + std::to_string(desc.max_value - 1));
  }
  return {};
}

/// Returns columns |begin| … |end| - 1 of axis 1 of |tensor|.
static OwnedTensor sliceColumns(const OwnedTensor &tensor, int64_t begin, int64_t end) {
  OwnedTensor part{tensor.spec, {}};
  int64_t columns = tensor.spec.shape[1], rows = tensor.spec.shape[0];
  part.spec.shape[1] = end - begin;
  size_t bytes = columns == 0 || rows == 0 ? 0 : tensor.data.size() / static_cast<size_t>(rows * columns);
  for (int64_t row = 0; row < rows; ++row) {
    auto first = tensor.data.begin() + static_cast<ptrdiff_t>(bytes * static_cast<size_t>(row * columns + begin));
    part.data.insert(part.data.end(), first, first + static_cast<ptrdiff_t>(bytes * static_cast<size_t>(end - begin)));
  }
  return part;
}

bool attune::beginsInCaches(const Artifact &artifact, const std::vector<TensorView> &inputs) {
  const attune_entry_desc *forward = attune_model_entry(artifact.model(), "forward");
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const TensorView &input) { return isPastKeyValue(input.name) && !findInput(forward, input.name); });
}

Status StepSession::sortInputs() {
  extend = attune_model_entry(artifact.model(), "extend");
  decode = attune_model_entry(artifact.model(), "decode");
  encoder = attune_model_entry(artifact.model(), "encode");
  if (!extend)
    return Status::error(artifact.label() + ": the model keeps no keys and values: it has no entry 'extend'");
  for (const TensorView &input : request.inputs) {
    if (isPastKeyValue(input.name)) {
      OwnedTensor tensor{{input.name, DType::F32, input.shape}, std::vector<uint8_t>(static_cast<size_t>(input.elements) * 4)};
      if (!isFloat(input.dtype))
        return Status::error(artifact.label() + ": input '" + input.name + "': expected F32, got " + dtypeName(input.dtype));
      convertToF32(input, 0, input.elements, reinterpret_cast<float *>(tensor.data.data()));
      past.push_back(std::move(tensor));
      continue;
    }
    // An input may belong to the encoder and to the chunks, for example a head mask.
    bool ofSources = findInput(encoder, input.name), ofChunks = !ofSources || findInput(extend, input.name);
    for (auto [belongs, entry, list] : {std::tuple(ofSources, encoder, &sources), std::tuple(ofChunks, extend, &chunked)}) {
      if (!belongs)
        continue;
      Result<OwnedTensor> tensor = convertInput(artifact, *entry, input);
      if (!tensor)
        return tensor.status();
      // The runtime sees only chunks, and no mask columns of earlier tokens, so values are checked here.
      if (Status status = checkValues(*findInput(entry, input.name), *tensor); status.failed())
        return Status::error(artifact.label() + ": " + status.message());
      list->push_back(std::move(*tensor));
    }
  }
  repeatRows(*extend, chunked);
  return {};
}

Status StepSession::measure() {
  auto find = [](const std::vector<OwnedTensor> &list, const std::string &name) {
    auto found = std::find_if(list.begin(), list.end(), [&](const OwnedTensor &tensor) { return tensor.spec.name == name; });
    return found == list.end() ? nullptr : &*found;
  };
  const OwnedTensor *tokens = find(chunked, extend->inputs[0].name);
  if (!tokens || tokens->spec.shape.size() < 2)
    return Status::error(artifact.label() + ": input '" + extend->inputs[0].name + "': expected tokens [batch, length], " +
                         (tokens ? "got " + shapeText(tokens->spec.shape) : "which are missing"));
  batch = tokens->spec.shape[0];
  length = tokens->spec.shape[1];
  if (request.steps.empty())
    request.steps = {length};
  std::optional<int64_t> sum = sumSizes(request.steps);
  if (sum != length)
    return Status::error(artifact.label() + ": --steps: expected sizes that add up to the " + std::to_string(length) + " tokens of '" +
                         tokens->spec.name + "', got " + (sum ? std::to_string(*sum) : "more than 2^63"));
  for (const OwnedTensor &cache : past) {
    bool ofSource = cache.spec.name.back() >= '2';
    if (cache.spec.shape.size() == 4)
      (ofSource ? sourceLength : pastLength) = cache.spec.shape[2];
  }
  if (encoder && !sources.empty())
    if (const OwnedTensor *source = find(sources, encoder->inputs[0].name); source && source->spec.shape.size() > 1)
      sourceLength = source->spec.shape[1];
  return {};
}

Status StepSession::call(const attune_entry_desc &entry, std::vector<OwnedTensor> &inputs, std::vector<OwnedTensor> &outputs) {
  std::vector<attune_tensor> in, out;
  for (OwnedTensor &input : inputs)
    in.push_back(toRuntime(input));
  std::vector<int64_t> dims(entry.num_dims);
  if (attune_infer_dims(artifact.model(), entry.name, in.data(), in.size(), dims.data()) != ATTUNE_OK)
    return runtimeError(artifact);
  outputs.clear();
  outputs.reserve(entry.num_outputs);
  for (uint32_t i = 0; i < entry.num_outputs; ++i) {
    Result<OwnedTensor> output = makeOutput(artifact, entry, i, dims);
    if (!output)
      return output.status();
    outputs.push_back(std::move(*output));
    out.push_back(toRuntime(outputs.back()));
  }
  if (attune_session_run(session.get(), entry.name, in.data(), in.size(), out.data(), out.size()) != ATTUNE_OK)
    return runtimeError(artifact);
  return {};
}

Status StepSession::encode() {
  std::vector<OwnedTensor> none;
  return encoder && !sources.empty() ? call(*encoder, sources, none) : Status();
}

void StepSession::keep(std::vector<OwnedTensor> &chunk, int64_t begin) {
  for (size_t i = 0; i < chunk.size(); ++i) {
    OwnedTensor &part = chunk[i];
    // Outputs of `decode` have no dimension for its one token.
    if (part.spec.shape.size() == 2)
      part.spec.shape.insert(part.spec.shape.begin() + 1, 1);
    if (results.size() <= i) {
      OwnedTensor whole{part.spec, {}};
      whole.spec.shape[1] = length;
      whole.data.resize(part.data.size() / static_cast<size_t>(part.spec.shape[1]) * static_cast<size_t>(length));
      results.push_back(std::move(whole));
    }
    OwnedTensor &whole = results[i];
    size_t bytes = part.data.size() / static_cast<size_t>(batch * part.spec.shape[1]);
    size_t columns = static_cast<size_t>(part.spec.shape[1]);
    for (int64_t row = 0; row < batch; ++row)
      std::memcpy(whole.data.data() + bytes * static_cast<size_t>(row * length + begin),
                  part.data.data() + bytes * columns * static_cast<size_t>(row), bytes * columns);
  }
}

Status StepSession::feed(int64_t begin, int64_t size) {
  bool decodes = size == 1 && decode && pastLength + begin > 0;
  std::vector<OwnedTensor> inputs;
  for (const OwnedTensor &input : chunked) {
    decodes = decodes && findInput(decode, input.spec.name);
    inputs.push_back(hasColumns(*extend, input.spec.name) ? sliceColumns(input, begin, begin + size) : input);
  }
  std::vector<OwnedTensor> outputs;
  if (Status status = call(decodes ? *decode : *extend, inputs, outputs); status.failed())
    return status;
  keep(outputs, begin);
  return {};
}

Result<std::vector<OwnedTensor>> StepSession::run() {
  for (auto step :
       {&StepSession::sortInputs, &StepSession::measure, &StepSession::makeSession, &StepSession::encode, &StepSession::loadPast})
    if (Status status = (this->*step)(); status.failed())
      return status;
  int64_t begin = 0;
  for (int64_t size : request.steps) {
    if (Status status = feed(begin, size); status.failed())
      return status;
    begin += size;
  }
  if (!request.wanted.empty())
    results.erase(std::remove_if(results.begin(), results.end(),
                                 [&](const OwnedTensor &tensor) { return !isWanted(request.wanted, tensor.spec.name); }),
                  results.end());
  if (Status status = readCaches(); status.failed())
    return status;
  for (const std::string &name : request.wanted)
    if (std::none_of(results.begin(), results.end(), [&](const OwnedTensor &tensor) { return isWanted({name}, tensor.spec.name); }))
      return Status::error(artifact.label() + ": output '" + name +
                           "': expected an output of each token, as logits, or past_key_values in steps");
  return std::move(results);
}

Result<std::vector<OwnedTensor>> attune::runSteps(const Artifact &artifact, const StepRequest &request) {
  return StepSession(artifact, request).run();
}

Status StepSession::makeSession() {
  int64_t longest = *std::max_element(request.steps.begin(), request.steps.end());
  std::vector<attune_dim_limit> limits;
  auto limit = [&](const char *dim, int64_t value) {
    for (uint32_t e = 0; e < artifact.desc().num_entries; ++e)
      for (uint32_t d = 0; d < artifact.desc().entries[e].num_dims; ++d)
        if (std::strcmp(artifact.desc().entries[e].dims[d].name, dim) == 0) {
          limits.push_back({dim, std::max<int64_t>(1, value)});
          return;
        }
  };
  limit("batch", batch), limit("length", longest), limit("past", pastLength + length), limit("source_length", sourceLength);
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits.data();
  options.num_limits = limits.size();
  options.num_threads = request.threads;
  attune_session *created = nullptr;
  if (attune_session_create(artifact.model(), &options, &created) != ATTUNE_OK)
    return runtimeError(artifact);
  session.reset(created, attune_session_destroy);
  return {};
}

Status StepSession::loadPast() {
  std::vector<OwnedTensor> written;
  std::swap(written, past);
  if (written.empty())
    return {};
  for (OwnedTensor &input : chunked) {
    if (input.spec.name != "attention_mask" || input.spec.shape.size() != 2 || input.spec.shape[1] != pastLength + length)
      continue;
    OwnedTensor seen = sliceColumns(input, 0, pastLength), mask{{"visible", DType::F32, seen.spec.shape}, {}};
    mask.data.resize(static_cast<size_t>(batch * pastLength) * 4);
    for (int64_t i = 0; i < batch * pastLength; ++i) {
      float added;
      std::memcpy(&added, seen.data.data() + (seen.spec.dtype == DType::F32 ? i * 4 : 0), 4);
      if (int64_t visible; seen.spec.dtype == DType::I64) {
        std::memcpy(&visible, seen.data.data() + i * 8, 8);
        added = (1.0f - static_cast<float>(visible)) * std::numeric_limits<float>::lowest();
      }
      std::memcpy(mask.data.data() + i * 4, &added, 4);
    }
    written.push_back(std::move(mask));
    input = sliceColumns(input, pastLength, pastLength + length);
    break;
  }
  std::vector<attune_tensor> tensors;
  for (OwnedTensor &tensor : written)
    tensors.push_back(toRuntime(tensor));
  if (attune_session_cache_write(session.get(), nullptr, tensors.data(), tensors.size()) != ATTUNE_OK)
    return runtimeError(artifact);
  return {};
}

Status StepSession::readCaches() {
  for (uint32_t i = 0; i < artifact.desc().num_caches; ++i) {
    const attune_cache_desc &cache = artifact.desc().caches[i];
    if (cache.kind == ATTUNE_CACHE_MASK || !isWanted(request.wanted, cache.name))
      continue;
    if (artifact.desc().num_ranks > 1)
      return Status::error(artifact.label() + ": output '" + cache.name +
                           "': each rank has its own heads, expected other outputs, as logits");
    int64_t tokens = cache.of_sources ? sourceLength : pastLength + length;
    OwnedTensor tensor{{cache.name, DType::F32, {batch, cache.heads, tokens, cache.size}}, {}};
    tensor.data.resize(static_cast<size_t>(batch * cache.heads * tokens * cache.size) * 4);
    attune_tensor view = toRuntime(tensor);
    if (attune_session_cache_read(session.get(), nullptr, &view) != ATTUNE_OK)
      return runtimeError(artifact);
    results.push_back(std::move(tensor));
  }
  return {};
}
