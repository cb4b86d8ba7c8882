//===- Artifact.cpp - Fuzz opening and running compiled models ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: choices (FuzzedDataProvider) that damage a weights file and a descriptor, and that make the arguments of
// calls. The strings and arrays of a descriptor are part of the object, which the runtime trusts. So the choices change
// the numbers in a descriptor (sizes, types, fills, limits, and the magic number, version and size at its beginning),
// and only one kind of pointers: the name of a tensor may become null. The entry accesses every byte of the inputs, the
// workspace and the outputs, and each 512th byte of the weights, so that the sanitizer finds invalid arguments that the
// runtime accepts.
//===----------------------------------------------------------------------===//
#include "attune/runtime.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr uint64_t kWeights = 4000;
constexpr char kManifest[] = "{\"tensors\":[{\"name\":\"w\"}]}";

/// A model descriptor and all that it points to, so that the fuzzer can change them.
struct Model {
  int64_t shapes[5][4] = {{-1, -2, 4, 2}, {-1, -2, 4, 2}, {4, 2, 3, 1}, {-1, -2, 4, 2}, {-1, 3, 2, 2}};
  attune_dim_desc dims[2] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"length", 16, ATTUNE_DIM_INPUTS, 0}};
  attune_tensor_desc inputs[3] = {{"ids", ATTUNE_I64, 2, shapes[0], ATTUNE_FILL_REQUIRED, 0, 100},
                                  {"mask", ATTUNE_I64, 2, shapes[1], ATTUNE_FILL_ONES, 0, 2},
                                  {"scale", ATTUNE_F32, 1, shapes[2], ATTUNE_FILL_ARANGE, 0, 0}};
  attune_tensor_desc outputs[2] = {{"hidden", ATTUNE_F32, 3, shapes[3], 0, 0, 0}, {"total", ATTUNE_I64, 1, shapes[4], 0, 0, 0}};
  attune_entry_desc entry = {};
  attune_model_desc desc = {};
};

Model *current;
uint64_t factor;

uint64_t sizeOf(const attune_tensor_desc &tensor, const int64_t *dims) {
  uint64_t bytes = attune_dtype_bytes(static_cast<attune_dtype>(tensor.dtype));
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    bytes *= static_cast<uint64_t>(tensor.shape[axis] < 0 ? dims[-tensor.shape[axis] - 1] : tensor.shape[axis]);
  return bytes;
}

uint64_t workspaceBytes(const int64_t *dims, int64_t workers) {
  uint64_t bytes = factor;
  for (uint32_t i = 0; i < current->entry.num_dims; ++i)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dims[i]), &bytes))
      return UINT64_MAX;
  return __builtin_mul_overflow(bytes, static_cast<uint64_t>(workers), &bytes) ? UINT64_MAX : bytes;
}

int32_t run(const attune_host *host, const attune_call *call) {
  uint8_t sum = 0;
  for (uint32_t i = 0; i < current->entry.num_inputs; ++i)
    for (uint64_t byte = 0, size = sizeOf(current->inputs[i], call->dims); byte < size; ++byte)
      sum ^= static_cast<const uint8_t *>(call->inputs[i])[byte];
  for (uint64_t byte = 0; byte < current->desc.weights_bytes; byte += 512)
    sum ^= static_cast<const uint8_t *>(call->weights)[byte];
  std::memset(call->workspace, sum, workspaceBytes(call->dims, host->num_workers));
  for (uint32_t i = 0; i < current->entry.num_outputs; ++i)
    std::memset(call->outputs[i], sum, sizeOf(current->outputs[i], call->dims));
  return 0;
}

/// Returns a value near the limits of the runtime's checks: a small number, or one near the end of the range of a type.
int64_t edge(FuzzedDataProvider &data) {
  return data.ConsumeBool() ? data.ConsumeIntegralInRange<int64_t>(-4, 20)
                            : data.PickValueInArray<int64_t>({0, -1, -3, 17, 64, 4096, INT32_MAX, int64_t(1) << 32, INT64_MAX,
                                                              INT64_MAX - 63, INT64_MIN, INT64_MIN + 1});
}

void damageTensor(FuzzedDataProvider &data, attune_tensor_desc &tensor, int64_t *shape) {
  switch (data.ConsumeIntegralInRange<int>(0, 6)) {
  case 0:
    tensor.dtype = static_cast<uint32_t>(edge(data));
    break;
  case 1:
    tensor.rank = data.ConsumeIntegralInRange<uint32_t>(0, 4);
    break;
  case 2:
    tensor.fill = static_cast<uint32_t>(edge(data));
    break;
  case 3:
    tensor.max_value = edge(data);
    break;
  case 4:
    tensor.name = nullptr;
    break;
  default:
    shape[data.ConsumeIntegralInRange<int>(0, 3)] = edge(data);
  }
}

void damage(FuzzedDataProvider &data, Model &model) {
  attune_entry_desc &entry = model.entry;
  int which = data.ConsumeIntegralInRange<int>(0, 12);
  if (which <= 2)
    damageTensor(data, model.inputs[which], model.shapes[which]);
  else if (which <= 4)
    damageTensor(data, model.outputs[which - 3], model.shapes[which]);
  else if (which == 5)
    model.dims[data.ConsumeBool()].max = edge(data);
  else if (which == 6)
    entry.num_dims = data.ConsumeIntegralInRange<uint32_t>(0, 2);
  else if (which == 7)
    entry.num_inputs = data.ConsumeIntegralInRange<uint32_t>(0, 3);
  else if (which == 8)
    entry.num_outputs = data.ConsumeIntegralInRange<uint32_t>(0, 2);
  else if (which == 9)
    model.desc.weights_bytes = static_cast<uint64_t>(edge(data));
  else if (which == 10)
    factor = static_cast<uint64_t>(edge(data));
  else
    reinterpret_cast<uint8_t *>(&model.desc)[data.ConsumeIntegralInRange<size_t>(0, 15)] = data.ConsumeIntegral<uint8_t>();
}

/// Writes a weights file for |model| and returns its path. May overwrite up to two fields of the header and truncate
/// the file.
const char *writeWeights(FuzzedDataProvider &data, const Model &model) {
  static int file = memfd_create("fuzz.weights", 0);
  static char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  attune_weights_header header = {
      ATTUNE_WEIGHTS_MAGIC, ATTUNE_ABI_VERSION, sizeof(header), {}, 0, 4096, kWeights, 4096 + kWeights, sizeof(kManifest) - 1, 0, 0, 0, 1};
  header.file_bytes = header.manifest_offset + header.manifest_bytes;
  header.manifest_checksum = model.desc.manifest_checksum;
  std::vector<uint8_t> bytes(header.file_bytes);
  std::memcpy(bytes.data() + header.manifest_offset, kManifest, sizeof(kManifest) - 1);
  header.content_hash = attune_checksum(bytes.data() + 4096, kWeights);
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (int count = data.ConsumeIntegralInRange<int>(0, 2); count > 0; --count) {
    uint64_t value = static_cast<uint64_t>(edge(data));
    size_t at = data.ConsumeIntegralInRange<size_t>(0, sizeof(header) / 8 - 1) * 8;
    std::memcpy(bytes.data() + at, &value, data.ConsumeBool() ? 8 : 1);
  }
  size_t size = data.ConsumeIntegralInRange<int>(0, 7) == 7 ? data.ConsumeIntegralInRange<size_t>(0, bytes.size()) : bytes.size();
  if (ftruncate(file, 0) != 0 || pwrite(file, bytes.data(), size, 0) != static_cast<ssize_t>(size))
    abort();
  return path;
}

/// A tensor of a call: valid, or with one invalid field. |tensor|.data, if it is not null, has at least |tensor|.bytes
/// bytes.
struct Argument {
  int64_t shape[8] = {};
  std::vector<uint64_t> memory;
  attune_tensor tensor;

  Argument(FuzzedDataProvider &data, const attune_tensor_desc &desc, const int64_t *dims) {
    tensor = {desc.name, static_cast<attune_dtype>(desc.dtype), desc.rank, shape, nullptr, 0};
    uint64_t bytes = attune_dtype_bytes(tensor.dtype);
    for (uint32_t axis = 0; axis < desc.rank; ++axis) {
      shape[axis] = desc.shape[axis] < 0 ? dims[-desc.shape[axis] - 1] : desc.shape[axis];
      if (shape[axis] < 0 || shape[axis] > 4096)
        bytes = 0;
      bytes = bytes > 1 << 16 ? 0 : bytes * static_cast<uint64_t>(shape[axis]);
    }
    bytes = bytes > 1 << 16 ? 0 : bytes;
    memory.resize((bytes + 7) / 8 + 1);
    tensor.data = memory.data();
    tensor.bytes = bytes;
    switch (data.ConsumeIntegralInRange<int>(0, 20)) {
    case 0:
      shape[data.ConsumeIntegralInRange<int>(0, 7)] = edge(data);
      break;
    case 1:
      tensor.rank = data.ConsumeIntegralInRange<uint32_t>(0, 9) % 9;
      break;
    case 2:
      tensor.dtype = static_cast<attune_dtype>(data.ConsumeIntegralInRange<int>(0, 6));
      break;
    case 3:
      tensor.data = data.ConsumeBool() ? nullptr : static_cast<char *>(tensor.data) + 1, tensor.bytes -= tensor.bytes > 0;
      break;
    case 4:
      tensor.bytes = data.ConsumeIntegralInRange<size_t>(0, bytes);
      break;
    case 5:
      memory[0] = static_cast<uint64_t>(edge(data));
      break;
    case 6:
      tensor.name = data.PickValueInArray<const char *>({nullptr, "ids", "hidden", "other"});
      break;
    case 7:
      tensor.shape = nullptr;
      break;
    default:
      break;
    }
  }
};

void call(FuzzedDataProvider &data, attune_session *session, const Model &model) {
  int64_t dims[2] = {data.ConsumeIntegralInRange<int64_t>(1, 4), data.ConsumeIntegralInRange<int64_t>(1, 8)};
  std::vector<Argument> arguments;
  arguments.reserve(5);
  std::vector<attune_tensor> inputs, outputs;
  auto add = [&](std::vector<attune_tensor> &list, const attune_tensor_desc &desc) {
    arguments.emplace_back(data, desc, dims);
    list.push_back(arguments.back().tensor);
  };
  for (uint32_t i = 0; i < model.entry.num_inputs; ++i)
    if (data.ConsumeIntegralInRange<int>(0, 3))
      add(inputs, model.inputs[i]);
  for (uint32_t i = 0; i < model.entry.num_outputs; ++i)
    if (data.ConsumeIntegralInRange<int>(0, 9))
      add(outputs, model.outputs[i]);
  if (attune_session_run(session, nullptr, inputs.data(), inputs.size(), outputs.data(), outputs.size()) == ATTUNE_INTERNAL)
    abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  Model model;
  current = &model;
  factor = 64;
  model.entry = {"forward",      2,       3,       2,      0, model.dims, model.inputs, model.outputs, run, workspaceBytes,
                 workspaceBytes, nullptr, nullptr, nullptr};
  model.desc.magic = ATTUNE_MODEL_MAGIC;
  model.desc.abi_version = ATTUNE_ABI_VERSION;
  model.desc.desc_bytes = sizeof(model.desc);
  model.desc.name = model.desc.family = model.desc.architecture = "fuzz";
  model.desc.triple = model.desc.cpu = model.desc.cpu_features = model.desc.options = "";
  model.desc.weights_bytes = kWeights;
  model.desc.manifest_checksum = attune_checksum(kManifest, sizeof(kManifest) - 1);
  model.desc.num_entries = 1;
  model.desc.entries = &model.entry;
  for (int count = data.ConsumeIntegralInRange<int>(0, 3); count > 0; --count)
    damage(data, model);

  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = writeWeights(data, model);
  options.verify_contents = data.ConsumeBool();
  attune_model *opened;
  if (attune_model_open(&model.desc, &options, &opened) != ATTUNE_OK)
    return 0;
  attune_dim_limit limits[] = {{"batch", data.ConsumeIntegralInRange<int64_t>(1, 4)},
                               {"length", data.ConsumeIntegralInRange<int64_t>(1, 8)}};
  if (data.ConsumeIntegralInRange<int>(0, 9) == 0)
    limits[data.ConsumeBool()].max = edge(data);
  attune_session_options wanted;
  attune_session_options_init(&wanted);
  wanted.limits = limits;
  wanted.num_limits = data.ConsumeIntegralInRange<size_t>(0, 2);
  wanted.num_threads = 1;
  size_t needed;
  attune_session *session;
  // Skips sessions that need more memory than a fuzzer may use.
  if (attune_session_memory_bytes(opened, &wanted, &needed) == ATTUNE_OK && needed < 1 << 24 &&
      attune_session_create(opened, &wanted, &session) == ATTUNE_OK) {
    for (int calls = data.ConsumeIntegralInRange<int>(1, 3); calls > 0; --calls)
      call(data, session, model);
    attune_session_destroy(session);
  }
  attune_model_close(opened);
  return 0;
}
