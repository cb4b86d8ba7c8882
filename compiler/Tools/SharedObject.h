//===- SharedObject.h - The shared object of a compiled model -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the code of a model that `attune compile --emit=shared` made.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_SHAREDOBJECT_H
#define ATTUNE_COMPILER_TOOLS_SHAREDOBJECT_H

#include "attune/abi.h"
#include "compiler/Support/Status.h"

#include <memory>
#include <string>

namespace attune {

/// A loaded shared object and the descriptor in it. Copies refer to the same object.
class SharedObject {
public:
  /// Loads the file |path| into this process. Fails if the file is not a complete shared object of a model for this
  /// machine. Checks the file before the system's loader gets it: messages of the loader about other files are obscure,
  /// and the loader maps a truncated file without an error, so that an access to the missing pages is a fault.
  static Result<SharedObject> load(const std::string &path);

  /// Returns the descriptor, which lives as long as handle().
  const attune_model_desc *descriptor() const { return desc; }
  /// Returns the owner of the code.
  const std::shared_ptr<void> &handle() const { return library; }
  /// Returns the path of the .text file that belongs to the object |path|, whether it exists or not.
  static std::string textPath(const std::string &path);

private:
  SharedObject(std::shared_ptr<void> library, const attune_model_desc *desc) : library(std::move(library)), desc(desc) {}

  std::shared_ptr<void> library;
  const attune_model_desc *desc;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_SHAREDOBJECT_H
