//===- HubCache.h - Models in the local Hugging Face cache ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a model by its name on the Hugging Face hub in the local cache, to which the tools of the hub download models:
//
//     HUB/models--ORG--NAME/refs/main               the name of a snapshot
//                           snapshots/SNAPSHOT/     config.json, …: links into blobs/
//
// HUB is the first of these folders whose environment variable is set and not empty: $HF_HUB_CACHE,
// $HUGGINGFACE_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub, $HOME/.cache/huggingface/hub. A model without
// refs/main must have exactly one snapshot. Nothing is downloaded.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_HUBCACHE_H
#define ATTUNE_COMPILER_SUPPORT_HUBCACHE_H

#include "compiler/Support/Status.h"

#include <string>

namespace attune {

/// The file or folder of a model.
struct ModelPath {
  std::string path;
  /// The last part of the model's name on the hub; "" if |path| does not come from the cache.
  std::string hubName;
};

/// Returns the path of the model |name|. This is |name| itself if there is such a file or folder, if |name| cannot be a
/// name on the hub (for example because it has the extension of a file that a command reads or writes), or if no
/// environment variable says where the cache is. Otherwise it is the model's snapshot in the cache. If the cache lacks
/// the model, fails for a name ORG/NAME, and returns |name| itself for a name without "/". Fails if the model in the
/// cache lacks the snapshot that refs/main names, or if it has no refs/main and not exactly one snapshot.
Result<ModelPath> findModel(const std::string &name);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_HUBCACHE_H
