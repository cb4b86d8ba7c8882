//===- EntryInputs.h - The inputs of an entry -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Matches the inputs that the user requests with inputs of the family, by name, rank and element type.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ENTRYINPUTS_H
#define ATTUNE_IMPORT_ENTRYINPUTS_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/TransformerSpec.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// An input of an entry in one of its forms: the element type and the dims that are chosen for it.
struct EntryInput {
  const InputSpec *spec;
  DType dtype;
  /// The dims of `#xfmr.input`, a number for a static size.
  std::vector<std::string> dims;
  /// The default for calls that omit the input, if it is not the default of its role.
  std::optional<mlir::xfmr::InputDefault> fill = {};

  int64_t rank() const { return int64_t(dims.size()); }
  mlir::RankedTensorType type(mlir::Builder &builder) const;
  mlir::xfmr::InputAttr attribute(mlir::Builder &builder) const;
};

/// Returns the inputs that |options| requests, or the standard inputs if it requests none; EntryInput::spec points into
/// |spec|. Fails if a requested input is unknown, is requested twice or has no form of the requested rank and type, or
/// if checkInputs fails.
Result<std::vector<EntryInput>> resolveInputs(const TransformerSpec &spec, const ImportOptions &options);

/// Checks that |inputs|, each valid alone, can be combined with each other and with |padding|; for example, that no
/// stack has two sources of tokens.
Status checkInputs(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, Padding padding);

/// Returns |dims| as in `#xfmr.input`, `#xfmr.output` or `#xfmr.cache`: the name "batch" as a string, "48" as an
/// integer.
mlir::ArrayAttr dimsAttribute(mlir::Builder &builder, const std::vector<std::string> &dims);

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYINPUTS_H
