//===- WeightCatalog.h - Which tensor of a file is which parameter -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Files differ in names: with or without the base model's prefix, `gamma`/`beta` for the parameters of norms, bias of a head under either
// of two names. The catalogue finds a parameter under any of them and checks type and shape; tensors nobody asks for are ignored.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_WEIGHTCATALOG_H
#define ATTUNE_IMPORT_WEIGHTCATALOG_H

#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// The tensors of a provider as the parameters of a spec; borrows both.
class WeightCatalog {
public:
  WeightCatalog(const TransformerSpec &spec, const TensorProvider &tensors) : spec(spec), tensors(tensors) {}

  /// The tensor of the files that |parameter|, a weight of kind Tensor, stands for. Errors name the file, the tensor, and the expected and
  /// found shape or type.
  Result<const TensorSpec *> find(const WeightSpec &parameter) const;
  /// The values of |parameter|, which find finds.
  Result<std::vector<double>> readValues(const WeightSpec &parameter) const;
  /// All names that |parameter| may have in a file, the current one first.
  std::vector<std::string> namesOf(const WeightSpec &parameter) const;
  /// The tensors of the files whose names are among those of |parameter|, one or none in most.
  std::vector<std::string> namesInFiles(const WeightSpec &parameter) const;
  /// Returns true if the files have |parameter| under any of its names.
  bool has(const WeightSpec &parameter) const;
  /// Returns true if the files have |weight| or, of an expression, all tensors that it is made of.
  bool hasAll(WeightId weight) const;

private:
  /// The name of a tensor that a module around the model has given one of |names|; "" if there is none.
  std::string findWrapped(const std::vector<std::string> &names) const;

  const TransformerSpec &spec;
  const TensorProvider &tensors;
};

} // namespace attune

#endif // ATTUNE_IMPORT_WEIGHTCATALOG_H
