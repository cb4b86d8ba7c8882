//===- StepCaches.cpp - The caches of a call in chunks ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/StepSession.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace attune;

OwnedTensor attune::sliceColumns(const OwnedTensor &tensor, int64_t begin, int64_t end) {
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

Status StepSession::makeSession() {
  int64_t longest = *std::max_element(request.steps.begin(), request.steps.end());
  std::vector<attune_dim_limit> limits;
  auto limit = [&](const char *dim, int64_t value) {
    for (uint32_t e = 0; e < artefact.desc().num_entries; ++e)
      for (uint32_t d = 0; d < artefact.desc().entries[e].num_dims; ++d)
        if (std::strcmp(artefact.desc().entries[e].dims[d].name, dim) == 0) {
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
  if (attune_session_create(artefact.model(), &options, &created) != ATTUNE_OK)
    return runtimeError(artefact);
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
    return runtimeError(artefact);
  return {};
}

Status StepSession::readCaches() {
  for (uint32_t i = 0; i < artefact.desc().num_caches; ++i) {
    const attune_cache_desc &cache = artefact.desc().caches[i];
    if (cache.kind == ATTUNE_CACHE_MASK || !isWanted(request.wanted, cache.name))
      continue;
    int64_t tokens = cache.of_sources ? sourceLength : pastLength + length;
    OwnedTensor tensor{{cache.name, DType::F32, {batch, cache.heads, tokens, cache.size}}, {}};
    tensor.data.resize(static_cast<size_t>(batch * cache.heads * tokens * cache.size) * 4);
    attune_tensor view = toRuntime(tensor);
    if (attune_session_cache_read(session.get(), nullptr, &view) != ATTUNE_OK)
      return runtimeError(artefact);
    results.push_back(std::move(tensor));
  }
  return {};
}
