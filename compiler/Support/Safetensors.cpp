//===- Safetensors.cpp - Reading one safetensors file ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is 8 bytes of little-endian header length N, N bytes of JSON, then the data. Checks run in the order length,
// JSON, single tensors, coverage of the data, so that each check may rely on the ones before it.
//===----------------------------------------------------------------------===//
#include "compiler/Support/Safetensors.h"

#include "compiler/Support/FileKind.h"

#include <algorithm>

using namespace attune;

/// Length in bytes of the longest header accepted, the limit of the format's reference implementation.
static constexpr uint64_t maxHeaderBytes = 100'000'000;

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.status();
  return check(std::move(*mapped));
}

Result<SafetensorsFile> SafetensorsFile::parse(std::string name, const uint8_t *bytes, size_t length) {
  return check(MappedFile::borrow(std::move(name), bytes, length));
}

Result<SafetensorsFile> SafetensorsFile::check(MappedFile mapped) {
  SafetensorsFile file(std::move(mapped));
  if (Status status = file.readHeader(); status.failed())
    return status;
  return file;
}

/// Rejects |file| if its first bytes identify another kind of file.
static Status refuseOtherKinds(const MappedFile &file) {
  FileKind kind = identifyBytes(file.data(), file.size(), file.size());
  if (kind == FileKind::LfsPointer)
    return Status::error(file.path() + ": expected a safetensors file, got a Git LFS pointer to it; git lfs pull downloads the file");
  if (kind == FileKind::Unknown || kind == FileKind::Empty || kind == FileKind::Safetensors)
    return {};
  return Status::error(file.path() + ": expected a safetensors file, got " + describeKind(kind));
}

Status SafetensorsFile::readHeader() {
  if (file.size() < 8)
    return Status::error(path() + ": expected a safetensors file of at least 8 bytes, got " + std::to_string(file.size()));
  uint64_t headerBytes = 0;
  for (int i = 7; i >= 0; --i)
    headerBytes = headerBytes << 8 | file.data()[i];
  uint64_t limit = std::min<uint64_t>(file.size() - 8, maxHeaderBytes);
  if (headerBytes > limit) {
    if (Status status = refuseOtherKinds(file); status.failed())
      return status;
    return Status::error(path() + ": expected a header of at most " + std::to_string(limit) + " bytes, got length " +
                         std::to_string(headerBytes) + " (not a safetensors file, or cut short)");
  }

  std::string_view text(reinterpret_cast<const char *>(file.data()) + 8, headerBytes);
  Result<Json> header = parseJson(text, path() + " (header)");
  if (!header)
    return header.status();
  if (!header->is_object())
    return Status::error(path() + ": expected the header to be a JSON object, got " + describeJson(*header));

  const uint8_t *data = file.data() + 8 + headerBytes;
  uint64_t dataBytes = file.size() - 8 - headerBytes;
  for (const auto &[name, entry] : header->items()) {
    Status status = name == "__metadata__" ? addMetadata(entry) : addTensor(name, entry, data, dataBytes);
    if (status.failed())
      return status;
  }
  return checkCoverage(dataBytes);
}

Status SafetensorsFile::addMetadata(const Json &entry) {
  if (!entry.is_object())
    return jsonTypeError(path(), "__metadata__", "an object of strings", entry);
  for (const auto &[key, value] : entry.items()) {
    Result<std::string> text = jsonString(value, path(), "__metadata__." + key);
    if (!text)
      return text.status();
    strings.emplace(key, std::move(*text));
  }
  return {};
}

Status SafetensorsFile::addTensor(const std::string &name, const Json &entry, const uint8_t *data, uint64_t dataBytes) {
  const std::string where = path() + ": tensor '" + name + "'";
  auto expected = [&](const std::string &what, const std::string &got) {
    return Status::error(where + ": expected " + what + ", got " + got);
  };
  if (!entry.is_object())
    return expected("an object with dtype, shape and data_offsets", describeJson(entry));
  for (const auto &[key, value] : entry.items())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      return expected("the keys dtype, shape and data_offsets", "'" + key + "'");
  for (const char *key : {"dtype", "shape", "data_offsets"})
    if (!findJson(entry, key))
      return Status::error(where + ": expected key '" + std::string(key) + "', which is missing");

  TensorView view;
  view.name = name;
  Result<std::string> dtypeText = jsonString(*findJson(entry, "dtype"), where, "dtype");
  if (!dtypeText)
    return dtypeText.status();
  std::optional<DType> dtype = parseDType(*dtypeText);
  if (!dtype)
    return expected("a known dtype (F32, F16, BF16, F64, I64, I32, U8, BOOL, ...)", "'" + *dtypeText + "'");
  view.dtype = *dtype;

  Result<std::vector<int64_t>> shape = jsonIntegers(*findJson(entry, "shape"), where, "shape", 0);
  if (!shape)
    return shape.status();
  view.shape = std::move(*shape);
  std::optional<int64_t> elements = elementCount(view.shape);
  // elementCount allows 2^62 elements, whose number of bytes may exceed 64 bits.
  if (!elements || uint64_t(*elements) > UINT64_MAX / 16)
    return expected("a shape of less than 2^60 elements", shapeText(view.shape));
  view.elements = *elements;
  view.bytes = uint64_t(*elements) * elementSize(view.dtype);

  Result<std::vector<int64_t>> offsets = jsonIntegers(*findJson(entry, "data_offsets"), where, "data_offsets", 0);
  if (!offsets)
    return offsets.status();
  if (offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    return expected("data_offsets [begin, end] with begin <= end", shapeText(*offsets));
  uint64_t begin = uint64_t((*offsets)[0]), end = uint64_t((*offsets)[1]);
  if (end > dataBytes)
    return expected("data_offsets within the file's " + std::to_string(dataBytes) + " bytes of data", shapeText(*offsets));
  if (end - begin != view.bytes)
    return expected(std::to_string(view.bytes) + " bytes of data for " + dtypeName(view.dtype) + " " + shapeText(view.shape),
                    std::to_string(end - begin));
  view.data = data + begin;
  byName.emplace(name, std::move(view));
  return {};
}

Status SafetensorsFile::checkCoverage(uint64_t dataBytes) const {
  std::vector<const TensorView *> order;
  for (const auto &entry : byName)
    if (entry.second.bytes != 0)
      order.push_back(&entry.second);
  std::sort(order.begin(), order.end(), [](const TensorView *a, const TensorView *b) { return a->data < b->data; });
  const uint8_t *next = file.data() + (file.size() - dataBytes);
  const uint8_t *first = next;
  for (size_t i = 0; i < order.size(); ++i) {
    const std::string where = path() + ": tensor '" + order[i]->name + "': expected data at offset " + std::to_string(next - first) +
                              ", got " + std::to_string(order[i]->data - first);
    if (order[i]->data < next)
      return Status::error(where + " (overlaps tensor '" + order[i - 1]->name + "')");
    if (order[i]->data > next)
      return Status::error(where + " (bytes that belong to no tensor)");
    next += order[i]->bytes;
  }
  if (uint64_t(next - first) != dataBytes)
    return Status::error(path() + ": expected " + std::to_string(next - first) + " bytes of data, got " + std::to_string(dataBytes));
  return {};
}

const TensorView *SafetensorsFile::find(std::string_view name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &it->second;
}
