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
  /// Takes the inputs of |request| and adds the default of each input that |request| lacks. Adds each cache that
  /// |entry| uses and |caches| lacks to |caches|, filled with zeros. With |wide|, f64 takes the place of f32. Fails if
  /// |entry| has no input of a given name, if a given input has sizes, a type or values that |entry| does not accept,
  /// if a required input is missing, if no input gives a dim of a missing one, or if |entry| uses caches and |caches|
  /// is null.
  static Result<PlainBinding> create(const PlainEntry &entry, const PlainRequest &request, PlainCaches *caches, bool wide);

  /// Returns the values of dims by name: the dims of inputs and caches, "past" and "source_length" of the request, and
  /// "workers", which is 1.
  const std::map<std::string, int64_t> &dims() const { return sizes; }
  /// Returns the sizes of |argument|. Fails if no input or cache gives one of its dims.
  Result<std::vector<int64_t>> shapeOf(const PlainArgument &argument) const;
  /// Returns the tensor of an input or a cache.
  OwnedTensor &tensor(const PlainArgument &argument);
  /// Returns a tensor for |argument|, an output, filled with the byte |poison|. Fails as shapeOf does.
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

/// Returns the type of tensors with elements of |type|, a type that getElementKind supports; F64 for f32 if |wide|.
DType getPlainDType(mlir::Type type, bool wide);
/// Returns the tensors that the C API has for the output |argument| with the value |output|. If |argument| is a group,
/// they are the slices of |output| along its first dimension, named "NAME.0", "NAME.1", …; else |output| is the only
/// one.
std::vector<OwnedTensor> splitGroup(const PlainArgument &argument, OwnedTensor output);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINBINDING_H
