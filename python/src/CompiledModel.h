//===- CompiledModel.h - A compiled model for Python ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_COMPILEDMODEL_H
#define ATTUNE_PYTHON_COMPILEDMODEL_H

#include "compiler/Tools/SharedObject.h"
#include "Errors.h"

#include <memory>

namespace attune::python {

/// A loaded shared object with its weights mapped. Immutable; shared by its sessions, which keep it open.
class CompiledModel {
public:
  /// Loads the shared object |path| and opens the weights file or folder |weights|, "" for the folder of |path|.
  /// |verify| and |gpu| are verify_contents and gpu of attune_model_options. Throws attune::Error.
  CompiledModel(const std::string &path, const std::string &weights, bool verify, int gpu);

  const Model &get() const { return *model; }
  const attune_model_desc &desc() const { return model->descriptor(); }
  /// Returns the entry called |name|, the first one for null. Throws an error that lists all entries if there is no
  /// such entry.
  const attune_entry_desc &entry(const char *name) const;

  /// Returns the facts of the descriptor as a dictionary, see Description in _attune.pyi.
  nb::dict describe() const;
  /// Returns the manifest of the weights, JSON text.
  nb::str manifest() const;
  /// Reads all weights, without the GIL, and compares their hash with that in the file's header. Throws if they differ.
  void verify() const;

private:
  // Destroyed in reverse order: the model before the code it points into.
  std::shared_ptr<void> library;
  std::unique_ptr<Model> model;
};

/// Adds the class CompiledModel to |module|.
void bindModel(nb::module_ &module);

} // namespace attune::python

#endif // ATTUNE_PYTHON_COMPILEDMODEL_H
