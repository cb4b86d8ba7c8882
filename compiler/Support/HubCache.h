//===- HubCache.h - Models in the local Hugging Face cache ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a model by the name that it has on the Hugging Face hub, among the models that its tools have downloaded:
//
//     HUB/models--ORG--NAME/refs/main               the name of a snapshot
//                           snapshots/SNAPSHOT/     config.json, …: links into blobs/
//
// HUB is HF_HUB_CACHE, else HUGGINGFACE_HUB_CACHE, else hub in HF_HOME, else huggingface/hub in XDG_CACHE_HOME, else
// ~/.cache/huggingface/hub. Without refs/main the only snapshot is taken. Nothing is downloaded.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_HUBCACHE_H
#define ATTUNE_COMPILER_SUPPORT_HUBCACHE_H

#include "compiler/Support/Status.h"

#include <string>

namespace attune {

/// A model by its path.
struct ModelPath {
  std::string path;
  /// The last part of its name on the hub; "" if it was given by a path.
  std::string hubName;
};

/// Returns the path of the model |name|: |name| itself if there is such a file or folder, if it cannot be a name on the
/// hub (such as a name with the extension of a file that a command reads or writes), or if no environment variable says
/// where the cache is; else the snapshot of the model in the cache. If the cache lacks the model, fails for ORG/NAME
/// and returns a |name| without "/" itself. Fails if the model in the cache lacks the snapshot that refs/main names, or
/// has no refs/main and not exactly one snapshot.
Result<ModelPath> findModel(const std::string &name);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_HUBCACHE_H
