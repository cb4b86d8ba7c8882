//===- WeightFormats.h - Formats of the weights of a model ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_WEIGHTFORMATS_H
#define ATTUNE_DIALECT_XFMR_IR_WEIGHTFORMATS_H

#include "dialect/Xfmr/IR/WeightFormat.h"

#include <vector>

namespace mlir::xfmr {

/// The formats of the weights of a model: one for all projections, and rules that give some weights another one. If
/// several rules match a weight, the last one applies.
struct WeightFormats {
  /// The patterns that stand for a role instead of names. kHead is the projection that computes the logits, with a row
  /// for each token id; kTables are the tables of embeddings.
  static constexpr llvm::StringLiteral kHead = "lm_head", kTables = "embeddings";

  struct Rule {
    /// Either kHead or kTables, or globs separated by dots. Such globs match a name, which consists of parts separated
    /// by dots, if they match consecutive parts of the name in order.
    std::string pattern;
    /// nullopt is the native format: for a projection, the precision in which the target multiplies; for a table, f32.
    std::optional<WeightFormat> format;

    bool isRole() const { return pattern == kHead || pattern == kTables; }
  };

  /// The format of the projections that no rule matches; nullopt for the native format.
  std::optional<WeightFormat> projections;
  std::vector<Rule> rules;

  /// Returns the formats that |text| lists, such as `int4:32,lm_head=int8:32`. An empty text lists none: all weights
  /// have the native format. If |text| is wrong, returns nullopt and sets |error| to a message of what was expected and
  /// found.
  static std::optional<WeightFormats> parse(llvm::StringRef text, std::string &error);
  /// Returns a text from which parse returns the same formats.
  std::string str() const;

  /// Replaces each format of |kind| by the native format, except in rules for kTables. |kind| is BF16 or F16, the type
  /// to which the target rounds the operands of native projections: there, such a format would change nothing.
  void makeNative(WeightFormat::Kind kind);
  /// Returns true if there is neither a format of projections nor a rule, so that all weights have the native format.
  bool isNative() const { return !projections && rules.empty(); }
  /// Returns the formats of the projections and of the rules, without native ones. A format may occur several times.
  std::vector<WeightFormat> list() const;
};

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_WEIGHTFORMATS_H
