//===- ModelFolder.h - Opening and generating model folders -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Opens model folders: the description of a model and its tensors. Also makes folders from a configuration and a seed,
// so that size and speed of a model can be tried without a download.
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

/// A model folder, or a GGUF file in the place of one, and the user's options for it.
struct ModelSource {
  ModelSource(std::string folder, std::string architecture = "", std::vector<AdapterRequest> adapters = {})
      : folder(std::move(folder)), architecture(std::move(architecture)), adapters(std::move(adapters)) {}

  std::string folder;
  /// The class of transformers that replaces the one in the configuration; "" for none.
  std::string architecture;
  /// Adapters to merge into the tensors.
  std::vector<AdapterRequest> adapters;
  /// True if a folder without weights is opened with generated ones. Their seed is 0, unless the folder is a golden
  /// case with a seed (see openModelFolder).
  bool generatesMissing = false;
};

/// An open model: its description, its tensors and, for a decoder with caches, its generation settings.
struct ModelFolder {
  TransformerSpec spec;
  std::unique_ptr<TensorProvider> tensors;
  std::optional<GenerationSettings> generation;
  /// Warnings for the user about an accepted model.
  std::vector<std::string> warnings;
};

/// The files of a model folder. listModelFiles must list every file that openModelFolder or a reader of its results
/// opens: the compile cache considers a model unchanged if none of these files has changed.
struct ModelFiles {
  /// Files that decide the code and the settings. Includes optional files that are absent, since their appearance is a
  /// change.
  std::vector<std::string> settings;
  /// Files with the values of tensors.
  std::vector<std::string> tensors;
};

/// Returns true if |path| is a folder or a GGUF file, which openModelFolder takes like a folder.
bool isModelSource(const std::string &path);
/// Lists the files of |folder| without checking them. If |folder| is a GGUF file, it is the only entry of both lists.
ModelFiles listModelFiles(const std::string &folder);
/// Lists the files of an adapter in |folder| without checking them.
ModelFiles listAdapterFiles(const std::string &folder);

/// Opens a model folder or a GGUF file: the configuration, completed if it lacks its type or class (see
/// completeConfig), and the stored weights, with the adapters merged. A golden case, a folder of the tests with a
/// case.json, may lack weights if case.json says that they are generated; its tensors are then generated from the seed
/// in case.json.
Result<ModelFolder> openModelFolder(const ModelSource &source);

/// A callback of a writer of one file: |done| of |total| bytes are written.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

/// Writes the model folder |folder|. Copies config.json and, if they exist, generation_config.json, the tokenizer and
/// the settings of sentence-transformers modules from |source|. As config.json is copied unchanged, the caller must not
/// choose another class in |source|. Beside these files writes model.safetensors, one for the transformer and one for
/// each module with tensors, with weights generated from |seed| and the adapters merged; |progress|, which may be
/// empty, starts again at 0 for each of these files. Writes in a stream, so memory does not depend on the size of the
/// model. Fails if |folder| has other weights (see checkReplaceable) or the configuration is quantized. A failure
/// leaves the files of |folder| as they were, as far as the system permits.
Status initModelFolder(const ModelSource &source, const std::string &folder, int64_t seed, const Progress &progress = {});

} // namespace attune

#endif // ATTUNE_IMPORT_MODELFOLDER_H
