//===- HubCache.cpp - Models in the local Hugging Face cache --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Support/HubCache.h"
#include "compiler/Support/Strings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

using namespace attune;
namespace fs = std::filesystem;

/// Returns the value of an environment variable that names a folder; "" if it is unset. Replaces a leading ~/ by
/// $HOME/.
static std::string readFolderVariable(const char *variable) {
  const char *value = std::getenv(variable), *home = std::getenv("HOME");
  std::string path = value ? value : "";
  return home && startsWith(path, "~/") ? home + path.substr(1) : path;
}

/// Returns HUB, the folder of the cache (HubCache.h); "" if no environment variable says where it is.
static std::string findHub() {
  for (const char *variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (std::string hub = readFolderVariable(variable); !hub.empty())
      return hub;
  if (std::string home = readFolderVariable("HF_HOME"); !home.empty())
    return home + "/hub";
  if (std::string caches = readFolderVariable("XDG_CACHE_HOME"); !caches.empty())
    return caches + "/huggingface/hub";
  std::string home = readFolderVariable("HOME");
  return home.empty() ? "" : home + "/.cache/huggingface/hub";
}

/// Returns true if |part| may be ORG or NAME in a name ORG/NAME on the hub.
static bool isHubName(const std::string &part) {
  auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  return !part.empty() && part.size() <= 96 && part.front() != '.' && part.front() != '-' && part.find("--") == std::string::npos &&
         std::all_of(part.begin(), part.end(), allowed);
}

/// Returns true if |name| has the extension of a file that a tool reads or writes.
static bool isFileName(const std::string &name) {
  const std::string extension = fs::path(name).extension().string();
  const char *const known[] = {".so", ".o", ".mlir", ".text", ".weights", ".safetensors", ".json", ".gguf", ".onnx", ".bin", ".pt"};
  return std::find(std::begin(known), std::end(known), extension) != std::end(known);
}

static bool isFolder(const fs::path &path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// Returns the name of the snapshot that the file |ref| contains; "" if there is no such file or it contains no valid
/// name.
static std::string readRef(const fs::path &ref) {
  std::string snapshot;
  std::error_code ignored;
  if (fs::is_regular_file(ref, ignored)) // opening a pipe without a writer would block
    std::ifstream(ref) >> snapshot;
  return isHubName(snapshot) ? snapshot : "";
}

/// Returns the path of the snapshot to use of the model kept in |folder|: the one that refs/main names or, without
/// refs/main, the only one. |name| is the model's name for errors.
static Result<std::string> findSnapshot(const std::string &name, const fs::path &folder) {
  const fs::path snapshots = folder / "snapshots";
  if (std::string main = readRef(folder / "refs" / "main"); !main.empty()) {
    if (isFolder(snapshots / main))
      return (snapshots / main).string();
    return Status::error("'" + name + "': expected the folder '" + (snapshots / main).string() +
                         "', which refs/main names and which is missing");
  }
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(snapshots, error), end; !error && it != end; it.increment(error))
    if (isFolder(it->path()))
      found.push_back(it->path().string());
  if (found.size() == 1)
    return found[0];
  return Status::error("'" + name + "': expected refs/main or one folder in '" + snapshots.string() + "', got " +
                       std::to_string(found.size()) + " folders");
}

Result<ModelPath> attune::findModel(const std::string &name) {
  std::error_code ignored;
  size_t slash = name.find('/');
  const std::string organization = name.substr(0, slash == std::string::npos ? 0 : slash);
  const std::string model = name.substr(slash == std::string::npos ? 0 : slash + 1);
  const bool isName = isHubName(model) && (slash == std::string::npos || isHubName(organization)) && !isFileName(model);
  const std::string hub = isName ? findHub() : "";
  if (!isName || hub.empty() || fs::exists(name, ignored))
    return ModelPath{name, ""};
  const std::string entry = "models--" + (slash == std::string::npos ? "" : organization + "--") + model;
  if (!isFolder(fs::path(hub) / entry)) {
    if (slash == std::string::npos)
      return ModelPath{name, ""};
    return Status::error("'" + name + "': no such file or folder, and no such model in the Hugging Face cache '" + hub +
                         "' (nothing is downloaded)");
  }
  Result<std::string> snapshot = findSnapshot(name, fs::path(hub) / entry);
  if (!snapshot)
    return snapshot.status();
  return ModelPath{std::move(*snapshot), model};
}
