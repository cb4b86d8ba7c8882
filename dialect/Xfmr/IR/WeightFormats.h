//===- WeightFormats.h - Formats of the weights of a model ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_WEIGHTFORMATS_H
#define ATTUNE_DIALECT_XFMR_IR_WEIGHTFORMATS_H

#include "dialect/Xfmr/IR/WeightFormat.h"

#include <vector>

namespace mlir::xfmr {

/// The formats of the weights of a model: one for all projections, and rules for some weights, of which the last that
/// matches decides.
struct WeightFormats {
  /// The patterns that stand for a role instead of names: the projection to the scores of all tokens (logits), and the
  /// tables of embeddings.
  static constexpr llvm::StringLiteral kHead = "lm_head", kTables = "embeddings";

  struct Rule {
    /// kHead, kTables, or globs separated by dots. Such a pattern matches a name if consecutive parts of the name,
    /// which dots separate, match its globs.
    std::string pattern;
    /// nullopt is the native format: the precision in which the model computes its projections; for a table, f32.
    std::optional<WeightFormat> format;

    bool isRole() const { return pattern == kHead || pattern == kTables; }
  };

  /// The format of the projections that no rule matches; nullopt for the native format.
  std::optional<WeightFormat> projections;
  std::vector<Rule> rules;

  /// Returns the formats that |text| lists, such as `int4:32,lm_head=int8:32`; "" has none. If |text| is wrong, returns
  /// nullopt and sets |error| to what was expected and found.
  static std::optional<WeightFormats> parse(llvm::StringRef text, std::string &error);
  /// Returns a text from which parse returns the same formats.
  std::string str() const;

  /// Replaces formats of |kind| by the native format, except for tables. The caller passes the type to which the target
  /// rounds the operands of projections without a format, with which such a format would change nothing.
  void makeNative(WeightFormat::Kind kind);
  /// Returns true if there is neither a format of projections nor a rule, so that all weights have the native format.
  bool isNative() const { return !projections && rules.empty(); }
  /// Returns the format of the projections and those of the rules, without native ones. Equal formats are not joined.
  std::vector<WeightFormat> list() const;
};

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_WEIGHTFORMATS_H
