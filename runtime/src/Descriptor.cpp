//===- Descriptor.cpp - Reading a model descriptor ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Descriptor.h"
#include "attune/generate.h"
#include "Error.h"

#include <cstdio>
#include <cstring>

using namespace attune;

/// Returns |dtype| as a number. A caller or a damaged descriptor may have a value that is no enumerator; reading that
/// as an enumeration is undefined behavior.
static uint32_t dtypeNumber(const attune_dtype &dtype) {
  uint32_t number;
  static_assert(sizeof(number) == sizeof(dtype), "attune_dtype");
  memcpy(&number, &dtype, sizeof(number));
  return number;
}

size_t attune_dtype_bytes(attune_dtype dtype) {
  switch (dtypeNumber(dtype)) {
  case ATTUNE_F32:
  case ATTUNE_I32:
    return 4;
  case ATTUNE_I64:
    return 8;
  case ATTUNE_BF16:
  case ATTUNE_F16:
    return 2;
  case ATTUNE_I8:
    return 1;
  }
  return 0;
}

const char *attune_dtype_name(attune_dtype dtype) {
  static const char *const names[] = {"f32", "i64", "bf16", "f16", "i8", "i32"};
  uint32_t number = dtypeNumber(dtype);
  return number < 6 ? names[number] : "unknown";
}

static attune_status checkTensor(const attune_entry_desc &entry, const attune_tensor_desc &tensor) {
  if (!tensor.name || (tensor.rank && !tensor.shape))
    return fail(ATTUNE_CORRUPT, "model descriptor: entry '%s' has a tensor without name or shape", entry.name);
  if (tensor.rank > ATTUNE_MAX_RANK)
    return fail(ATTUNE_CORRUPT, "model descriptor: '%s' has rank %u, at most %d expected", tensor.name, tensor.rank, ATTUNE_MAX_RANK);
  if (tensor.dtype > ATTUNE_I8 || tensor.fill > ATTUNE_FILL_SOURCE_LENGTHS)
    return fail(ATTUNE_CORRUPT, "model descriptor: '%s' has dtype %u and fill %u, unknown to this runtime", tensor.name, tensor.dtype,
                tensor.fill);
  // Only F32 and I64 inputs can have defaults.
  if (tensor.fill != ATTUNE_FILL_REQUIRED && tensor.dtype != ATTUNE_F32 && tensor.dtype != ATTUNE_I64)
    return fail(ATTUNE_CORRUPT, "model descriptor: '%s' has a default but dtype %s, f32 or i64 expected", tensor.name,
                attune_dtype_name(static_cast<attune_dtype>(tensor.dtype)));
  uint32_t rank = tensor.fill == ATTUNE_FILL_TOKENS ? 2 : 1;
  if (tensor.fill >= ATTUNE_FILL_TOKENS && (tensor.dtype != ATTUNE_I64 || tensor.rank != rank || tensor.shape[0] >= 0))
    return fail(ATTUNE_CORRUPT, "model descriptor: '%s' is about the rows of a call, i64 of rank %u with rows expected", tensor.name, rank);
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    if (tensor.shape[axis] < -static_cast<int64_t>(entry.num_dims))
      return fail(ATTUNE_CORRUPT, "model descriptor: '%s' refers to dimension %lld of %u", tensor.name,
                  static_cast<long long>(~tensor.shape[axis]), entry.num_dims);
  return ATTUNE_OK;
}

/// Checks that |entry| has the inputs by which a session finds slots and sources. The first input of an entry that uses
/// caches must be the tokens, [rows, length, …]. Each input that entry.cache_use requires must occur once, with as many
/// rows as the tokens. Fails with CORRUPT.
static attune_status checkCacheUse(const attune_model_desc &desc, const attune_entry_desc &entry) {
  uint32_t counts[ATTUNE_FILL_SOURCE_LENGTHS + 1] = {}, origins[ATTUNE_DIM_TOTAL_LENGTH + 1] = {};
  bool sameRows = true;
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    const attune_tensor_desc &input = entry.inputs[i];
    ++counts[input.fill];
    auto isLike = [&](uint32_t axis) {
      const attune_tensor_desc &first = entry.inputs[0];
      return input.rank > axis && first.rank > axis && input.shape[axis] == first.shape[axis];
    };
    sameRows &= input.fill < ATTUNE_FILL_TOKENS || isLike(0);
    sameRows &= input.fill != ATTUNE_FILL_TOKENS || isLike(1);
  }
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    ++origins[entry.dims[d].origin];
  bool encodes = entry.cache_use == ATTUNE_CACHE_ENCODE, appends = entry.cache_use >= ATTUNE_CACHE_APPEND;
  bool sources = counts[ATTUNE_FILL_SOURCES] != 0;
  bool good = entry.cache_use <= ATTUNE_CACHE_CONTINUE && sameRows;
  if (entry.cache_use != ATTUNE_CACHE_UNUSED)
    good = good && desc.num_caches && entry.num_inputs && entry.inputs[0].rank >= 2 && entry.inputs[0].shape[0] < 0 &&
           entry.inputs[0].fill == ATTUNE_FILL_REQUIRED;
  good = good && counts[ATTUNE_FILL_SLOTS] == appends && counts[ATTUNE_FILL_PAST_LENGTHS] == appends &&
         origins[ATTUNE_DIM_PAST] == appends && counts[ATTUNE_FILL_TOKENS] <= (encodes || appends);
  good = good && counts[ATTUNE_FILL_SOURCES] <= (encodes || appends) && (sources || !encodes) &&
         counts[ATTUNE_FILL_SOURCE_LENGTHS] == (sources && appends) && origins[ATTUNE_DIM_SOURCE_LENGTH] == (sources && appends);
  if (!good)
    return fail(ATTUNE_CORRUPT, "model descriptor: the inputs of entry '%s' do not fit its use of the caches", entry.name);
  return ATTUNE_OK;
}

/// Returns true if the elements of |cache| have a type that caches of its kind may have.
static bool isCacheType(const attune_cache_desc &cache) {
  bool isLow = cache.dtype == ATTUNE_BF16 || cache.dtype == ATTUNE_F16 || cache.dtype == ATTUNE_I8;
  return cache.dtype == ATTUNE_F32 || (cache.kind != ATTUNE_CACHE_MASK && isLow);
}

/// Checks that the caches have known types and kinds, and sizes whose product fits 64 bits, and that caches of slots
/// come before caches of sources.
static attune_status checkCaches(const attune_model_desc &desc) {
  constexpr int64_t most = 1 << 20;
  if (desc.num_caches && !desc.caches)
    return fail(ATTUNE_CORRUPT, "model descriptor: %u caches without descriptions", desc.num_caches);
  for (uint32_t i = 0; i < desc.num_caches; ++i) {
    const attune_cache_desc &cache = desc.caches[i];
    if (!cache.name || !isCacheType(cache) || cache.kind > ATTUNE_CACHE_MASK || cache.of_sources > 1 ||
        (i && cache.of_sources < desc.caches[i - 1].of_sources) || cache.heads < 1 || cache.heads > most || cache.size < 1 ||
        cache.size > most)
      return fail(ATTUNE_CORRUPT, "model descriptor: cache number %u has no name, an unknown type or kind, or a wrong size", i);
  }
  return ATTUNE_OK;
}

/// Checks that a model for the CPU has no images for GPUs, and that a model for a GPU has at least one.
static attune_status checkDevice(const attune_model_desc &desc) {
  if (desc.device > ATTUNE_DEVICE_CUDA)
    return fail(ATTUNE_CORRUPT, "model descriptor: device %u, unknown to this runtime", desc.device);
  if (desc.device == ATTUNE_DEVICE_CPU && !desc.num_images && !desc.num_functions)
    return ATTUNE_OK;
  if (desc.device == ATTUNE_DEVICE_CPU || !desc.num_images || !desc.images || (desc.num_functions && !desc.functions))
    return fail(ATTUNE_CORRUPT, "model descriptor: device %u with %u images and %u functions", desc.device, desc.num_images,
                desc.num_functions);
  for (uint32_t i = 0; i < desc.num_images; ++i) {
    const attune_gpu_image &image = desc.images[i];
    bool isText = image.kind == ATTUNE_IMAGE_PTX;
    if (image.kind > ATTUNE_IMAGE_CUBIN || !image.data || !image.bytes ||
        (isText && static_cast<const char *>(image.data)[image.bytes - 1] != 0))
      return fail(ATTUNE_CORRUPT, "model descriptor: image number %u has an unknown kind, no data or an open end", i);
  }
  for (uint32_t i = 0; i < desc.num_functions; ++i)
    if (!desc.functions[i].symbol || desc.functions[i].kernel >= desc.num_kernels)
      return fail(ATTUNE_CORRUPT, "model descriptor: function number %u has no name or is of kernel %u of %u", i, desc.functions[i].kernel,
                  desc.num_kernels);
  return ATTUNE_OK;
}

int64_t attune::totalLength(const attune_entry_desc &entry, const int64_t *values) {
  int64_t sum = 0;
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    if (strcmp(entry.dims[d].name, "past") == 0 || strcmp(entry.dims[d].name, "length") == 0)
      if (__builtin_add_overflow(sum, values[d], &sum))
        sum = INT64_MAX;
  return sum;
}

static attune_status checkEntry(const attune_model_desc &desc, const attune_entry_desc &entry) {
  if (!entry.name || !entry.run || !entry.workspace_bytes || (entry.num_dims && !entry.dims) || (entry.num_inputs && !entry.inputs) ||
      (entry.num_outputs && !entry.outputs))
    return fail(ATTUNE_CORRUPT, "model descriptor: an entry lacks its name, code or signature");
  if (entry.num_dims > ATTUNE_MAX_DIMS)
    return fail(ATTUNE_CORRUPT, "model descriptor: entry '%s' has %u dimensions, at most %u expected", entry.name, entry.num_dims,
                ATTUNE_MAX_DIMS);
  for (uint32_t i = 0; i < entry.num_dims; ++i)
    if (!entry.dims[i].name || entry.dims[i].max < 0 || entry.dims[i].origin > ATTUNE_DIM_TOTAL_LENGTH)
      return fail(ATTUNE_CORRUPT, "model descriptor: dimension %u of entry '%s' lacks its name, has a negative limit or an unknown origin",
                  i, entry.name);
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    ATTUNE_TRY(checkTensor(entry, entry.inputs[i]));
  for (uint32_t i = 0; i < entry.num_outputs; ++i)
    ATTUNE_TRY(checkTensor(entry, entry.outputs[i]));
  return checkCacheUse(desc, entry);
}

attune_status attune::checkDescriptor(const attune_model_desc *desc) {
  if (!desc)
    return fail(ATTUNE_INVALID_ARGUMENT, "the model descriptor is null");
  if (desc->magic != ATTUNE_MODEL_MAGIC)
    return fail(ATTUNE_CORRUPT, "not a model descriptor: magic is %016llx, expected %016llx", static_cast<unsigned long long>(desc->magic),
                static_cast<unsigned long long>(ATTUNE_MODEL_MAGIC));
  if (desc->abi_version != ATTUNE_ABI_VERSION)
    return fail(ATTUNE_INCOMPATIBLE, "the model was compiled for ABI version %u, this runtime has %u", desc->abi_version,
                ATTUNE_ABI_VERSION);
  if (desc->desc_bytes != sizeof(attune_model_desc))
    return fail(ATTUNE_CORRUPT, "model descriptor: %u bytes, expected %zu", desc->desc_bytes, sizeof(attune_model_desc));
  if (!desc->name || !desc->num_entries || !desc->entries || (desc->num_kernels && !desc->kernels))
    return fail(ATTUNE_CORRUPT, "model descriptor: no name or no entries");
  ATTUNE_TRY(checkDevice(*desc));
  ATTUNE_TRY(checkCaches(*desc));
  for (uint32_t i = 0; i < desc->num_entries; ++i)
    ATTUNE_TRY(checkEntry(*desc, desc->entries[i]));
  if (desc->num_labels && !desc->labels)
    return fail(ATTUNE_CORRUPT, "model descriptor: %u labels without names", desc->num_labels);
  for (uint32_t i = 0; i < desc->num_labels; ++i)
    if (!desc->labels[i])
      return fail(ATTUNE_CORRUPT, "model descriptor: label number %u has no name", i);
  if (desc->generation && desc->generation->struct_bytes < sizeof(size_t))
    return fail(ATTUNE_CORRUPT, "model descriptor: generation settings of %zu bytes", desc->generation->struct_bytes);
  return ATTUNE_OK;
}

attune_status attune::findEntry(const attune_model_desc &desc, const char *name, const attune_entry_desc *&out) {
  out = nullptr;
  char known[256] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < desc.num_entries; ++i) {
    if (!name || strcmp(desc.entries[i].name, name) == 0) {
      out = &desc.entries[i];
      return ATTUNE_OK;
    }
    if (used < sizeof(known))
      used += snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", desc.entries[i].name);
  }
  return fail(ATTUNE_INVALID_ARGUMENT, "model '%s' has no entry '%s', its entries: %s", desc.name, name, known);
}

/// Returns the text of |rank| items in brackets; |item|(buffer, size, axis) writes each one.
template <typename Item>
static ShapeText formatList(uint32_t rank, Item item) {
  ShapeText result;
  size_t size = sizeof(result.text), used = snprintf(result.text, size, "[");
  for (uint32_t axis = 0; axis < rank && used < size; ++axis) {
    used += snprintf(result.text + used, size - used, "%s", axis ? ", " : "");
    if (axis == ATTUNE_MAX_RANK) {
      if (used < size)
        used += snprintf(result.text + used, size - used, "…");
      break;
    }
    if (used < size)
      used += item(result.text + used, size - used, axis);
  }
  if (used < size)
    snprintf(result.text + used, size - used, "]");
  return result;
}

ShapeText attune::formatShape(const int64_t *shape, uint32_t rank) {
  return formatList(rank, [&](char *text, size_t size, uint32_t axis) -> size_t {
    return shape ? snprintf(text, size, "%lld", static_cast<long long>(shape[axis])) : snprintf(text, size, "?");
  });
}

ShapeText attune::formatSignature(const attune_entry_desc &entry, const attune_tensor_desc &tensor) {
  return formatList(tensor.rank, [&](char *text, size_t size, uint32_t axis) -> size_t {
    int64_t dim = tensor.shape[axis];
    return dim < 0 ? snprintf(text, size, "%s", entry.dims[-dim - 1].name) : snprintf(text, size, "%lld", static_cast<long long>(dim));
  });
}

bool attune::tensorBytes(const attune_tensor_desc &tensor, const int64_t *dims, uint64_t &out) {
  out = attune_dtype_bytes(static_cast<attune_dtype>(tensor.dtype));
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    if (__builtin_mul_overflow(out, static_cast<uint64_t>(tensorSize(tensor, axis, dims)), &out))
      return false;
  return out <= INT64_MAX;
}
