//===- AttentionModule.h - Cases of attention as IR and tensors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_REFERENCE_ATTENTIONMODULE_H
#define ATTUNE_TEST_REFERENCE_ATTENTIONMODULE_H

#include "test/Reference/Attention.h"
#include "test/Reference/CaseModule.h"

namespace attune::reference {

/// A module with an attention for each case. The names of inputs, weights and outputs end in the number of the case.
/// The sequences of all cases have the same lengths, so that the entry has few dims.
class AttentionModule : public CaseModule {
public:
  /// Adds a case with its expected outputs: for the first case "y0" and, if the case returns probabilities, "p0".
  void add(const AttentionCase &c);

private:
  /// Declares an input |name| of |values|, `[tokens, count * size]`, where |tokens| is the name of a dim. Returns the
  /// value that splits it into heads, `[tokens, count, size]`.
  std::string heads(const std::string &name, const std::string &tokens, int64_t count, int64_t size, const std::vector<float> &values);

  struct Operands {
    std::string keys, values, offsets, options, keyType, valueType;
  };
  Operands plainKeys(const AttentionCase &c);
  Operands cachedKeys(const AttentionCase &c);
  std::string maskOperand(const AttentionCase &c);
  static std::string attributes(const AttentionCase &c);
  std::string n(const std::string &name) const { return name + std::to_string(number); }

  int number = 0;
};

} // namespace attune::reference

#endif // ATTUNE_TEST_REFERENCE_ATTENTIONMODULE_H
