//===- ShardIndex.cpp - Fuzz the index of sharded weights -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: the model.safetensors.index.json of a folder that has the shards a.safetensors (tensors "x" and "y") and
// b.safetensors ("z"), and a link to a file beside the folder. No tensor may come from outside of the folder.
//===----------------------------------------------------------------------===//
#include "compiler/Support/Safetensors.h"
#include "compiler/Support/SafetensorsWriter.h"

#include <cstdlib>
#include <filesystem>

using namespace attune;
namespace fs = std::filesystem;

namespace {
/// The folder, made once and removed at exit.
struct Folder {
  std::string base, path;

  Folder() {
    char pattern[] = "/tmp/attune-fuzz-index-XXXXXX";
    if (!mkdtemp(pattern))
      abort();
    base = pattern;
    path = base + "/model";
    fs::create_directory(path);
    write(path + "/a.safetensors", {"x", "y"});
    write(path + "/b.safetensors", {"z"});
    write(base + "/outside.safetensors", {"x", "y", "z", "secret"});
    fs::create_symlink("../outside.safetensors", path + "/link.safetensors");
  }
  ~Folder() { fs::remove_all(base); }

  static void write(const std::string &file, const std::vector<std::string> &names) {
    std::vector<OwnedTensor> tensors;
    for (const std::string &name : names)
      tensors.push_back({{name, DType::U8, {1}}, {7}});
    if (saveSafetensors(file, tensors).failed())
      abort();
  }
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Folder folder;
  Result<Json> index = parseJson({reinterpret_cast<const char *>(data), size}, "index");
  if (!index)
    return 0;
  Result<SafetensorsFolder> opened = SafetensorsFolder::openIndex(folder.path, "index", *index);
  if (!opened)
    return 0;
  for (const std::string &name : opened->names())
    if (name == "secret" || opened->find(name)->data[0] != 7 || opened->fileOf(name).rfind(folder.path + "/", 0) != 0)
      __builtin_trap();
  return 0;
}
