//===- WeightCatalog.h - Which tensor of a file is which parameter -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Files differ in names: with or without the prefix of the base model, `gamma` and `beta` for the parameters of norms,
// the bias of a head under either of two names. The catalog finds a parameter under any of them and checks type and
// shape. It ignores other tensors.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_WEIGHTCATALOG_H
#define ATTUNE_IMPORT_WEIGHTCATALOG_H

#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Maps the parameters of a spec to the tensors of a provider; borrows both.
class WeightCatalog {
public:
  WeightCatalog(const TransformerSpec &spec, const TensorProvider &tensors) : spec(spec), tensors(tensors) {}

  /// Returns the tensor of |parameter|, a weight of kind Tensor; the provider owns it. Fails if the tensor is missing,
  /// not of a float type, or of another shape. Errors name the file, the tensor, and what was expected and found; for a
  /// missing tensor, also the other names tried or the name that a wrapper of the model gave it.
  Result<const TensorSpec *> find(const WeightSpec &parameter) const;
  /// Reads the values of the tensor that find returns for |parameter|.
  Result<std::vector<double>> readValues(const WeightSpec &parameter) const;
  /// Returns all names that |parameter| may have in a file, the current one first.
  std::vector<std::string> namesOf(const WeightSpec &parameter) const;
  /// Returns the names of |parameter| that the files have, usually one or none.
  std::vector<std::string> namesInFiles(const WeightSpec &parameter) const;
  /// Returns true if the files have |parameter| under any of its names.
  bool has(const WeightSpec &parameter) const;
  /// Returns true if the files have |weight| or, for an expression, all tensors in it.
  bool hasAll(WeightId weight) const;

private:
  /// Returns the name of a tensor that a wrapper of the model has stored for one of |names|, as "module.NAME"; "" if
  /// there is none.
  std::string findWrapped(const std::vector<std::string> &names) const;

  const TransformerSpec &spec;
  const TensorProvider &tensors;
};

} // namespace attune

#endif // ATTUNE_IMPORT_WEIGHTCATALOG_H
