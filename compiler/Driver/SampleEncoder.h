//===- SampleEncoder.h - Ids of texts by a model's tokenizer ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_SAMPLEENCODER_H
#define ATTUNE_COMPILER_DRIVER_SAMPLEENCODER_H

#include "compiler/Support/Status.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace attune {

/// The tokenizer of a model folder or a GGUF file, for texts that are read while the model is compiled.
class SampleEncoder {
public:
  /// Compiles the tokenizer of |model|. Fails if it has none.
  static Result<std::unique_ptr<SampleEncoder>> create(const std::string &model, const std::function<void(const std::string &)> &warn);
  ~SampleEncoder();

  /// Returns the ids of |text|, with the special tokens that the tokenizer adds.
  Result<std::vector<int64_t>> encode(const std::string &text);

private:
  struct State;
  explicit SampleEncoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_SAMPLEENCODER_H
