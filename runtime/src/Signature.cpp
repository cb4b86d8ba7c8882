//===- Signature.cpp - Checking tensors against an entry ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled code trusts its arguments, so these functions find every mistake of a caller except wrong values in device
// memory. Messages name the tensor, what was expected and what was found. Lists are short (a model has about ten
// inputs), so lookups compare name by name.
//===----------------------------------------------------------------------===//

#include "Signature.h"
#include "Descriptor.h"
#include "Error.h"

#include <cstdio>
#include <cstring>

using namespace attune;

using Long = long long; // the type of %lld

const attune_tensor *TensorList::find(const char *name) const {
  for (size_t i = 0; i < count; ++i)
    if (strcmp(tensors[i].name, name) == 0)
      return &tensors[i];
  return nullptr;
}

static const attune_tensor_desc *findDesc(const attune_tensor_desc *descs, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; ++i)
    if (strcmp(descs[i].name, name) == 0)
      return &descs[i];
  return nullptr;
}

/// Checks that each tensor of |list| has a name that is among |descs|, the inputs or outputs of |entry|, and that no
/// other tensor of |list| has. |kind| is "input" or "output".
static attune_status checkNames(const char *kind, const attune_entry_desc &entry, const attune_tensor_desc *descs, uint32_t numDescs,
                                TensorList list) {
  if (list.count && !list.tensors)
    return fail(ATTUNE_INVALID_ARGUMENT, "%zu %ss given but their array is null", list.count, kind);
  for (size_t i = 0; i < list.count; ++i) {
    const char *name = list.tensors[i].name;
    if (!name)
      return fail(ATTUNE_INVALID_ARGUMENT, "%s number %zu has no name", kind, i);
    if (TensorList{list.tensors, i}.find(name))
      return fail(ATTUNE_INVALID_ARGUMENT, "%s '%s' is given twice", kind, name);
    if (findDesc(descs, numDescs, name))
      continue;
    char known[512] = "";
    for (uint32_t d = 0, used = 0; d < numDescs && used < sizeof(known); ++d)
      used += snprintf(known + used, sizeof(known) - used, "%s%s", d ? ", " : "", descs[d].name);
    return fail(ATTUNE_INVALID_ARGUMENT, "entry '%s' has no %s '%s', its %ss: %s", entry.name, kind, name, kind, known);
  }
  return ATTUNE_OK;
}

/// Checks dtype, rank and static sizes of |tensor|. An input of dtype I64 may be given as I32.
static attune_status checkType(const char *kind, const attune_entry_desc &entry, const attune_tensor_desc &desc,
                               const attune_tensor &tensor) {
  uint32_t dtype = dtypeOf(tensor);
  const char *expected = attune_dtype_name(static_cast<attune_dtype>(desc.dtype));
  bool isInput = strcmp(kind, "input") == 0;
  if (dtype > ATTUNE_I32)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s '%s' has unknown dtype %u, expected %s", kind, desc.name, dtype, expected);
  if (dtype != desc.dtype && !(isInput && dtype == ATTUNE_I32 && desc.dtype == ATTUNE_I64))
    return fail(ATTUNE_INVALID_ARGUMENT, "%s '%s' has dtype %s, expected %s", kind, desc.name, attune_dtype_name(tensor.dtype), expected);
  bool matches = tensor.rank == desc.rank && (tensor.rank == 0 || tensor.shape);
  for (uint32_t axis = 0; matches && axis < desc.rank; ++axis)
    matches = desc.shape[axis] < 0 || tensor.shape[axis] == desc.shape[axis];
  if (!matches)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s '%s' has shape %s, expected %s", kind, desc.name, formatShape(tensor.shape, tensor.rank).text,
                formatSignature(entry, desc).text);
  return ATTUNE_OK;
}

/// Sets each of |dims| that the shape of |tensor| determines, or compares it if an earlier input has set it. Fails with
/// INVALID_ARGUMENT if a size is less than 1 or differs from the earlier one. |inputs| is for the message.
static attune_status unifyDims(const attune_entry_desc &entry, TensorList inputs, const attune_tensor_desc &desc,
                               const attune_tensor &tensor, int64_t *dims) {
  for (uint32_t axis = 0; axis < desc.rank; ++axis) {
    if (desc.shape[axis] >= 0)
      continue;
    int64_t index = -desc.shape[axis] - 1, size = tensor.shape[axis];
    const char *name = entry.dims[index].name;
    if (size < 1)
      return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' has %s %lld, at least 1 expected", desc.name, name, Long(size));
    if (dims[index] == 0)
      dims[index] = size;
    if (dims[index] == size)
      continue;
    // The earlier input is looked up only for the message.
    const char *first = desc.name;
    for (size_t i = 0; i < inputs.count && first == desc.name; ++i) {
      const attune_tensor_desc *other = findDesc(entry.inputs, entry.num_inputs, inputs.tensors[i].name);
      for (uint32_t a = 0; a < other->rank && first == desc.name; ++a)
        if (other->shape[a] == desc.shape[axis])
          first = other->name;
      if (&inputs.tensors[i] == &tensor)
        break;
    }
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' has shape %s, expected %s: %s is %lld in '%s'", desc.name,
                formatShape(tensor.shape, tensor.rank).text, formatSignature(entry, desc).text, name, Long(dims[index]), first);
  }
  return ATTUNE_OK;
}

attune_status attune::inferDims(const attune_entry_desc &entry, TensorList inputs, int64_t *dims) {
  for (uint32_t i = 0; i < entry.num_dims; ++i)
    dims[i] = 0;
  ATTUNE_TRY(checkNames("input", entry, entry.inputs, entry.num_inputs, inputs));
  for (size_t i = 0; i < inputs.count; ++i) {
    const attune_tensor_desc &desc = *findDesc(entry.inputs, entry.num_inputs, inputs.tensors[i].name);
    ATTUNE_TRY(checkType("input", entry, desc, inputs.tensors[i]));
    ATTUNE_TRY(unifyDims(entry, inputs, desc, inputs.tensors[i], dims));
  }
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    if (entry.inputs[i].fill == ATTUNE_FILL_REQUIRED && !inputs.find(entry.inputs[i].name))
      return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is missing, expected %s %s", entry.inputs[i].name,
                  attune_dtype_name(static_cast<attune_dtype>(entry.inputs[i].dtype)), formatSignature(entry, entry.inputs[i]).text);
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    if (dims[d] == 0 && entry.dims[d].origin == ATTUNE_DIM_INPUTS)
      return fail(ATTUNE_INVALID_ARGUMENT, "%s is unknown: no given input has it", entry.dims[d].name);
  int64_t total = totalLength(entry, dims);
  for (uint32_t d = 0; d < entry.num_dims; ++d) {
    if (entry.dims[d].origin != ATTUNE_DIM_TOTAL_LENGTH)
      continue;
    if (dims[d] != 0 && dims[d] != total)
      return fail(ATTUNE_INVALID_ARGUMENT, "%s is %lld in the inputs, the sum of past and length is %lld", entry.dims[d].name,
                  Long(dims[d]), Long(total));
    dims[d] = total;
  }
  return ATTUNE_OK;
}

attune_status attune::checkLimits(const attune_entry_desc &entry, const int64_t *dims, const int64_t *limits, const char *owner) {
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    if (limits[d] && dims[d] > limits[d])
      return fail(ATTUNE_LIMIT_EXCEEDED, "%s is %lld, the limit of the %s is %lld", entry.dims[d].name, Long(dims[d]), owner,
                  Long(limits[d]));
  return ATTUNE_OK;
}

/// Checks that the data of |tensor| is non-null, aligned and large enough for the shape.
static attune_status checkData(const char *kind, const attune_tensor &tensor) {
  size_t element = attune_dtype_bytes(tensor.dtype);
  uint64_t bytes = element;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(tensor.shape[axis]), &bytes))
      return fail(ATTUNE_INVALID_ARGUMENT, "%s '%s' has shape %s, too large to address", kind, tensor.name,
                  formatShape(tensor.shape, tensor.rank).text);
  if (!tensor.data)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s '%s' has null data", kind, tensor.name);
  if (reinterpret_cast<uintptr_t>(tensor.data) % element)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s '%s' has data at %p, expected a multiple of %zu", kind, tensor.name, tensor.data, element);
  if (tensor.bytes < bytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s '%s' has %zu bytes of data, %llu expected for %s %s", kind, tensor.name, tensor.bytes,
                static_cast<unsigned long long>(bytes), attune_dtype_name(tensor.dtype), formatShape(tensor.shape, tensor.rank).text);
  return ATTUNE_OK;
}

/// Returns the number of elements of |tensor|, which has passed checkData.
static int64_t countElements(const attune_tensor &tensor) {
  int64_t count = 1;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    count *= tensor.shape[axis];
  return count;
}

attune_status attune::checkInputData(const attune_tensor_desc &desc, const attune_tensor &tensor, bool isReadable) {
  ATTUNE_TRY(checkData("input", tensor));
  if (desc.dtype != ATTUNE_I64 || desc.max_value <= 0 || !isReadable)
    return ATTUNE_OK;
  auto valueAt = [isNarrow = tensor.dtype == ATTUNE_I32, data = tensor.data](int64_t i) -> int64_t {
    return isNarrow ? static_cast<const int32_t *>(data)[i] : static_cast<const int64_t *>(data)[i];
  };
  for (int64_t i = 0, count = countElements(tensor); i < count; ++i) {
    if (static_cast<uint64_t>(valueAt(i)) < static_cast<uint64_t>(desc.max_value))
      continue;
    int64_t at[ATTUNE_MAX_RANK], rest = i;
    for (uint32_t axis = tensor.rank; axis-- > 0; rest /= tensor.shape[axis])
      at[axis] = rest % tensor.shape[axis];
    return fail(ATTUNE_INVALID_ARGUMENT, "input '%s' is %lld at %s, expected 0 %s %lld", tensor.name, Long(valueAt(i)),
                formatShape(at, tensor.rank).text, desc.max_value == 2 ? "or" : "to", Long(desc.max_value - 1));
  }
  return ATTUNE_OK;
}

/// Returns true if the data of two checked tensors overlap.
static bool overlap(const attune_tensor &a, const attune_tensor &b) {
  uintptr_t beginA = reinterpret_cast<uintptr_t>(a.data), beginB = reinterpret_cast<uintptr_t>(b.data);
  uintptr_t endA = beginA + countElements(a) * attune_dtype_bytes(a.dtype), endB = beginB + countElements(b) * attune_dtype_bytes(b.dtype);
  return beginA < endB && beginB < endA;
}

attune_status attune::checkOutputs(const attune_entry_desc &entry, const int64_t *dims, TensorList inputs, TensorList outputs) {
  ATTUNE_TRY(checkNames("output", entry, entry.outputs, entry.num_outputs, outputs));
  for (uint32_t i = 0; i < entry.num_outputs; ++i) {
    const attune_tensor_desc &desc = entry.outputs[i];
    int64_t shape[ATTUNE_MAX_RANK];
    for (uint32_t axis = 0; axis < desc.rank; ++axis)
      shape[axis] = tensorSize(desc, axis, dims);
    const attune_tensor *tensor = outputs.find(desc.name);
    if (!tensor)
      return fail(ATTUNE_INVALID_ARGUMENT, "output '%s' is missing, expected %s %s", desc.name,
                  attune_dtype_name(static_cast<attune_dtype>(desc.dtype)), formatShape(shape, desc.rank).text);
    ATTUNE_TRY(checkType("output", entry, desc, *tensor));
    if (desc.rank && memcmp(shape, tensor->shape, desc.rank * sizeof(int64_t)) != 0)
      return fail(ATTUNE_INVALID_ARGUMENT, "output '%s' has shape %s, expected %s", desc.name,
                  formatShape(tensor->shape, tensor->rank).text, formatShape(shape, desc.rank).text);
    ATTUNE_TRY(checkData("output", *tensor));
  }
  // Compiled code assumes that outputs alias nothing.
  for (size_t i = 0; i < outputs.count; ++i) {
    for (size_t j = 0; j < i; ++j)
      if (overlap(outputs.tensors[i], outputs.tensors[j]))
        return fail(ATTUNE_INVALID_ARGUMENT, "output '%s' overlaps output '%s'", outputs.tensors[i].name, outputs.tensors[j].name);
    for (size_t j = 0; j < inputs.count; ++j)
      if (overlap(outputs.tensors[i], inputs.tensors[j]))
        return fail(ATTUNE_INVALID_ARGUMENT, "output '%s' overlaps input '%s'", outputs.tensors[i].name, inputs.tensors[j].name);
  }
  return ATTUNE_OK;
}

attune_status attune_infer_dims(const attune_model *model, const char *name, const attune_tensor *inputs, size_t num_inputs,
                                int64_t *out_dims) {
  const attune_model_desc *desc = attune_model_descriptor(model);
  const attune_entry_desc *entry;
  if (!desc || !out_dims)
    return fail(ATTUNE_INVALID_ARGUMENT, "the model or out_dims is null");
  ATTUNE_TRY(findEntry(*desc, name, entry));
  ATTUNE_TRY(inferDims(*entry, {inputs, num_inputs}, out_dims));
  int64_t limits[ATTUNE_MAX_DIMS];
  for (uint32_t d = 0; d < entry->num_dims; ++d)
    limits[d] = entry->dims[d].max;
  return checkLimits(*entry, out_dims, limits, "model");
}

attune_status attune_output_shape(const attune_model *model, const char *name, size_t output, const int64_t *dims, int64_t *out_shape,
                                  size_t *out_bytes) {
  const attune_model_desc *desc = attune_model_descriptor(model);
  const attune_entry_desc *entry;
  if (out_bytes)
    *out_bytes = 0;
  if (!desc)
    return fail(ATTUNE_INVALID_ARGUMENT, "the model is null");
  ATTUNE_TRY(findEntry(*desc, name, entry));
  if (output >= entry->num_outputs)
    return fail(ATTUNE_INVALID_ARGUMENT, "output number %zu of entry '%s', which has %u", output, entry->name, entry->num_outputs);
  if (entry->num_dims && !dims)
    return fail(ATTUNE_INVALID_ARGUMENT, "dims is null, %u values expected", entry->num_dims);
  for (uint32_t d = 0; d < entry->num_dims; ++d)
    if (dims[d] < 0)
      return fail(ATTUNE_INVALID_ARGUMENT, "%s is %lld, at least 0 expected", entry->dims[d].name, Long(dims[d]));
  const attune_tensor_desc &tensor = entry->outputs[output];
  uint64_t bytes;
  if (!tensorBytes(tensor, dims, bytes))
    return fail(ATTUNE_LIMIT_EXCEEDED, "output '%s' would be too large to address", tensor.name);
  for (uint32_t axis = 0; out_shape && axis < tensor.rank; ++axis)
    out_shape[axis] = tensorSize(tensor, axis, dims);
  if (out_bytes)
    *out_bytes = bytes;
  return ATTUNE_OK;
}
