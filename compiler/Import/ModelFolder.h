//===- ModelFolder.h - Opening and generating model folders -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// From a path to a description and its numbers, and the way back: a folder made from a configuration and a seed, so
// that size and speed of a model can be tried without a download.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_MODELFOLDER_H
#define ATTUNE_IMPORT_MODELFOLDER_H

#include "compiler/Import/MergeAdapters.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Support/GenerationSettings.h"
#include "compiler/Weights/TensorProvider.h"

#include <functional>

namespace attune {

/// A model folder, and what a user says beside it.
struct ModelSource {
  ModelSource(std::string folder, std::string architecture = "", std::vector<AdapterRequest> adapters = {})
      : folder(std::move(folder)), architecture(std::move(architecture)), adapters(std::move(adapters)) {}

  std::string folder;
  /// The class that replaces that of the configuration; "" if it does not.
  std::string architecture;
  /// The adapters that are merged into the tensors.
  std::vector<AdapterRequest> adapters;
};

/// A model: what it computes, its numbers, and how it generates if it is a decoder with caches.
struct ModelFolder {
  TransformerSpec spec;
  std::unique_ptr<TensorProvider> tensors;
  std::optional<GenerationSettings> generation;
  /// Messages to the user about a model that is accepted.
  std::vector<std::string> warnings;
};

/// The files that a model folder is made of. Every file that openModelFolder or a reader of its results looks at has
/// its place here: the compile cache takes a model for unchanged if none of these files has changed.
struct ModelFiles {
  /// Files that decide the code and the settings. Optional files that are absent are listed, too: their appearance is
  /// a change.
  std::vector<std::string> settings;
  /// Files that the values of the tensors come from.
  std::vector<std::string> tensors;
};

/// Lists the files of |folder| without checking them.
ModelFiles listModelFiles(const std::string &folder);
/// Lists the files of an adapter in |folder| in the same way.
ModelFiles listAdapterFiles(const std::string &folder);

/// Opens a model folder: config.json, completed where it lacks its type or class (see completeConfig), and stored weights. A golden case
/// without weights whose case.json says they are generated gets a generator in their place.
Result<ModelFolder> openModelFolder(const ModelSource &source);

/// Called with the bytes written and their total.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

/// Writes |folder|: the config.json (and generation_config.json and tokenizer) of |source|, whose class is that of the
/// configuration, and a model.safetensors with the generated weights of |seed|, adapters merged. Streams, so memory does
/// not depend on the model's size.
Status initModelFolder(const ModelSource &source, const std::string &folder, int64_t seed, const Progress &progress = {});

} // namespace attune

#endif // ATTUNE_IMPORT_MODELFOLDER_H
