//===- EntryCall.cpp - One prepared call of an entry ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes named tensors to attune_session_run and returns the outputs by name.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/EntryCall.h"

#include <algorithm>
#include <cstring>

using namespace attune;

Status EntryCall::addInputs(const std::vector<TensorView> &inputs) {
  for (const TensorView &input : inputs) {
    Result<OwnedTensor> tensor = convertInput(artifact, *entryDesc, input);
    if (!tensor)
      return tensor.status();
    inputMemory.push_back(std::move(*tensor));
  }
  repeatRows(*entryDesc, inputMemory);
  // inputMemory must not grow from here on, since the views borrow from its elements.
  for (OwnedTensor &input : inputMemory)
    inputTensors.push_back(toRuntime(input));
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
  // Dimensions that only other entries have get the limit 1.
  for (uint32_t e = 0; e < artifact.desc().num_entries; ++e)
    for (uint32_t i = 0; i < artifact.desc().entries[e].num_dims; ++i)
      if (const char *name = artifact.desc().entries[e].dims[i].name;
          std::none_of(limits.begin(), limits.end(), [&](const attune_dim_limit &limit) { return std::strcmp(limit.name, name) == 0; }))
        limits.push_back({name, 1});
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits.data();
  options.num_limits = limits.size();
  options.num_threads = host ? 0 : threads;
  options.host = host;
  attune_session *created = nullptr;
  if (attune_session_create(artifact.model(), &options, &created) != ATTUNE_OK)
    return runtimeError(artifact);
  session.reset(created, attune_session_destroy);
  return entryDesc->cache_use >= ATTUNE_CACHE_APPEND ? fillCaches() : Status();
}

/// Writes zeros for the keys and values of the |cached| tokens to the caches of all rows. Sets |rows|.
Status EntryCall::fillCaches() {
  rows = inputTensors[0].shape[0];
  const attune_model_desc &desc = artifact.desc();
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
    return runtimeError(artifact);
  return {};
}

Status EntryCall::makeOutputs() {
  outputMemory.reserve(entryDesc->num_outputs);
  for (uint32_t i = 0; i < entryDesc->num_outputs; ++i) {
    Result<OwnedTensor> tensor = makeOutput(artifact, *entryDesc, i, dimValues);
    if (!tensor)
      return tensor.status();
    outputMemory.push_back(std::move(*tensor));
    outputTensors.push_back(toRuntime(outputMemory.back()));
  }
  return {};
}

Result<EntryCall> EntryCall::prepare(const Artifact &artifact, const std::string &entryName, const std::vector<TensorView> &inputs,
                                     int64_t threads, const attune_host *host, Cached cached) {
  EntryCall call(artifact);
  call.cached = cached;
  Result<const attune_entry_desc *> entry = artifact.entry(entryName);
  if (!entry)
    return entry.status();
  call.entryDesc = *entry;
  if (Status status = call.addInputs(inputs); status.failed())
    return status;
  call.dimValues.resize(call.entryDesc->num_dims);
  if (attune_infer_dims(artifact.model(), call.entryDesc->name, call.inputTensors.data(), call.inputTensors.size(),
                        call.dimValues.data()) != ATTUNE_OK)
    return runtimeError(artifact);
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
    return runtimeError(artifact);
  // The next run starts with the same contents of the caches.
  for (int64_t slot = 0; slot < rows; ++slot)
    if (attune_session_slot_truncate(session.get(), slot, cached.past) != ATTUNE_OK)
      return runtimeError(artifact);
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
      // "attentions.1" belongs to the group "attentions" even if it is compiled alone.
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
      return Status::error(artifact.label() + ": output '" + wanted[i] + "': not computed by entry '" + entryDesc->name +
                           "'; it has: " + known);
  return result;
}
