//===- InputFiles.cpp - Files that a command must not overwrite -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Support/InputFiles.h"

#include <filesystem>
#include <set>
#include <vector>

using namespace attune;
namespace fs = std::filesystem;

namespace {
/// The files of the command that a thread executes.
struct CommandFiles {
  std::set<std::string> inputs;
  std::vector<std::string> outputs;
};
} // namespace

static thread_local CommandFiles files;

/// Returns |path| as an absolute path, after symbolic links are followed; the file may be missing. Returns "" for a
/// folder, a special file or an empty |path|.
static std::string resolve(const std::string &path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path.empty() || (fs::exists(status) && !fs::is_regular_file(status)))
    return "";
  // weakly_canonical would leave a relative path relative if its first part is missing.
  return fs::weakly_canonical(fs::absolute(path, error), error).string();
}

Status attune::checkOutput(const std::string &path) {
  const std::string place = files.inputs.empty() ? "" : resolve(path);
  if (!place.empty() && files.inputs.count(place))
    return Status::error(path + ": expected a file or a free name to write to, got an input of this command");
  return {};
}

Status attune::declareInput(const std::string &path) {
  if (std::string place = resolve(path); !place.empty())
    files.inputs.insert(std::move(place));
  for (const std::string &output : files.outputs)
    if (Status status = checkOutput(output); status.failed())
      return status;
  return {};
}

Status attune::declareOutput(const std::string &path) {
  if (path.empty() || path == "-")
    return {};
  files.outputs.push_back(path);
  return checkOutput(path);
}

bool attune::isSameFile(const std::string &a, const std::string &b) {
  const std::string place = resolve(a);
  return !place.empty() && place == resolve(b);
}

void attune::forgetFiles() { files = {}; }
