//===- CacheFolder.cpp - The folders of the compile cache -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CacheFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

static constexpr uint64_t kDefaultMaxBytes = uint64_t(16) << 30;

Result<uint64_t> attune::parseBytes(const std::string &text) {
  llvm::StringRef digits(text);
  unsigned shift =
      llvm::StringSwitch<unsigned>(digits.take_back().upper()).Case("K", 10).Case("M", 20).Case("G", 30).Case("T", 40).Default(0);
  if (shift)
    digits = digits.drop_back();
  uint64_t value;
  if (digits.empty() || !llvm::all_of(digits, llvm::isDigit) || digits.getAsInteger(10, value) || value > (UINT64_MAX >> shift))
    return Status::error("expected a number of bytes, which may end in K, M, G or T, got '" + text + "'");
  return value << shift;
}

std::string attune::formatBytes(uint64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double value = bytes;
  unsigned unit = 0;
  for (; value >= 1024 && unit < 4; value /= 1024)
    ++unit;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f ", value) << " KMGT"[unit] << "iB";
  return text;
}

/// Returns the value of the environment variable |name|; "" if it is not set.
static std::string getVariable(const char *name) { return llvm::sys::Process::GetEnv(name).value_or(""); }

/// Returns the reason why code must not be loaded from the folder |path|; "" if there is none. With |ownerMatters|, a
/// folder that belongs to another user or that its group can write to is a reason.
static std::string findDistrust(const std::string &path, bool ownerMatters) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return std::strerror(errno);
  if (!S_ISDIR(info.st_mode))
    return "it is a file";
  if (info.st_mode & (ownerMatters ? S_IWGRP | S_IWOTH : S_IWOTH))
    return "other users can write to it";
  return ownerMatters && info.st_uid != getuid() ? "it belongs to another user" : "";
}

/// Adds the folder |path| to |folders.readable| if code may be loaded from it, and makes it |folders.writable| if it
/// can be written to. With |create|, creates it first. Returns the reason why it cannot be written to; "" if it can.
static std::string addFolder(CacheFolders &folders, const std::string &path, bool create, bool ownerMatters) {
  std::string problem;
  if (create)
    if (std::error_code error = llvm::sys::fs::create_directories(path, /*IgnoreExisting=*/true, llvm::sys::fs::owner_all))
      problem = error.message();
  std::string distrust = findDistrust(path, ownerMatters);
  if (!distrust.empty())
    return !problem.empty() && distrust == std::strerror(ENOENT) ? problem : distrust;
  folders.readable.push_back(path);
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    return std::strerror(errno);
  folders.writable = path;
  return "";
}

Result<CacheFolders> attune::findCacheFolders(bool create) {
  CacheFolders folders;
  folders.maxBytes = kDefaultMaxBytes;
  if (std::string size = getVariable("ATTUNE_CACHE_SIZE"); !size.empty()) {
    Result<uint64_t> bytes = parseBytes(size);
    if (!bytes)
      return Status::error("ATTUNE_CACHE_SIZE: " + bytes.message());
    folders.maxBytes = *bytes;
  }
  if (std::string own = getVariable("ATTUNE_CACHE_DIR"); !own.empty()) {
    llvm::SmallString<128> path(own);
    llvm::sys::fs::make_absolute(path);
    while (path.size() > 1 && path.back() == '/')
      path.pop_back();
    std::string problem = addFolder(folders, path.str().str(), create, /*ownerMatters=*/false);
    if (folders.readable.empty() && (create || llvm::sys::fs::exists(path)))
      return Status::error("ATTUNE_CACHE_DIR: expected a folder to keep compiled models in, cannot use '" + own + "': " + problem);
    folders.problem = "ATTUNE_CACHE_DIR: cannot write to '" + own + "': " + problem;
    return folders;
  }

  std::vector<std::string> candidates;
  if (std::string xdg = getVariable("XDG_CACHE_HOME"); llvm::sys::path::is_absolute(xdg))
    candidates.push_back(xdg + "/attune");
  if (std::string home = getVariable("HOME"); llvm::sys::path::is_absolute(home))
    candidates.push_back(home + "/.cache/attune");
  llvm::SmallString<128> temporary;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  candidates.push_back((temporary + "/attune-" + std::to_string(getuid())).str());
  std::vector<std::string> reasons;
  for (const std::string &candidate : candidates) {
    std::string problem = addFolder(folders, candidate, create, /*ownerMatters=*/true);
    if (problem.empty())
      return folders;
    reasons.push_back("'" + candidate + "' (" + problem + ")");
  }
  folders.problem = "cannot create a cache folder, tried " + llvm::join(reasons, ", ") + "; name one by ATTUNE_CACHE_DIR";
  return folders;
}
