//===- SafetensorsWriter.cpp - Writing safetensors files ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header lists the tensors in the given order. Spaces pad it to a multiple of 8 bytes, so that the data section is
// aligned to 8 bytes.
//===----------------------------------------------------------------------===//
#include "compiler/Support/SafetensorsWriter.h"
#include "compiler/Support/Safetensors.h"

#include <nlohmann/json.hpp>
#include <set>

using namespace attune;

/// Returns the JSON text of a value. Invalid UTF-8 is replaced instead of reported by an exception.
static std::string text(const nlohmann::ordered_json &value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<SafetensorsWriter> SafetensorsWriter::create(const std::string &path, const std::vector<TensorSpec> &tensors,
                                                    const std::map<std::string, std::string> &metadata) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.status();
  return create(std::move(*file), path, tensors, metadata);
}

Result<SafetensorsWriter> SafetensorsWriter::create(OutputFile file, const std::string &path, const std::vector<TensorSpec> &tensors,
                                                    const std::map<std::string, std::string> &metadata) {
  // Built entry by entry: lookups of ordered_json are linear, which is slow for thousands of tensors.
  std::string header = "{";
  if (!metadata.empty())
    header += "\"__metadata__\":" + text(nlohmann::ordered_json(metadata));
  uint64_t dataEnd = 0;
  std::set<std::string_view> names;
  for (const TensorSpec &tensor : tensors) {
    std::optional<int64_t> elements = elementCount(tensor.shape);
    // This is the limit of SafetensorsFile. The bytes of one such tensor are fewer than 2^63; the next check is for
    // their sum.
    if (!elements || uint64_t(*elements) > UINT64_MAX / 16)
      return Status::error(path + ": tensor '" + tensor.name + "': expected a shape of less than 2^60 elements, got " +
                           shapeText(tensor.shape));
    if (uint64_t(*elements) * elementSize(tensor.dtype) > uint64_t(INT64_MAX) - dataEnd)
      return Status::error(path + ": tensor '" + tensor.name + "': expected less than 2^63 bytes of data in all, got " +
                           shapeText(tensor.shape) + " after " + std::to_string(dataEnd) + " bytes");
    if (tensor.name == "__metadata__" || !names.insert(tensor.name).second)
      return Status::error(path + ": tensor '" + tensor.name + "': expected a name that is not taken");
    uint64_t begin = dataEnd;
    dataEnd += uint64_t(*elements) * elementSize(tensor.dtype);
    if (header.size() > 1)
      header += ",";
    header += text(tensor.name) + ":{\"dtype\":\"" + dtypeName(tensor.dtype) + "\",\"shape\":" + text(tensor.shape) +
              ",\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(dataEnd) + "]}";
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');

  uint8_t length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<uint8_t>(uint64_t(header.size()) >> (8 * i));
  if (Status status = file.write(length, 8); status.failed())
    return status;
  if (Status status = file.write(header.data(), header.size()); status.failed())
    return status;
  uint64_t end = file.position() + dataEnd;
  return SafetensorsWriter(std::move(file), path, end);
}

Status SafetensorsWriter::commit() {
  Result<OutputFile> complete = release();
  return complete ? complete->commit() : complete.status();
}

Result<OutputFile> SafetensorsWriter::release() {
  if (file.position() != end)
    return Status::error(path + ": expected a file of " + std::to_string(end) + " bytes by its header, got " +
                         std::to_string(file.position()));
  return std::move(file);
}

Status attune::saveSafetensors(const std::string &path, const std::vector<OwnedTensor> &tensors) {
  std::vector<TensorSpec> specs;
  for (const OwnedTensor &tensor : tensors)
    specs.push_back(tensor.spec);
  Result<SafetensorsWriter> writer = SafetensorsWriter::create(path, specs);
  if (!writer)
    return writer.status();
  for (const OwnedTensor &tensor : tensors)
    if (Status status = writer->write(tensor.data.data(), tensor.data.size()); status.failed())
      return status;
  return writer->commit();
}

Result<std::vector<OwnedTensor>> attune::loadSafetensors(const std::string &path) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.status();
  std::vector<OwnedTensor> tensors;
  for (const auto &[name, view] : file->tensors())
    tensors.push_back({{name, view.dtype, view.shape}, {view.data, view.data + view.bytes}});
  return tensors;
}
