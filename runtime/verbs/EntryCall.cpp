//===- EntryCall.cpp - One prepared call of an entry -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From named tensors to attune_session_run and back.
//===----------------------------------------------------------------------===//
#include "runtime/verbs/EntryCall.h"

#include <algorithm>
#include <cstring>

using namespace attune;

TensorView attune::viewOf(const OwnedTensor &tensor) {
  TensorView view;
  view.name = tensor.spec.name;
  view.dtype = tensor.spec.dtype;
  view.shape = tensor.spec.shape;
  view.data = tensor.data.data();
  view.bytes = tensor.data.size();
  view.elements = static_cast<int64_t>(tensor.data.size() / elementSize(view.dtype));
  return view;
}

/// The file type of an artefact's type.
static DType fileType(uint32_t dtype) {
  switch (dtype) {
  case ATTUNE_I64:
    return DType::I64;
  case ATTUNE_BF16:
    return DType::BF16;
  case ATTUNE_F16:
    return DType::F16;
  case ATTUNE_I8:
    return DType::I8;
  default:
    return DType::F32;
  }
}

/// The artefact's type of a file's type.
static attune_dtype runtimeType(DType dtype) {
  switch (dtype) {
  case DType::I64:
    return ATTUNE_I64;
  case DType::BF16:
    return ATTUNE_BF16;
  case DType::F16:
    return ATTUNE_F16;
  case DType::I8:
    return ATTUNE_I8;
  default:
    return ATTUNE_F32;
  }
}

attune_tensor attune::toRuntime(OwnedTensor &tensor) {
  attune_tensor result = {};
  result.name = tensor.spec.name.c_str();
  result.dtype = runtimeType(tensor.spec.dtype);
  result.rank = static_cast<uint32_t>(tensor.spec.shape.size());
  result.shape = tensor.spec.shape.data();
  result.data = tensor.data.data();
  result.bytes = tensor.data.size();
  return result;
}

Status attune::runtimeError(const Artefact &artefact) { return Status::error(artefact.label() + ": " + attune_last_error()); }

Result<OwnedTensor> attune::convertInput(const Artefact &artefact, const attune_entry_desc &entry, const TensorView &input) {
  const attune_tensor_desc *desc = nullptr;
  std::string known;
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    known += (i ? ", " : "") + std::string(entry.inputs[i].name);
    if (input.name == entry.inputs[i].name)
      desc = &entry.inputs[i];
  }
  if (!desc)
    return Status::error(artefact.label() + ": input '" + input.name + "': entry '" + entry.name + "' has no such input; it has: " + known);

  OwnedTensor tensor{{input.name, fileType(desc->dtype), input.shape}, {}};
  tensor.data.resize(static_cast<size_t>(input.elements) * elementSize(tensor.spec.dtype));
  if (input.dtype == tensor.spec.dtype) {
    if (input.elements != 0)
      std::memcpy(tensor.data.data(), input.data, tensor.data.size());
  } else if (tensor.spec.dtype == DType::F32 && isFloat(input.dtype)) {
    convertToF32(input, 0, input.elements, reinterpret_cast<float *>(tensor.data.data()));
  } else if (tensor.spec.dtype == DType::I64 && isInteger(input.dtype)) {
    convertToI64(input, 0, input.elements, reinterpret_cast<int64_t *>(tensor.data.data()));
  } else {
    return Status::error(artefact.label() + ": input '" + input.name + "': expected " + dtypeName(tensor.spec.dtype) + ", got " +
                         dtypeName(input.dtype));
  }
  return tensor;
}

Status EntryCall::addInput(const TensorView &input) {
  Result<OwnedTensor> tensor = convertInput(artefact, *entryDesc, input);
  if (!tensor)
    return tensor.status();
  inputMemory.push_back(std::move(*tensor));
  inputTensors.push_back(toRuntime(inputMemory.back()));
  return {};
}

static bool isSourceLength(const attune_dim_limit &limit) { return std::strcmp(limit.name, "source_length") == 0; }

Status EntryCall::makeSession(int64_t threads, const attune_host *host) {
  std::vector<attune_dim_limit> limits;
  bool usesCaches = entryDesc->cache_use != ATTUNE_CACHE_UNUSED;
  int64_t tokens = usesCaches && inputTensors[0].rank > 1 ? inputTensors[0].shape[1] : 0;
  for (uint32_t i = 0; i < entryDesc->num_dims; ++i) {
    int64_t added = entryDesc->dims[i].origin == ATTUNE_DIM_PAST ? tokens : 0;
    limits.push_back({entryDesc->dims[i].name, std::max<int64_t>(1, dimValues[i] + added)});
  }
  if (entryDesc->cache_use == ATTUNE_CACHE_ENCODE && tokens > 0 && !std::any_of(limits.begin(), limits.end(), isSourceLength))
    limits.push_back({"source_length", tokens});
  // What only other entries have.
  for (uint32_t e = 0; e < artefact.desc().num_entries; ++e)
    for (uint32_t i = 0; i < artefact.desc().entries[e].num_dims; ++i)
      if (const char *name = artefact.desc().entries[e].dims[i].name;
          std::none_of(limits.begin(), limits.end(), [&](const attune_dim_limit &limit) { return std::strcmp(limit.name, name) == 0; }))
        limits.push_back({name, 1});
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits.data();
  options.num_limits = limits.size();
  options.num_threads = host ? 0 : threads;
  options.host = host;
  attune_session *created = nullptr;
  if (attune_session_create(artefact.model(), &options, &created) != ATTUNE_OK)
    return runtimeError(artefact);
  session.reset(created, attune_session_destroy);
  return entryDesc->cache_use >= ATTUNE_CACHE_APPEND ? fillCaches() : Status();
}

/// Zeros for all tokens that are to be there.
Status EntryCall::fillCaches() {
  rows = inputTensors[0].shape[0];
  const attune_model_desc &desc = artefact.desc();
  std::vector<OwnedTensor> tensors;
  for (uint32_t i = 0; i < desc.num_caches; ++i) {
    const attune_cache_desc &cache = desc.caches[i];
    int64_t length = cache.of_sources ? cached.source : cached.past;
    if (cache.kind == ATTUNE_CACHE_MASK || length == 0)
      continue;
    OwnedTensor tensor{{cache.name, DType::F32, {rows, cache.heads, length, cache.size}}, {}};
    tensor.data.resize(static_cast<size_t>(rows * cache.heads * length * cache.size) * sizeof(float));
    tensors.push_back(std::move(tensor));
  }
  std::vector<attune_tensor> views;
  for (OwnedTensor &tensor : tensors)
    views.push_back(toRuntime(tensor));
  if (attune_session_cache_write(session.get(), nullptr, views.data(), views.size()) != ATTUNE_OK)
    return runtimeError(artefact);
  return {};
}

Result<OwnedTensor> attune::makeOutput(const Artefact &artefact, const attune_entry_desc &entry, uint32_t output,
                                       const std::vector<int64_t> &dims) {
  const attune_tensor_desc &desc = entry.outputs[output];
  OwnedTensor tensor{{desc.name, fileType(desc.dtype), std::vector<int64_t>(desc.rank)}, {}};
  size_t bytes = 0;
  if (attune_output_shape(artefact.model(), entry.name, output, dims.data(), tensor.spec.shape.data(), &bytes) != ATTUNE_OK)
    return runtimeError(artefact);
  tensor.data.resize(bytes);
  return tensor;
}

Status EntryCall::makeOutputs() {
  outputMemory.reserve(entryDesc->num_outputs);
  for (uint32_t i = 0; i < entryDesc->num_outputs; ++i) {
    Result<OwnedTensor> tensor = makeOutput(artefact, *entryDesc, i, dimValues);
    if (!tensor)
      return tensor.status();
    outputMemory.push_back(std::move(*tensor));
    outputTensors.push_back(toRuntime(outputMemory.back()));
  }
  return {};
}

Result<EntryCall> EntryCall::prepare(const Artefact &artefact, const std::string &entryName, const std::vector<TensorView> &inputs,
                                     int64_t threads, const attune_host *host, Cached cached) {
  EntryCall call(artefact);
  call.cached = cached;
  Result<const attune_entry_desc *> entry = artefact.entry(entryName);
  if (!entry)
    return entry.status();
  call.entryDesc = *entry;
  call.inputMemory.reserve(inputs.size()); // attune_tensor borrows from the elements, which therefore must not move
  for (const TensorView &input : inputs)
    if (Status status = call.addInput(input); status.failed())
      return status;
  call.dimValues.resize(call.entryDesc->num_dims);
  if (attune_infer_dims(artefact.model(), call.entryDesc->name, call.inputTensors.data(), call.inputTensors.size(),
                        call.dimValues.data()) != ATTUNE_OK)
    return runtimeError(artefact);
  for (uint32_t i = 0; i < call.entryDesc->num_dims; ++i)
    if (uint32_t origin = call.entryDesc->dims[i].origin; origin == ATTUNE_DIM_PAST || origin == ATTUNE_DIM_SOURCE_LENGTH)
      call.dimValues[i] = origin == ATTUNE_DIM_PAST ? cached.past : cached.source;
  if (Status status = call.makeOutputs(); status.failed())
    return status;
  if (Status status = call.makeSession(threads, host); status.failed())
    return status;
  return call;
}

Status EntryCall::run() {
  if (attune_session_run(session.get(), entryDesc->name, inputTensors.data(), inputTensors.size(), outputTensors.data(),
                         outputTensors.size()) != ATTUNE_OK)
    return runtimeError(artefact);
  // The next run finds what this one did.
  for (int64_t slot = 0; slot < rows; ++slot)
    if (attune_session_slot_truncate(session.get(), slot, cached.past) != ATTUNE_OK)
      return runtimeError(artefact);
  return {};
}

Result<std::vector<OwnedTensor>> EntryCall::outputs(const std::vector<std::string> &wanted) const {
  std::vector<bool> used(wanted.size(), false);
  auto isWanted = [&](const std::string &name, const std::string &group) {
    bool found = wanted.empty();
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] == name || wanted[i] == group)
        found = used[i] = true;
    return found;
  };
  std::vector<OwnedTensor> result;
  std::string known;
  for (uint32_t i = 0; i < entryDesc->num_outputs; ++i) {
    const OwnedTensor &whole = outputMemory[i];
    known += (i ? ", " : "") + whole.spec.name;
    if (!entryDesc->outputs[i].group) {
      // "attentions.1" compiled alone still belongs to the group "attentions".
      if (isWanted(whole.spec.name, whole.spec.name.substr(0, whole.spec.name.find('.'))))
        result.push_back(whole);
      continue;
    }
    int64_t members = whole.spec.shape[0];
    for (int64_t member = 0; member < members; ++member) {
      std::string name = whole.spec.name + "." + std::to_string(member);
      if (!isWanted(name, whole.spec.name))
        continue;
      size_t bytes = whole.data.size() / static_cast<size_t>(members);
      auto begin = whole.data.begin() + static_cast<ptrdiff_t>(bytes * static_cast<size_t>(member));
      result.push_back({{name, whole.spec.dtype, {whole.spec.shape.begin() + 1, whole.spec.shape.end()}},
                        {begin, begin + static_cast<ptrdiff_t>(bytes)}});
    }
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!used[i])
      return Status::error(artefact.label() + ": output '" + wanted[i] + "': not computed by entry '" + entryDesc->name +
                           "'; it has: " + known);
  return result;
}
