//===- Artifact.h - A compiled model opened by a tool ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled model: a shared object, or a descriptor of this process, together with its mapped weights.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_ARTIFACT_H
#define ATTUNE_COMPILER_TOOLS_ARTIFACT_H

#include "attune/text.h"
#include "compiler/Support/Status.h"

#include <memory>
#include <string>

namespace attune {

/// An opened model. Copies refer to the same model.
class Artifact {
public:
  /// Loads the shared object |path| into this process and opens its weights: the file or folder |weights| or, if
  /// |weights| is empty, the weights file beside the object. Messages name the model |label| or, if |label| is empty,
  /// |path|.
  static Result<Artifact> openShared(const std::string &path, const std::string &weights = "", const std::string &label = "");
  /// Opens the model of |desc|, a descriptor in this process. Messages name the model |label|. |weights| is the file or
  /// folder of the weights; "" means the folder of the executable or shared object that contains |desc|. |keepAlive|
  /// owns the code of the model; null if the code needs no owner.
  static Result<Artifact> openDescriptor(const attune_model_desc *desc, const std::string &label, const std::string &weights = "",
                                         std::shared_ptr<void> keepAlive = nullptr);

  /// Keeps |thing|, for example a lock on the model's files, alive as long as the model is open.
  void keepAlive(std::shared_ptr<void> thing) { kept = std::move(thing); }

  attune_model *model() const { return opened.get(); }
  const attune_model_desc &desc() const { return *attune_model_descriptor(opened.get()); }
  /// Returns the label or, if openShared got none, the object's path.
  const std::string &label() const { return name; }
  /// Returns the time of loading and opening in milliseconds.
  double openMilliseconds() const { return milliseconds; }

  /// Reads the weights, and the .text file beside the shared object if there is one. Fails if one of them does not have
  /// the checksum that the compiler stored in it.
  Status verify() const;
  /// Opens the tokenizer that was compiled with the model: the .text file beside the shared object. Fails if there is
  /// none.
  Result<std::shared_ptr<attune_text>> openText() const;

  /// Returns the entry of this name ("" = the first), or an error that lists the model's entries.
  Result<const attune_entry_desc *> entry(const std::string &entryName) const;

private:
  /// Returns true if the file |textPath| exists.
  bool hasText() const;

  std::string name;
  /// The path of the .text file that belongs to the model, whether the file exists or not; "" for a model that was
  /// opened from a descriptor.
  std::string textPath;
  double milliseconds = 0;
  // Destroyed in reverse order: the model before the code it points into.
  std::shared_ptr<void> kept;
  std::shared_ptr<void> code;
  std::shared_ptr<attune_model> opened;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_ARTIFACT_H
