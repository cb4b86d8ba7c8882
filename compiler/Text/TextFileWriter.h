//===- TextFileWriter.h - Writing .text files -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEXTFILEWRITER_H
#define ATTUNE_COMPILER_TEXT_TEXTFILEWRITER_H

#include "runtime/text/TextFormat.h"

#include <string>
#include <vector>

namespace attune::text {

/// A writer of a .text file, which collects the sections first; runtime/text/TextFormat.h describes the layout.
class TextFileWriter {
public:
  /// |referenceId| is the result of referenceId() (CharacterTables.h); 0 for a file that only exists in memory.
  explicit TextFileWriter(uint64_t referenceId = 0) : referenceId(referenceId) {}
  /// Adds a section. A reader that does not know |kind| (SectionKind) refuses the file if |required| is true, else
  /// skips the section.
  void add(uint32_t kind, std::string bytes, bool required = true);
  /// Adds a section that is an array of |T|, a type without padding.
  template <typename T>
  void add(uint32_t kind, const std::vector<T> &elements, bool required = true) {
    add(kind, std::string(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(T)), required);
  }
  /// Adds |bytes|, an input from which sections are made, to the input hash in the header of the file.
  void addInput(const std::string &bytes);
  /// Returns true if there are no sections yet.
  bool isEmpty() const { return parts.empty(); }

  /// Returns the bytes of the file.
  std::string finish() const;

private:
  struct Part {
    uint32_t kind;
    bool required;
    std::string bytes;
  };
  uint64_t referenceId;
  std::vector<Part> parts;
  uint64_t inputHash[2] = {0, 0};
};

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TEXTFILEWRITER_H
