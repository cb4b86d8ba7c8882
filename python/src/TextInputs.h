//===- TextInputs.h - Texts of Python for the C API -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_TEXTINPUTS_H
#define ATTUNE_PYTHON_TEXTINPUTS_H

#include "attune/text.h"
#include "Errors.h"

namespace attune::python {

/// A list of texts and of pairs of texts, as the C API takes them. Keeps the Python strings alive.
class TextInputs {
public:
  /// Views |inputs|, a sequence of strings and of tuples of two strings. Throws INVALID_ARGUMENT for other objects and
  /// for strings with surrogates, which have no UTF-8.
  explicit TextInputs(nb::sequence inputs);

  const attune_text_input *data() const { return texts.data(); }
  size_t size() const { return texts.size(); }
  /// Returns the number of bytes of all texts and pairs together.
  size_t bytes() const { return total; }

private:
  nb::list owners;
  std::vector<attune_text_input> texts;
  size_t total = 0;
};

} // namespace attune::python

#endif // ATTUNE_PYTHON_TEXTINPUTS_H
