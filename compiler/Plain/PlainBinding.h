//===- PlainBinding.h - The tensors of one call of an entry -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINBINDING_H
#define ATTUNE_COMPILER_PLAIN_PLAINBINDING_H

#include "compiler/Plain/PlainRequest.h"
#include "compiler/Plain/PlainSignature.h"

namespace attune {

/// The dims, inputs, outputs and caches of one call, checked against the entry.
class PlainBinding {
public:
  /// Takes the inputs of |request|, adds the defaults of missing ones, and adds to |caches| the caches of the entry
  /// that it does not have yet, filled with zeros. With |wide|, floats are f64. Fails if an input is unknown, has no
  /// default, or has sizes, a type or values that the entry does not accept, or if the entry needs caches and |caches|
  /// is null.
  static Result<PlainBinding> create(const PlainEntry &entry, const PlainRequest &request, PlainCaches *caches, bool wide);

  /// The values of all dims, including those of caches, and "workers", which is 1.
  const std::map<std::string, int64_t> &dims() const { return sizes; }
  /// Returns the sizes of |argument|. Fails if no input or cache gives one of its dims.
  Result<std::vector<int64_t>> shapeOf(const PlainArgument &argument) const;
  /// Returns the tensor of an input or a cache.
  OwnedTensor &tensor(const PlainArgument &argument);
  /// Returns a tensor for |argument|, an output, filled with the byte |poison|.
  Result<OwnedTensor> makeOutput(const PlainArgument &argument, uint8_t poison) const;

private:
  PlainBinding(const PlainEntry &entry, PlainCaches *caches, bool wide) : entry(&entry), caches(caches), wide(wide) {}
  Status takeInput(const PlainArgument &argument, const OwnedTensor &given);
  Status addDefault(const PlainArgument &argument, const PlainRequest &request);
  Status makeCaches(const PlainRequest &request);

  const PlainEntry *entry;
  PlainCaches *caches;
  bool wide;
  std::map<std::string, int64_t> sizes;
  std::map<std::string, OwnedTensor> inputs;
};

/// Returns the type of tensors with elements of |type|; F64 for f32 if |wide|.
DType getPlainDType(mlir::Type type, bool wide);
/// Returns |output| of an entry as its members "NAME.0", "NAME.1", … if it is a group, else itself.
std::vector<OwnedTensor> splitGroup(const PlainArgument &argument, OwnedTensor output);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINBINDING_H
