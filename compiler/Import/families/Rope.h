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
  /// The parameters of the table `rotary` of `#xfmr.computed`.
  WeightParameters parameters;
  /// The parameters for calls whose longest sequence, earlier tokens included, has more than |shortLength| tokens;
  /// empty if |parameters| are those of all calls.
  WeightParameters longParameters;
  int64_t shortLength = 0;
};

/// The defaults and the names of a family's keys of rotary embeddings, and the types that the family has.
struct RopeDefaults {
  double theta = 10000;
  /// The share of a head's components that is rotated if |partialKey| is absent.
  double partialFactor = 1;
  /// True if the type "default", too, rotates only this share; otherwise that type rotates whole heads. The other types
  /// always rotate this share.
  bool partial = false;
  /// True if the family has the type "ntk", which newer transformers lack.
  bool ntk = false;
  /// True if the type "dynamic" with the key `alpha` multiplies theta by `alpha ^ (D / (D - 2))`, where D is the number
  /// of rotated components, for sequences of any length.
  bool alpha = false;
  /// True if the type "yarn" means YaRN; otherwise "yarn" and "su" mean LongRoPE.
  bool yarn = true;
  /// The value of `original_max_position_embeddings` if the configuration itself lacks this key. 0 means the value in
  /// the object of parameters or, if that lacks it too, the number of positions of the model.
  int64_t originalPositions = 0;
  /// Parameters of YaRN: the factor, the number of positions before scaling, and true to round the ends of the ramp.
  struct Yarn {
    double factor, original;
    bool truncate;
  };
  /// If it has a value, files without `rope_scaling` and `rope_parameters` have YaRN with these parameters; otherwise
  /// the type "default".
  std::optional<Yarn> absent = {};
  /// The key of theta in the configuration itself; null if only the object of parameters has theta.
  const char *thetaKey = "rope_theta";
  const char *partialKey = "partial_rotary_factor";
};

/// Returns true if `rope_scaling` of |config| is an object with keys; it then takes precedence over `rope_parameters`.
bool hasRopeScaling(const Config &config);

/// Reads the keys of the rotary embeddings of heads of |headSize| components in a model with |positions| positions.
/// |layerType|, such as "sliding_attention", selects the object of parameters of one type of layers; with null, such
/// objects are an error. Errors are recorded in |reader|.
RopeSpec readRope(ConfigReader &reader, const Config &config, int64_t headSize, int64_t positions, const RopeDefaults &defaults = {},
                  const char *layerType = nullptr);

/// Declares the table |name| of |rope|, `[positions, width]`. If the rotary embeddings depend on the length of the call
/// (LongRoPE), the table begins with |shortLength| further rows for short calls; StackSpec::shortRotaryRows of the main
/// stack is set to their number, and all layers of this stack must use this table.
WeightId declareRope(TransformerSpec &spec, const std::string &name, const RopeSpec &rope, int64_t positions);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_ROPE_H
