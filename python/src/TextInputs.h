//===- TextInputs.h - Texts of Python for the C API -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_TEXTINPUTS_H
#define ATTUNE_PYTHON_TEXTINPUTS_H

#include "attune/text.h"
#include "Errors.h"

namespace attune::python {

/// A list of texts, or of pairs of texts, whose strings it keeps.
class TextInputs {
public:
  /// Views |inputs|, strings and tuples of two strings. Fails for other objects and for strings that have no UTF-8.
  explicit TextInputs(nb::sequence inputs);

  const attune_text_input *data() const { return texts.data(); }
  size_t size() const { return texts.size(); }
  /// Returns the bytes of all texts together.
  size_t bytes() const { return total; }

private:
  nb::list owners;
  std::vector<attune_text_input> texts;
  size_t total = 0;
};

} // namespace attune::python

#endif // ATTUNE_PYTHON_TEXTINPUTS_H
