//===- Toy.cpp - Weights and a golden case for ToyModel.c ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes toy.weights, damaged/toy.weights, bool.safetensors, and two golden cases in the folders good/ and wrong/:
// case.json, inputs and expected outputs. In wrong/, one expected value of the output `pooled` is wrong.
//===----------------------------------------------------------------------===//
#include "attune/runtime.h"
#include "Check.h"
#include "compiler/Support/SafetensorsWriter.h"

#include <cstring>
#include <filesystem>

using namespace attune;

static const std::string manifest =
    R"({"tensors":[{"name":"bias","source":"tensor bias","dtype":"F32","shape":[2],"layout":"rows","offset":0,"bytes":8}]})";

template <typename T>
static OwnedTensor tensor(const std::string &name, DType dtype, std::vector<int64_t> shape, std::vector<T> values) {
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(values.data());
  return {{name, dtype, std::move(shape)}, {bytes, bytes + values.size() * sizeof(T)}};
}

static void writeWeights() {
  const float data[2] = {0.25f, 0.5f};
  attune_weights_header header = {};
  header.magic = ATTUNE_WEIGHTS_MAGIC;
  header.abi_version = ATTUNE_ABI_VERSION;
  header.header_bytes = sizeof(header);
  std::memcpy(header.build_id, "toy", 3);
  header.data_offset = 4096;
  header.data_bytes = sizeof(data);
  header.manifest_offset = header.data_offset + sizeof(data);
  header.manifest_bytes = manifest.size();
  header.file_bytes = header.manifest_offset + header.manifest_bytes;
  header.manifest_checksum = attune_checksum(manifest.data(), manifest.size());
  header.content_hash = attune_checksum(data, sizeof(data));
  std::string bytes(header.data_offset, '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  bytes.append(reinterpret_cast<const char *>(data), sizeof(data));
  writeScratch("toy.weights", bytes + manifest);
  // The same file with one byte of a weight changed. The header still has the old hash, so only reading all weights
  // shows the damage.
  bytes[header.data_offset] = 1;
  std::error_code ignored;
  std::filesystem::create_directory(scratch("damaged"), ignored);
  writeScratch("damaged/toy.weights", bytes + manifest);
  std::printf("manifest checksum 0x%llxull\n", static_cast<unsigned long long>(header.manifest_checksum));
}

static void writeCase(const std::string &folder, float pooled) {
  std::error_code ignored;
  std::filesystem::create_directories(scratch(folder), ignored);
  writeScratch(folder + "/case.json", R"({"call": {"function": "forward", "kwargs": {}}, "weights": {"source": "file"},
 "outputs": {
  "hidden_states.1": {"dtype": "F32", "shape": [1, 2, 2], "atol": 1e-6, "rtol": 1e-5, "max_abs": 4.5},
  "pooled": {"dtype": "F32", "shape": [1, 2], "atol": 1e-6, "rtol": 1e-5, "max_abs": 5.5},
  "ids": {"dtype": "I64", "shape": [1, 2]}}})");
  CHECK(!saveSafetensors(scratch(folder + "/inputs.safetensors"), {tensor<int32_t>("input_ids", DType::I32, {1, 2}, {3, 9}),
                                                                   tensor<uint8_t>("attention_mask", DType::BOOL, {1, 2}, {1, 0})})
             .failed());
  CHECK(!saveSafetensors(scratch(folder + "/expected.safetensors"),
                         {tensor<float>("hidden_states.1", DType::F32, {1, 2, 2}, {4.25f, 4.5f, 1.25f, 1.5f}),
                          tensor<float>("pooled", DType::F32, {1, 2}, {5.25f, pooled}), tensor<int64_t>("ids", DType::I64, {1, 2}, {3, 0})})
             .failed());
}

/// Writes input_ids of the type BOOL, which the tools accept only for masks.
static void writeBoolIds() {
  CHECK(!saveSafetensors(scratch("bool.safetensors"), {tensor<uint8_t>("input_ids", DType::BOOL, {1, 2}, {1, 0})}).failed());
}

void testToy() {
  writeWeights();
  writeBoolIds();
  writeCase("good", 5.5f);
  writeCase("wrong", 5.501f);
}
