//===- SampleEncoder.h - Token ids of texts by a model's tokenizer -*- C++ -*-===//
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

/// The tokenizer of a model folder or a GGUF file, for the calibration texts that a compilation of the model reads.
class SampleEncoder {
public:
  /// Compiles the tokenizer of |model|, a path. Fails unless |model| is a model folder or a GGUF file from which
  /// text::compileText makes a .text file. |warn| gets the reasons for parts that compileText leaves out.
  static Result<std::unique_ptr<SampleEncoder>> create(const std::string &model, const std::function<void(const std::string &)> &warn);
  ~SampleEncoder();

  /// Returns the token ids of |text|, with the special tokens that the tokenizer adds. Fails if the model has no
  /// tokenizer or the tokenizer cannot encode |text|, for example since it is not UTF-8.
  Result<std::vector<int64_t>> encode(const std::string &text);

private:
  struct State;
  explicit SampleEncoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_SAMPLEENCODER_H
