//===- CaseModule.h - Cases as IR and tensors -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_REFERENCE_CASEMODULE_H
#define ATTUNE_TEST_REFERENCE_CASEMODULE_H

#include "compiler/Support/SafetensorsWriter.h"

#include <map>

namespace attune::reference {

/// A module with one entry, its inputs and weights, and its expected outputs.
class CaseModule {
public:
  /// Writes model.mlir, weights.safetensors, in.safetensors and expected.safetensors into |folder|.
  Status write(const std::string &folder) const;

protected:
  /// Declares an input with |values| and returns its value in the entry, "%" and |name|. |dims| has the name of each
  /// dynamic dimension and the size of each static one; |shape| has the sizes of |values|.
  std::string input(const std::string &name, const std::vector<std::string> &dims, const std::vector<int64_t> &shape,
                    const std::vector<float> &values);
  std::string input(const std::string &name, const std::vector<std::string> &dims, const std::vector<int64_t> &shape,
                    const std::vector<int64_t> &values);
  /// Declares a weight with |values| and returns the name of the value of its reference.
  std::string weight(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &values);
  void output(const std::string &name, const std::string &value, const std::vector<std::string> &dims, const std::vector<int64_t> &shape,
              const std::vector<double> &values);
  /// Returns a tensor type such as "tensor<?x4x12xf32>". Names in |dims| become dynamic sizes.
  static std::string type(const std::vector<std::string> &dims, const char *element);
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string fresh() { return "%x" + std::to_string(next++); }

private:
  /// Makes the sizes in |shape| the limits of the names in |dims|.
  void limit(const std::vector<std::string> &dims, const std::vector<int64_t> &shape);
  std::string argument(const std::string &name, const std::vector<std::string> &dims, const char *element);

  std::string weights, arguments, body, results, resultAttributes, resultTypes;
  std::vector<OwnedTensor> inputs, expected, tensors;
  std::map<std::string, int64_t> limits;
  int next = 0;
};

} // namespace attune::reference

#endif // ATTUNE_TEST_REFERENCE_CASEMODULE_H
