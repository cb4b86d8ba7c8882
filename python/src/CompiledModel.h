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
  /// Loads |path| and opens the weights file or folder |weights|, "" for the folder of |path|.
  CompiledModel(const std::string &path, const std::string &weights, bool verify, int gpu);

  const Model &get() const { return *model; }
  const attune_model_desc &desc() const { return model->descriptor(); }
  /// Returns the entry called |name|, the first for null; throws an error that lists the entries if there is none.
  const attune_entry_desc &entry(const char *name) const;

  /// Returns the facts of the descriptor as a dictionary, see Description in _attune.pyi.
  nb::dict describe() const;
  /// Returns the manifest of the weights, JSON text.
  nb::str manifest() const;
  /// Compares the hash of the weights' contents with the header; reads them all, without the GIL.
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
