//===- SafetensorsFolder.cpp - The weights of a model folder --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single-file and sharded folders with one lookup by name. The index is as untrusted as the files.
//===----------------------------------------------------------------------===//
#include "compiler/Support/ConversionAdvice.h"
#include "compiler/Support/Safetensors.h"

#include <filesystem>
#include <set>

using namespace attune;
namespace fs = std::filesystem;

static const char *singleName = "model.safetensors";
static const char *indexName = "model.safetensors.index.json";

static std::string inFolder(const std::string &folder, const std::string &name) { return (fs::path(folder) / name).string(); }

static bool isFile(const std::string &path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool SafetensorsFolder::present(const std::string &folder) {
  return isFile(inFolder(folder, singleName)) || isFile(inFolder(folder, indexName));
}

std::vector<std::string> SafetensorsFolder::listFiles(const std::string &folder) {
  std::string single = inFolder(folder, singleName), index = inFolder(folder, indexName);
  if (isFile(single) || !isFile(index))
    return {single};
  std::set<std::string> files = {index};
  Result<Json> json = readJsonFile(index);
  if (const Json *map = json ? findJson(*json, "weight_map") : nullptr; map && map->is_object())
    for (const auto &[tensor, file] : map->items())
      if (file.is_string())
        files.insert(inFolder(folder, file.get<std::string>()));
  return {files.begin(), files.end()};
}

Result<SafetensorsFolder> SafetensorsFolder::open(const std::string &folder) {
  SafetensorsFolder result;
  std::string single = inFolder(folder, singleName), index = inFolder(folder, indexName);
  if (isFile(single)) { // takes precedence over an index, as in transformers
    Result<SafetensorsFile> file = SafetensorsFile::open(single);
    if (!file)
      return file.status();
    result.mainFile = single;
    for (const auto &tensor : file->tensors())
      result.shardOf.emplace(tensor.first, 0);
    result.shards.push_back(std::move(*file));
    return result;
  }
  if (!isFile(index)) {
    std::string other = adviseOnWeights(folder);
    return Status::error(folder + ": expected " + singleName + " or " + indexName + ", " + (other.empty() ? "found neither" : other));
  }
  Result<Json> json = readJsonFile(index);
  if (!json)
    return json.status();
  return openIndex(folder, index, *json);
}

Result<SafetensorsFolder> SafetensorsFolder::openIndex(const std::string &folder, const std::string &path, const Json &index) {
  const Json *map = findJson(index, "weight_map");
  const char *expected = "an object of file names";
  if (!map)
    return Status::error(path + ": 'weight_map': expected " + expected + ", but the key is missing");
  if (!map->is_object())
    return jsonTypeError(path, "weight_map", expected, *map);
  SafetensorsFolder result;
  if (Status status = result.openShards(folder, path, *map); status.failed())
    return status;
  return result;
}

/// Checks that |shard| names a file of |folder| (see SafetensorsFolder::open) and returns its path. |index| is the path
/// of the index; |tensor| is for messages.
static Result<std::string> checkShard(const std::string &folder, const std::string &index, const std::string &tensor,
                                      const std::string &shard) {
  const std::string where = index + ": tensor '" + tensor + "': ";
  if (shard.empty() || shard == "." || shard == ".." || shard.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
    return Status::error(where + "expected the name of a file in the folder, got '" + shard + "'");
  std::string path = inFolder(folder, shard);
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error)
    return Status::error(where + "expected a file '" + shard + "' in the folder, which is missing");
  if (real.parent_path() != fs::canonical(folder, error) && real.parent_path() != fs::canonical(index, error).parent_path())
    return Status::error(where + "expected a file inside the folder, got '" + shard + "', a link to '" + real.string() + "'");
  return path;
}

Status SafetensorsFolder::openShards(const std::string &folder, const std::string &indexPath, const Json &map) {
  mainFile = indexPath;
  std::map<std::string, size_t> shardByName;
  for (const auto &[tensor, file] : map.items()) {
    Result<std::string> shard = jsonString(file, indexPath, "weight_map." + tensor);
    if (!shard)
      return shard.status();
    auto [it, isNew] = shardByName.emplace(*shard, shards.size());
    if (isNew) {
      Result<std::string> path = checkShard(folder, indexPath, tensor, *shard);
      if (!path)
        return path.status();
      Result<SafetensorsFile> opened = SafetensorsFile::open(*path);
      if (!opened)
        return opened.status();
      shards.push_back(std::move(*opened));
    }
    if (!shards[it->second].find(tensor))
      return Status::error(shards[it->second].path() + ": tensor '" + tensor + "': expected in this file by " + indexPath +
                           ", but missing");
    shardOf.emplace(tensor, it->second);
  }
  return {};
}

const TensorView *SafetensorsFolder::find(std::string_view name) const {
  auto it = shardOf.find(name);
  return it == shardOf.end() ? nullptr : shards[it->second].find(name);
}

const std::string &SafetensorsFolder::fileOf(std::string_view name) const {
  auto it = shardOf.find(name);
  return it == shardOf.end() ? mainFile : shards[it->second].path();
}

std::vector<std::string> SafetensorsFolder::names() const {
  std::vector<std::string> result;
  for (const auto &entry : shardOf)
    result.push_back(entry.first);
  return result;
}
