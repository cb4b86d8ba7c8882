//===- Rope.h - The keys of rotary embeddings -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads `rope_theta` and `rope_scaling`, or `rope_parameters`, as transformers 5 does. Both objects have a type
// (`rope_type`, or `type` in older files) and its parameters. `rope_parameters` may also have one such object for each
// type of layer.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_ROPE_H
#define ATTUNE_IMPORT_FAMILIES_ROPE_H

#include "compiler/Import/TransformerSpec.h"

namespace attune {

/// The rotary embeddings of a model, or of one type of its layers.
struct RopeSpec {
  /// The number of components of a head that are rotated, from the first on.
  int64_t width = 0;
  /// The parameters of the computed table `rotary`.
  WeightParameters parameters;
  /// The parameters for calls whose longest sequence has more than |shortLength| tokens; empty if |parameters| are
  /// those of all calls.
  WeightParameters longParameters;
  int64_t shortLength = 0;
};

/// The defaults of keys, and the names of a family's keys.
struct RopeDefaults {
  double theta = 10000;
  /// The share of a head's components that is rotated.
  double partialFactor = 1;
  /// True if the type "default" reads `partial_rotary_factor`; the other types always do.
  bool partial = false;
  /// True if the family has the type "ntk", which newer transformers lack.
  bool ntk = false;
  /// True if "dynamic" with `alpha` scales the base by `alpha ^ (D / (D - 2))` for D rotated components, for sequences
  /// of any length.
  bool alpha = false;
  /// True if "yarn" means YaRN; otherwise "yarn" and "su" mean LongRoPE.
  bool yarn = true;
  /// The default of `original_max_position_embeddings`; 0: that of the object of parameters, or the number of positions
  /// of the model.
  int64_t originalPositions = 0;
  /// The parameters of YaRN for files without `rope_scaling` and `rope_parameters`.
  struct Yarn {
    double factor, original;
    bool truncate;
  };
  std::optional<Yarn> absent = {};
  /// The key of theta in the file; null if only the object of parameters has it.
  const char *thetaKey = "rope_theta";
  const char *partialKey = "partial_rotary_factor";
};

/// Returns true if `rope_scaling` of |config| is an object with keys; it then takes precedence over `rope_parameters`.
bool hasRopeScaling(const Config &config);

/// Reads the keys of the rotary embeddings of heads of |headSize| components in a model with |positions| positions.
/// |layerType| ("sliding_attention") selects those of one type of layers, if the file distinguishes types.
RopeSpec readRope(ConfigReader &reader, const Config &config, int64_t headSize, int64_t positions, const RopeDefaults &defaults = {},
                  const char *layerType = nullptr);

/// Declares the table |name| of |rope| for |positions| positions. If it depends on the length of the call (LongRoPE),
/// sets StackSpec::shortRotaryRows of the main stack, whose rotary tables must then all be this one.
WeightId declareRope(TransformerSpec &spec, const std::string &name, const RopeSpec &rope, int64_t positions);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_ROPE_H
