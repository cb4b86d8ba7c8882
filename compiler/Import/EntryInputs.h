//===- EntryInputs.h - The inputs of an entry -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Requests of the user against what the family knows: names, ranks, element types.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ENTRYINPUTS_H
#define ATTUNE_IMPORT_ENTRYINPUTS_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/TransformerSpec.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// An input whose form is decided.
struct EntryInput {
  const InputSpec *spec;
  DType dtype;
  /// The words of `xfmr.dims`, a number for a static extent.
  std::vector<std::string> dims;
  /// What the input stands for if it is absent ("" if it may not be), where that is not what its role says.
  std::optional<std::string> fill = {};

  int64_t rank() const { return int64_t(dims.size()); }
  mlir::RankedTensorType type(mlir::Builder &builder) const;
  /// The argument attributes: name, dims, fill, largest value.
  mlir::DictionaryAttr attributes(mlir::Builder &builder) const;
};

/// The inputs |options| asks for, checked: each known, none twice, ranks and types that mean something, exactly one source of tokens.
Result<std::vector<EntryInput>> resolveInputs(const TransformerSpec &spec, const ImportOptions &options);

/// Whether |inputs|, each of which means something, go together.
Status checkInputs(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, Padding padding);

/// "batch" as a string attribute, "48" as an integer.
mlir::ArrayAttr dimsAttribute(mlir::Builder &builder, const std::vector<std::string> &dims);

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYINPUTS_H
