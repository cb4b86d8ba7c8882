//===- InputFiles.cpp - Files that a command must not overwrite -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Support/InputFiles.h"

#include <algorithm>
#include <set>
#include <sys/stat.h>
#include <tuple>
#include <vector>

using namespace attune;

/// A file by its device and inode, with an empty name, or a name in the folder with this device and inode.
using Identity = std::tuple<dev_t, ino_t, std::string>;

static thread_local std::set<Identity> inputs;
static thread_local std::vector<std::string> outputs;

/// Returns the identities of |path|; none if it is a folder or a special file, or if its folder is missing.
static std::vector<Identity> identify(const std::string &path) {
  std::vector<Identity> result;
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode))
      return {};
    result.emplace_back(info.st_dev, info.st_ino, "");
  }
  size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::stat(folder.c_str(), &info) == 0 && slash + 1 != path.size())
    result.emplace_back(info.st_dev, info.st_ino, path.substr(slash + 1));
  return result;
}

Status attune::checkOutput(const std::string &path) {
  if (inputs.empty())
    return {};
  for (const Identity &identity : identify(path))
    if (inputs.count(identity))
      return Status::error(path + ": expected a file or a free name to write to, got an input of this command");
  return {};
}

Status attune::declareInput(const std::string &path) {
  for (Identity &identity : identify(path))
    inputs.insert(std::move(identity));
  for (const std::string &output : outputs)
    if (Status status = checkOutput(output); status.failed())
      return status;
  return {};
}

Status attune::declareOutput(const std::string &path) {
  if (path.empty() || path == "-")
    return {};
  outputs.push_back(path);
  return checkOutput(path);
}

bool attune::isSameFile(const std::string &a, const std::string &b) {
  const std::vector<Identity> known = identify(a);
  for (const Identity &identity : identify(b))
    if (std::find(known.begin(), known.end(), identity) != known.end())
      return true;
  return false;
}

void attune::forgetFiles() {
  inputs.clear();
  outputs.clear();
}
