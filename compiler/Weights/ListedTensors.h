//===- ListedTensors.h - Providers with a list of tensors -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_LISTEDTENSORS_H
#define ATTUNE_COMPILER_WEIGHTS_LISTEDTENSORS_H

#include "compiler/Weights/TensorProvider.h"

#include <map>

namespace attune {

/// A base class of providers. It keeps the list of tensors and checks the arguments of reads.
class ListedTensors : public TensorProvider {
public:
  const TensorSpec *find(std::string_view name) const override;
  std::vector<std::string> names() const override;

protected:
  /// Adds a tensor, unless the list has one of that name.
  void list(TensorSpec spec);
  /// Returns the tensor of this name. Fails if there is none, if its type is not a float type, or if it lacks some of
  /// the elements |begin| … |begin| + |count| - 1.
  Result<const TensorSpec *> checkRead(std::string_view name, int64_t begin, int64_t count) const;

private:
  std::map<std::string, TensorSpec, std::less<>> specs;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_LISTEDTENSORS_H
