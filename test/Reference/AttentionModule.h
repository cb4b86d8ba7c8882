//===- AttentionModule.h - Cases of attention as IR and tensors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_REFERENCE_ATTENTIONMODULE_H
#define ATTUNE_TEST_REFERENCE_ATTENTIONMODULE_H

#include "runtime/io/SafetensorsWriter.h"
#include "test/Reference/Attention.h"

#include <map>

namespace attune::reference {

/// A module with one entry, its inputs and weights, and the outputs it must give. Names end in the number of the case. The cases have the
/// same sequences, so that the entry has few dims.
class AttentionModule {
public:
  /// Adds a case with its expected outputs, "y0" and, if it has them, "p0".
  void add(const AttentionCase &c);
  /// Writes model.mlir, weights.safetensors, in.safetensors and expected.safetensors into |folder|.
  Status write(const std::string &folder) const;

private:
  /// Declares an input and returns its name in the entry; |dims| are names, or numbers where static.
  std::string input(const std::string &name, const std::vector<std::string> &dims, const std::vector<int64_t> &shape,
                    const std::vector<float> &values);
  std::string input(const std::string &name, const std::vector<std::string> &dims, const std::vector<int64_t> &shape,
                    const std::vector<int64_t> &values);
  /// Makes the sizes of this call the limits of the entry.
  void limit(const std::vector<std::string> &dims, const std::vector<int64_t> &shape);
  std::string argument(const std::string &name, const std::vector<std::string> &dims, const char *element);
  void output(const std::string &name, const std::string &value, const std::vector<std::string> &dims, const std::vector<int64_t> &shape,
              const std::vector<double> &values);
  /// "tensor<?x4x12xf32>" for dims of which names are dynamic.
  static std::string type(const std::vector<std::string> &dims, const char *element);
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string fresh() { return "%x" + std::to_string(next++); }
  /// |name| "[T, H * D]" seen as heads.
  std::string heads(const std::string &name, const std::string &tokens, int64_t count, int64_t size, const std::vector<float> &values);

  struct Operands {
    std::string keys, values, offsets, options, keyType, valueType;
  };
  Operands plainKeys(const AttentionCase &c);
  Operands cachedKeys(const AttentionCase &c);
  std::string maskOperand(const AttentionCase &c);
  static std::string attributes(const AttentionCase &c);
  std::string n(const std::string &name) const { return name + std::to_string(number); }

  std::string weights, arguments, body, results, resultTypes;
  std::vector<OwnedTensor> inputs, expected, tensors;
  std::map<std::string, int64_t> limits;
  int number = 0, next = 0;
};

} // namespace attune::reference

#endif // ATTUNE_TEST_REFERENCE_ATTENTIONMODULE_H
