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
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// An input whose form is decided.
struct EntryInput {
  const InputSpec *spec;
  DType dtype;
  /// The dims of `#xfmr.input`, a number for a static size.
  std::vector<std::string> dims;
  /// The value of the input where it is omitted, if that is not what its role says.
  std::optional<mlir::xfmr::InputDefault> fill = {};

  int64_t rank() const { return int64_t(dims.size()); }
  mlir::RankedTensorType type(mlir::Builder &builder) const;
  mlir::xfmr::InputAttr attribute(mlir::Builder &builder) const;
};

/// The inputs |options| asks for, checked: each known, none twice, ranks and types that mean something, exactly one source of tokens.
Result<std::vector<EntryInput>> resolveInputs(const TransformerSpec &spec, const ImportOptions &options);

/// Whether |inputs|, each of which means something, go together.
Status checkInputs(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, Padding padding);

/// The dims of `#xfmr.input`, `#xfmr.output` or `#xfmr.cache`: "batch" as a string, "48" as an integer.
mlir::ArrayAttr dimsAttribute(mlir::Builder &builder, const std::vector<std::string> &dims);

} // namespace attune

#endif // ATTUNE_IMPORT_ENTRYINPUTS_H
