//===- TensorProvider.h - Where the numbers of a model come from -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One interface over weights that are stored and weights that are generated, so that the importer checks and the packer streams either
// without knowing which. `#xfmr.tensor<"name" : type>` names a tensor of the provider the module was imported with.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_TENSORPROVIDER_H
#define ATTUNE_COMPILER_WEIGHTS_TENSORPROVIDER_H

#include "compiler/Support/SafetensorsWriter.h"
#include "compiler/Support/Status.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// Tensors by name. All functions may be called from several threads at once.
class TensorProvider {
public:
  virtual ~TensorProvider() = default;

  /// Name, type and shape of a tensor, or null if there is none of this name. Valid as long as the provider.
  virtual const TensorSpec *find(std::string_view name) const = 0;
  /// What a message about |name| calls its place: a file, also for tensors that do not exist.
  virtual std::string placeOf(std::string_view name) const = 0;
  /// Writes elements |begin| … |begin|+|count| of the row-major tensor |name| to |out|, converted to float and rounded at most once. An
  /// error if there is no such tensor, it is not of a float type, or the range exceeds it.
  virtual Status read(std::string_view name, int64_t begin, int64_t count, float *out) const = 0;
};

/// The weights stored in a model folder (`model.safetensors` or shards). Every error names the file.
Result<std::unique_ptr<TensorProvider>> openTensors(const std::string &folder);

/// The tensors |specs| with the values that generateValues gives for |seed|; nothing is stored. |place| stands for the file in messages.
std::unique_ptr<TensorProvider> generateTensors(std::vector<TensorSpec> specs, int64_t seed, std::string place);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_TENSORPROVIDER_H
