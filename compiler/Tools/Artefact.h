//===- Artefact.h - A compiled model opened by a tool ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shared object (or a descriptor already in the process) together with its mapped weights.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_ARTEFACT_H
#define ATTUNE_COMPILER_TOOLS_ARTEFACT_H

#include "attune/runtime.h"
#include "compiler/Support/Status.h"

#include <memory>
#include <string>

namespace attune {

/// An opened model. Copies share it.
class Artefact {
public:
  /// Loads the shared object |path|, which runs its code in this process, and opens its weights: the file or folder |weights|, or beside
  /// the object if empty. |label| is its name in messages, the path if empty.
  static Result<Artefact> openShared(const std::string &path, const std::string &weights = "", const std::string &label = "");
  /// Opens a model of this process; |keepAlive| owns the memory of its code, if anything has to. |label| is its name in messages.
  static Result<Artefact> openDescriptor(const attune_model_desc *desc, const std::string &label, const std::string &weights = "",
                                         std::shared_ptr<void> keepAlive = nullptr);

  /// Keeps |thing| alive as long as the model is open: a lock on its files, for example.
  void keepAlive(std::shared_ptr<void> thing) { kept = std::move(thing); }

  attune_model *model() const { return opened.get(); }
  const attune_model_desc &desc() const { return *attune_model_descriptor(opened.get()); }
  /// The object's path, or the label.
  const std::string &label() const { return name; }
  /// Milliseconds that loading and opening took.
  double openMilliseconds() const { return milliseconds; }

  /// The entry of this name ("" = the first), or an error that lists the entries there are.
  Result<const attune_entry_desc *> entry(const std::string &entryName) const;

private:
  std::string name;
  double milliseconds = 0;
  // Destroyed in reverse order: the model before the code it points into.
  std::shared_ptr<void> kept;
  std::shared_ptr<void> code;
  std::shared_ptr<attune_model> opened;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_ARTEFACT_H
