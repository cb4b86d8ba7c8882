//===- Cache.cpp - Compiled models kept between runs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Cache.h"
#include "compiler/Driver/CacheEntry.h"
#include "compiler/Driver/CacheFolder.h"
#include "compiler/Driver/CacheKey.h"
#include "compiler/Driver/CachePrune.h"
#include "compiler/Driver/CacheWeights.h"
#include "compiler/Import/ModelFolder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace attune;

/// Reads the record of the entry in |folder|, checks that it names the shared object |object|, and verifies the files.
static Result<CacheRecord> readIntact(const std::string &folder, const std::string &object) {
  Result<CacheRecord> record = CacheRecord::read(folder);
  if (!record)
    return record;
  if (record->object != object)
    return Status::error(folder + ": expected the shared object '" + object + "', got '" + record->object + "'");
  if (Status status = record->verify(folder); status.failed())
    return status;
  return record;
}

/// Returns the record of the entry in |folder| if it lists a weights file that is intact (see verifyCachedFile).
static std::optional<CacheRecord> findIntactWeights(const std::string &folder) {
  Result<CacheRecord> record = CacheRecord::read(folder);
  const CachedFile *weights = record ? record->weights() : nullptr;
  if (!weights || verifyCachedFile(folder, *weights).failed())
    return std::nullopt;
  return std::move(*record);
}

/// Adds all files in |folder| except the lock file to |record|, and writes the record to |folder|. The files must be
/// complete.
static Status writeRecord(const std::string &folder, CacheRecord record) {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (std::string path = it->path(); path != CacheEntry::lockFile(folder))
      names.push_back(llvm::sys::path::filename(path).str());
  llvm::sort(names);
  for (const std::string &name : names)
    if (Status status = record.addFile(folder, name); status.failed())
      return status;
  return record.write(folder);
}

namespace {

/// The compilation of a model into the cache.
class CachedCompilation {
public:
  CachedCompilation(const CompileOptions &options, const CompileListener &listener, const HostMachine &host, const Target &target)
      : options(options), listener(listener), host(host), target(target) {
    llvm::SmallString<128> real;
    std::string stem = llvm::sys::fs::real_path(options.model, real) ? "model" : toIdentifier(llvm::sys::path::stem(real));
    name = options.name.empty() ? stem : options.name;
    object = name + ".so";
    key = computeCacheKey(options, object, host, target);
  }

  /// Returns the model in |cache|, which may be read-only; nullopt if it is missing or damaged.
  std::optional<CachedModel> find(const std::string &cache) const;
  /// Looks for the model in |cache| and compiles it if it is missing or damaged. After a compilation, removes the least
  /// recently used entries until at most |maxBytes| bytes stay (pruneCache).
  Result<CachedModel> findOrMake(const std::string &cache, uint64_t maxBytes) const;

private:
  /// Compiles the model into |entry|, of which this process is the only maker. |problem| says what is wrong with the
  /// existing files.
  Status make(const CacheEntry &entry, const std::string &cache, const std::string &problem) const;

  const CompileOptions &options;
  const CompileListener &listener;
  const HostMachine &host;
  const Target &target;
  std::string name, object;
  CacheKey key;
};

} // namespace

std::optional<CachedModel> CachedCompilation::find(const std::string &cache) const {
  const std::string folder = cache + "/" + key.entry;
  Result<CacheEntry> entry = CacheEntry::open(folder);
  if (!entry || !readIntact(folder, object))
    return std::nullopt;
  return CachedModel{folder + "/" + object, entry->use()};
}

Result<CachedModel> CachedCompilation::findOrMake(const std::string &cache, uint64_t maxBytes) const {
  const std::string folder = cache + "/" + key.entry;
  Result<CacheEntry> entry = CacheEntry::create(folder);
  if (!entry)
    return entry.status();
  // Removes leftovers of ended processes, once per process. |entry| is in use already, so its folder stays.
  static const bool isClean = (removeLeftovers(cache), true);
  (void)isClean;

  Result<CacheRecord> record = readIntact(folder, object);
  if (!record && lacksResourcesToRead(folder))
    return record.status();
  if (!record) {
    auto waiting = [&] {
      if (listener.waiting)
        listener.waiting("waiting for another process, which compiles '" + options.model + "'");
    };
    if (Status status = entry->beginMaking(waiting, [&] { return listener.checkStop(); }); status.failed())
      return Status::error(record.message() + "; " + status.message());
    // Another process may have made the entry while this one waited.
    record = readIntact(folder, object);
    if (!record) {
      if (Status status = make(*entry, cache, record.message()); status.failed()) {
        entry->discard();
        return status;
      }
      pruneCache(cache, maxBytes);
    }
    entry->endMaking();
  }
  entry->touch();
  return CachedModel{folder + "/" + object, entry->use()};
}

Status CachedCompilation::make(const CacheEntry &entry, const std::string &cache, const std::string &problem) const {
  const std::string &folder = entry.folder();
  bool damaged = llvm::sys::fs::exists(folder + "/" + CacheRecord::kFileName) || llvm::sys::fs::exists(folder + "/" + object);
  CompileListener heard = listener;
  if (damaged && listener.warning)
    listener.warning("damaged cache: " + problem + "; '" + options.model + "' is compiled again");
  if (!damaged && listener.notice)
    heard.imported = [&] { listener.notice("compiling '" + options.model + "' (kept in '" + cache + "')"); };

  std::optional<CacheRecord> previous = findIntactWeights(folder);
  entry.clear(previous ? previous->weights()->name : "");
  CacheWeights weights(cache, folder, name + ".weights", hashText(key.tensors), std::move(previous));
  CompileOptions shared = options;
  shared.output = folder + "/" + object;
  shared.emit = EmitKind::Shared;
  shared.compileTo.reset();
  shared.dumpPhases.clear();
  shared.weightsStore = &weights;
  if (Status status = compileModel(shared, heard); status.failed())
    return status;
  if (computeCacheKey(options, object, host, target).entry != key.entry)
    return Status::error("'" + options.model + "' was changed while it was compiled; try again");

  CacheRecord record;
  llvm::SmallString<128> path(options.model);
  llvm::sys::fs::make_absolute(path);
  llvm::sys::path::remove_dots(path);
  record.model = path.str().str();
  record.object = object;
  record.flags = formatFlags(options, target);
  record.tensorsKey = hashText(key.tensors);
  return writeRecord(folder, std::move(record));
}

Result<CachedModel> attune::compileCached(const CompileOptions &options, const CompileListener &listener) {
  Result<HostMachine> host = HostMachine::create(options.cpu, options.triple);
  if (!host)
    return host.status();
  Result<std::unique_ptr<Target>> target = createTarget(options.target, *host);
  if (!target)
    return target.status();
  if (!llvm::sys::fs::exists(options.model))
    return Status::error("'" + options.model + "': no such file or folder");
  // The content of a pipe, which can be read only once, does not count in the key.
  if (!isModelSource(options.model) && !llvm::sys::fs::is_regular_file(options.model))
    return Status::error("'" + options.model +
                         "': expected a model folder or a file, got a special file; attune compile --emit=shared reads pipes");
  Result<CacheFolders> folders = findCacheFolders(/*create=*/true);
  if (!folders)
    return folders.status();
  CachedCompilation compilation(options, listener, *host, **target);
  for (const std::string &folder : folders->readable)
    if (folder != folders->writable)
      if (std::optional<CachedModel> model = compilation.find(folder))
        return std::move(*model);
  if (folders->writable.empty())
    return Status::error(folders->problem + "; or compile with --emit=shared and run the result");
  return compilation.findOrMake(folders->writable, folders->maxBytes);
}
