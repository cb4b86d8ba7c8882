//===- TensorProvider.h - Origin of the tensors of a model ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The interface to weights from files and to generated weights. The importer and the packer use it.
// `#xfmr.tensor<"name" : type>` names a tensor of the provider that the module was imported with.
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

/// A source of tensors by name. All functions are thread-safe.
class TensorProvider {
public:
  virtual ~TensorProvider() = default;

  /// Returns name, type and shape of a tensor, or null if there is none of this name. The result is valid as long as
  /// the provider.
  virtual const TensorSpec *find(std::string_view name) const = 0;
  /// Returns the names of all tensors, sorted.
  virtual std::vector<std::string> names() const = 0;
  /// Returns the file of the tensor |name| for messages, also for a tensor that does not exist.
  virtual std::string fileOf(std::string_view name) const = 0;
  /// Writes elements |begin| … |begin| + |count| - 1 of the row-major tensor |name| to |out|, converted to float. Fails
  /// if there is no such tensor, if its type is not a float type, if the range exceeds the tensor, or if the values
  /// cannot be computed.
  virtual Status read(std::string_view name, int64_t begin, int64_t count, float *out) const = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_TENSORPROVIDER_H
