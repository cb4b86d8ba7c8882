//===- Cache.cpp - Compiled models kept between runs -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Cache.h"
#include "compiler/Driver/CachePrune.h"
#include "compiler/Driver/HalideKernels.h"
#include "compiler/Target/CPU/TargetMachine.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <unistd.h>

using namespace attune;

/// Parts of files larger than this are recognised by time and size.
static constexpr size_t kHashedBytes = size_t(1) << 20;

/// What the cache may grow to before the oldest models go.
static constexpr uint64_t kMaxCacheBytes = uint64_t(16) << 30;

/// Text that changes when the file does.
static std::string describeFile(const std::string &path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) || !llvm::sys::fs::is_regular_file(status))
    return path + " absent\n";
  std::string text = llvm::sys::path::filename(path).str() + " " + std::to_string(status.getSize());
  size_t hashed = std::min<size_t>(status.getSize(), kHashedBytes);
  if (auto buffer = llvm::MemoryBuffer::getFileSlice(path, hashed, 0))
    text += " " + llvm::utohexstr(llvm::xxh3_64bits((*buffer)->getBuffer()));
  if (hashed < status.getSize())
    text += " " + std::to_string(status.getLastModificationTime().time_since_epoch().count());
  return text + "\n";
}

/// Everything in a model folder that may matter: configurations, weights, the golden case with its seed. A file is described as itself.
static std::string describeModel(const std::string &path) {
  if (!llvm::sys::fs::is_directory(path))
    return describeFile(path);
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(path, error), end; it != end && !error; it.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (name == "config.json" || name == "generation_config.json" || name == "case.json" || name.starts_with("model"))
      files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const std::string &file : files)
    text += describeFile(file);
  return text;
}

/// The compiler itself: another build may make other code.
static std::string describeCompiler() {
  static int here;
  return std::string(ATTUNE_VERSION) + "\n" + describeFile(llvm::sys::fs::getMainExecutable("attune", &here));
}

/// |object| is the file's name, from which the model has its own: equal models in folders of different names are different objects.
static std::string computeKey(const CompileOptions &options, const std::string &object, const CpuTarget &target) {
  std::string text = describeCompiler();
  if (options.kernels != KernelBackend::Mlir)
    if (Result<std::string> tool = findHalideTool())
      text += describeFile(*tool);
  text += object + "\n" + describeModel(options.model);
  if (!options.weights.empty())
    text += "weights\n" + describeModel(options.weights);
  // `native` is not the same on every machine that shares a home.
  text += formatFlags(options) + "\n" + options.name + "\n" + target.triple() + " " + target.cpu() + " " + target.features();
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return llvm::utohexstr(hash.high64, true, 16) + llvm::utohexstr(hash.low64, true, 16);
}

/// Creates |path|; whether it is a folder of ours that nobody else can write to.
static bool makePrivateFolder(const std::string &path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::create_directories(path, /*IgnoreExisting=*/true, llvm::sys::fs::owner_all) || llvm::sys::fs::status(path, status))
    return false;
  auto others = llvm::sys::fs::group_write | llvm::sys::fs::others_write;
  return status.type() == llvm::sys::fs::file_type::directory_file && status.getUser() == getuid() && !(status.permissions() & others);
}

/// The cache folder: under XDG_CACHE_HOME, else the home folder, else the folder for temporary files.
static Result<std::string> findCache() {
  std::vector<std::string> candidates;
  if (auto xdg = llvm::sys::Process::GetEnv("XDG_CACHE_HOME"); xdg && llvm::sys::path::is_absolute(*xdg))
    candidates.push_back(*xdg + "/attune");
  if (auto home = llvm::sys::Process::GetEnv("HOME"); home && llvm::sys::path::is_absolute(*home))
    candidates.push_back(*home + "/.cache/attune");
  llvm::SmallString<128> temporary;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  candidates.push_back((temporary + "/attune-" + std::to_string(getuid())).str());
  for (const std::string &candidate : candidates)
    if (makePrivateFolder(candidate) && access(candidate.c_str(), W_OK | X_OK) == 0)
      return candidate;
  return Status::error("cannot create a cache folder, tried " + llvm::join(candidates, ", ") +
                       "; compile with --emit=shared and run the result");
}

Result<std::string> attune::compileCached(const CompileOptions &options, const CompileListener &listener) {
  Result<CpuTarget> target = CpuTarget::create(options.cpu, options.triple);
  if (!target)
    return target.status();
  if (!llvm::sys::fs::exists(options.model))
    return Status::error("'" + options.model + "': no such file or folder");
  Result<std::string> cache = findCache();
  if (!cache)
    return cache.status();
  llvm::SmallString<128> real;
  std::string stem = llvm::sys::fs::real_path(options.model, real) ? "model" : toIdentifier(llvm::sys::path::stem(real));
  std::string object = (options.name.empty() ? stem : options.name) + ".so";
  std::string folder = *cache + "/" + computeKey(options, object, *target), found = folder + "/" + object;
  if (llvm::sys::fs::exists(found)) {
    touchCached(folder);
    return found;
  }
  pruneCache(*cache, kMaxCacheBytes);

  std::string pattern = *cache + "/new-XXXXXX";
  if (!mkdtemp(pattern.data()))
    return Status::error("cannot create a folder in '" + *cache + "'");
  llvm::scope_exit cleanup([&] { llvm::sys::fs::remove_directories(pattern); });
  CompileOptions shared = options;
  shared.output = pattern + "/" + object;
  shared.emit = EmitKind::Shared;
  shared.compileTo.reset();
  shared.dumpStages.clear();
  if (Status status = compileModel(shared, listener); status.failed())
    return status;
  // Somebody else may have published the same in the meantime; theirs is as good.
  std::error_code error = llvm::sys::fs::rename(pattern, folder);
  if (error && !llvm::sys::fs::exists(found))
    return Status::error("cannot create '" + folder + "': " + error.message());
  if (!error)
    cleanup.release();
  return found;
}
