//===- CacheRecord.cpp - The record of a compiled model -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CacheRecord.h"
#include "attune/abi.h"
#include "compiler/Driver/CacheKey.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/OutputFile.h"
#include "llvm/ADT/StringRef.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

static std::string inEntry(const std::string &folder, const std::string &name) { return folder + "/" + name; }

/// Returns a hash of the bytes of |mapped| outside of the section of packed weights, the |file|.dataBytes bytes at
/// |file|.dataOffset. The section must lie within |mapped|; dataBytes is 0 if there is none.
static std::string hashOutsideData(const MappedFile &mapped, const CachedFile &file) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(mapped.data()), mapped.size());
  if (file.dataBytes == 0)
    return hashText(bytes);
  return hashText((bytes.take_front(file.dataOffset) + bytes.drop_front(file.dataOffset + file.dataBytes)).str());
}

Status attune::verifyCachedFile(const std::string &folder, const CachedFile &file) {
  Result<MappedFile> mapped = MappedFile::open(inEntry(folder, file.name));
  if (!mapped)
    return mapped.status();
  if (mapped->size() != file.bytes)
    return Status::error(mapped->path() + ": expected " + std::to_string(file.bytes) + " bytes, got " + std::to_string(mapped->size()));
  if (std::string hash = hashOutsideData(*mapped, file); hash != file.checksum)
    return Status::error(mapped->path() + ": expected checksum " + file.checksum + ", got " + hash);
  return {};
}

Status CacheRecord::verify(const std::string &folder) const {
  for (const CachedFile &file : files)
    if (Status status = verifyCachedFile(folder, file); status.failed())
      return status;
  return {};
}

Status CacheRecord::addFile(const std::string &folder, const std::string &name) {
  Result<MappedFile> mapped = MappedFile::open(inEntry(folder, name));
  if (!mapped)
    return mapped.status();
  CachedFile file;
  file.name = name;
  file.bytes = mapped->size();
  attune_weights_header header;
  if (mapped->size() >= sizeof(header)) {
    std::memcpy(&header, mapped->data(), sizeof(header));
    if (header.magic == ATTUNE_WEIGHTS_MAGIC) {
      if (header.data_offset > file.bytes || header.data_bytes > file.bytes - header.data_offset)
        return Status::error(mapped->path() + ": expected weights within the " + std::to_string(file.bytes) + " bytes of the file, got " +
                             std::to_string(header.data_bytes) + " bytes at " + std::to_string(header.data_offset));
      file.dataOffset = header.data_offset;
      file.dataBytes = header.data_bytes;
    }
  }
  file.checksum = hashOutsideData(*mapped, file);
  files.push_back(std::move(file));
  return {};
}

const CachedFile *CacheRecord::weights() const {
  for (const CachedFile &file : files)
    if (llvm::StringRef(file.name).ends_with(".weights"))
      return &file;
  return nullptr;
}

/// Returns true if this process has no descriptor left to open the file at |path|, which may be missing, or no address
/// space to map it.
static bool lacksResourcesForFile(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
  struct stat info;
  void *memory = ::fstat(fd, &info) == 0 && info.st_size > 0 ? ::mmap(nullptr, info.st_size, PROT_READ, MAP_SHARED, fd, 0) : nullptr;
  bool lacks = memory == MAP_FAILED && errno == ENOMEM;
  if (memory && memory != MAP_FAILED)
    ::munmap(memory, info.st_size);
  ::close(fd);
  return lacks;
}

bool attune::lacksResourcesToRead(const std::string &folder) {
  if (lacksResourcesForFile(inEntry(folder, CacheRecord::kFileName)))
    return true;
  Result<CacheRecord> record = CacheRecord::read(folder);
  if (record)
    for (const CachedFile &file : record->files)
      if (lacksResourcesForFile(inEntry(folder, file.name)))
        return true;
  return false;
}

/// Returns the checksum of |record|, a JSON object without the field `checksum`.
static std::string checksumRecord(const Json &record) { return hashText(record.dump(-1, ' ', false, Json::error_handler_t::replace)); }

Status CacheRecord::write(const std::string &folder) const {
  Json list = Json::array();
  for (const CachedFile &file : files)
    list.push_back({{"name", file.name},
                    {"bytes", file.bytes},
                    {"data_offset", file.dataOffset},
                    {"data_bytes", file.dataBytes},
                    {"checksum", file.checksum}});
  Json record = {{"model", model}, {"object", object}, {"flags", flags}, {"tensors_key", tensorsKey}, {"files", list}};
  // The checksum is that of the text that a reader gets: dumping replaces bytes that are not UTF-8.
  record = Json::parse(record.dump(-1, ' ', false, Json::error_handler_t::replace));
  record["checksum"] = checksumRecord(record);
  std::string text = record.dump(1) + "\n";
  Result<OutputFile> file = OutputFile::create(inEntry(folder, kFileName));
  if (!file)
    return file.status();
  if (Status status = file->write(text.data(), text.size()); status.failed())
    return status;
  return file->commit();
}

Result<CacheRecord> CacheRecord::read(const std::string &folder) {
  std::string path = inEntry(folder, kFileName);
  Result<Json> json = readJsonFile(path);
  if (!json)
    return json.status();
  auto text = [&](const Json &object, const char *key) {
    const Json *value = findJson(object, key);
    return value && value->is_string() ? value->get<std::string>() : "";
  };
  auto number = [&](const Json &object, const char *key) {
    const Json *value = findJson(object, key);
    return value && value->is_number_unsigned() ? value->get<uint64_t>() : 0;
  };
  std::string checksum = text(*json, "checksum");
  const Json *list = findJson(*json, "files");
  if (json->is_object())
    json->erase("checksum");
  if (!list || !list->is_array() || checksum != checksumRecord(*json))
    return Status::error(path + ": expected a record of its own checksum, got another text");
  // The checksum is right, so every field is as it was written.
  CacheRecord record;
  record.model = text(*json, "model");
  record.object = text(*json, "object");
  record.flags = text(*json, "flags");
  record.tensorsKey = text(*json, "tensors_key");
  for (const Json &file : json->at("files"))
    record.files.push_back(
        {text(file, "name"), number(file, "bytes"), number(file, "data_offset"), number(file, "data_bytes"), text(file, "checksum")});
  return record;
}
