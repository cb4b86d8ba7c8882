//===- Cache.cpp - The command cache --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CacheEntry.h"
#include "compiler/Driver/CacheFolder.h"
#include "compiler/Driver/CachePrune.h"
#include "compiler/Tools/CompilerCommands.h"

#include <cstdio>

using namespace attune;

/// Returns |time| in local time, as "2026-11-23 18:05:00".
static std::string formatTime(std::time_t time) {
  std::tm fields = {};
  char text[32] = "";
  if (localtime_r(&time, &fields))
    std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &fields);
  return text;
}

/// Returns "1 model", "2 models" and so on.
static std::string countModels(uint64_t count) { return std::to_string(count) + (count == 1 ? " model" : " models"); }

/// Returns |path| with `?` for each control character of ASCII, which could act on a terminal.
static std::string makePrintable(std::string path) {
  for (char &c : path)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return path;
}

static void printText(const CacheFolders &folders) {
  for (const std::string &folder : folders.readable) {
    std::vector<CachedEntry> entries = listEntries(folder);
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
      std::printf("%10s  %s  %s%s\n%33s%s\n", formatBytes(entry->bytes()).c_str(), formatTime(entry->lastUse.tv_sec).c_str(),
                  entry->record ? makePrintable(entry->record->model).c_str() : "(incomplete)",
                  CacheEntry::isInUse(entry->folder) ? "  (in use)" : "", "",
                  entry->record ? entry->record->flags.c_str() : entry->folder.c_str());
    std::printf("%s, %s of at most %s in %s\n", countModels(entries.size()).c_str(), formatBytes(totalBytes(entries)).c_str(),
                formatBytes(folders.maxBytes).c_str(), folder.c_str());
  }
  if (folders.readable.empty())
    std::printf("no models are kept yet\n");
}

static void printJson(const CacheFolders &folders) {
  Json list = Json::array();
  for (const std::string &folder : folders.readable)
    for (const CachedEntry &entry : listEntries(folder)) {
      Json item = {{"folder", entry.folder},
                   {"bytes", entry.bytes()},
                   {"last_use", entry.lastUse.tv_sec},
                   {"in_use", CacheEntry::isInUse(entry.folder)}};
      if (entry.record) {
        item["model"] = entry.record->model;
        item["flags"] = entry.record->flags;
        item["object"] = entry.record->object;
      }
      list.push_back(std::move(item));
    }
  uint64_t bytes = 0;
  for (const std::string &folder : folders.readable)
    bytes += totalBytes(listEntries(folder));
  Json result = {{"folders", folders.readable}, {"max_bytes", folders.maxBytes}, {"bytes", bytes}, {"entries", list}};
  std::printf("%s\n", result.dump(1, ' ', false, Json::error_handler_t::replace).c_str());
}

/// Removes cache entries that no process uses, the least recently used first, until the rest has at most |maxBytes|
/// bytes or only entries in use remain. Prints the result. Fails if an entry cannot be removed, or if there is a cache
/// that cannot be written to.
static Status prune(const CacheFolders &folders, uint64_t maxBytes) {
  if (folders.writable.empty()) {
    if (!folders.readable.empty())
      return Status::error(folders.problem);
    std::printf("no models are kept yet\n");
    return {};
  }
  removeLeftovers(folders.writable);
  PruneResult result = pruneCache(folders.writable, maxBytes);
  std::printf("removed %s, %s; %s, %s, stay%s\n", countModels(result.removedEntries).c_str(), formatBytes(result.removedBytes).c_str(),
              countModels(result.keptEntries).c_str(), formatBytes(result.keptBytes).c_str(), result.inUse ? " (in use)" : "");
  if (!result.failed.empty())
    return Status::error("cannot remove '" + result.failed.front() + "'");
  return {};
}

int attune::runCacheCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  std::optional<uint64_t> size;
  bool json = false;
  FlagTable flags;
  flags.addCustom("size", "N", "prune: bytes that may stay, with K, M, G or T behind the number (ATTUNE_CACHE_SIZE)",
                  [&](const std::string &value) {
                    Result<uint64_t> bytes = parseBytes(value);
                    if (!bytes)
                      return bytes.status();
                    size = *bytes;
                    return Status();
                  });
  flags.addSwitch("json", json, "list: print one JSON object");
  std::vector<std::string> positional;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, positional, "cache list|prune|clear [flags]",
                         "Lists the compiled models that are kept, those used last first, removes those that were not used for longest "
                         "(prune), or all (clear). Models that a process uses stay.\n\n"
                         "They are kept in the folder ATTUNE_CACHE_DIR, else in attune in XDG_CACHE_HOME, else in ~/.cache/attune. When a "
                         "model is added, the oldest ones go until at most ATTUNE_CACHE_SIZE bytes (16G) stay."))
    return *status;
  if (positional.size() != 1)
    return reportError(host.tool, "expected one of list, prune, clear after cache, got " +
                                      (positional.empty() ? std::string("nothing") : std::to_string(positional.size()) + " words"));
  const std::string &action = positional[0];
  if (action != "list" && action != "prune" && action != "clear")
    return reportError(host.tool, "expected one of list, prune, clear after cache, got '" + action + "'");
  if (size && action != "prune")
    return reportError(host.tool, "--size: only with cache prune");
  if (json && action != "list")
    return reportError(host.tool, "--json: only with cache list");

  Result<CacheFolders> folders = findCacheFolders(/*create=*/false);
  if (!folders)
    return reportError(host.tool, folders.message());
  if (action == "list") {
    json ? printJson(*folders) : printText(*folders);
    return exitDone;
  }
  Status status = prune(*folders, action == "clear" ? 0 : size.value_or(folders->maxBytes));
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
