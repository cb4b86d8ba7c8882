//===- Weights.h - The tensors of a model folder, by canonical name --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the model folder of a test tool. Any error ends the program with one line.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_REFERENCE_WEIGHTS_H
#define ATTUNE_TEST_REFERENCE_WEIGHTS_H

#include "compiler/Support/Safetensors.h"
#include "test/Reference/Math.h"

namespace attune::reference {

/// Prints "attune-test-reference: error: MESSAGE" and exits with 1.
[[noreturn]] void fail(const std::string &message);
/// Returns the elements of |view|, a float tensor, in double.
Array toArray(const TensorView &view);

/// The weights of a folder, under the names that they have in a file that transformers saves, without the prefix of the
/// base model ("embeddings.word_embeddings.weight").
class Weights {
public:
  explicit Weights(const std::string &folder);
  /// Returns the tensor called |name|, "bert." + |name| or "roberta." + |name|, or the same with the older "gamma" and
  /// "beta" for a LayerNorm's weight and bias; null if there is none.
  const TensorView *find(const std::string &name) const;
  /// Returns the tensor that find returns as an array. Exits with an error if there is none.
  Array get(const std::string &name) const;

private:
  SafetensorsFolder folder;
};

} // namespace attune::reference

#endif // ATTUNE_TEST_REFERENCE_WEIGHTS_H
