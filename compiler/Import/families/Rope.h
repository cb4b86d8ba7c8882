//===- Rope.h - The keys of rotary embeddings -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads `rope_theta` and `rope_scaling`, or `rope_parameters`, as transformers 5 does. Both are objects with a type (`rope_type`, `type` in
// older files) and its parameters; `rope_parameters` may be an object of such objects, one for each type of layer.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_FAMILIES_ROPE_H
#define ATTUNE_IMPORT_FAMILIES_ROPE_H

#include "compiler/Import/TransformerSpec.h"

namespace attune {

/// The rotary embeddings of a model, or of one type of its layers.
struct RopeSpec {
  /// Components of a head that are turned, from the first on.
  int64_t width = 0;
  /// Parameters of the computed table `rotary`.
  WeightParameters parameters;
  /// The parameters for calls whose longest sequence has more than |shortLength| tokens; if there are any, |parameters| are those for
  /// others.
  WeightParameters longParameters;
  int64_t shortLength = 0;
};

/// The values of keys that the file lacks, and the names of a family's keys.
struct RopeDefaults {
  double theta = 10000;
  /// The part of a head's components that is turned.
  double partialFactor = 1;
  /// True if the type "default" looks at `partial_rotary_factor`; others always do.
  bool partial = false;
  /// True if the family has the type "ntk", which later code of transformers does not know.
  bool ntk = false;
  /// True if "yarn" means YaRN; otherwise "yarn" and "su" mean LongRoPE.
  bool yarn = true;
  /// The value of `original_max_position_embeddings`; 0: that of the object of parameters or, without it, the model's positions.
  int64_t originalPositions = 0;
  /// YaRN of files that have neither `rope_scaling` nor `rope_parameters`.
  struct Yarn {
    double factor, original;
    bool truncate;
  };
  std::optional<Yarn> absent = {};
  /// Null: only the object of parameters has it.
  const char *thetaKey = "rope_theta";
  const char *partialKey = "partial_rotary_factor";
};

/// Reads the rotary embeddings of heads of |headSize| components in a model of |positions| positions. With |layerType| these are those of
/// such layers ("sliding_attention") where the file distinguishes types of layers.
RopeSpec readRope(ConfigReader &reader, const Config &config, int64_t headSize, int64_t positions, const RopeDefaults &defaults = {},
                  const char *layerType = nullptr);

/// Declares the table of |rope| for |positions| positions, called |name|. Where it depends on the length of the call, says so in the main
/// stack, whose tables must then all be this one.
WeightId declareRope(TransformerSpec &spec, const std::string &name, const RopeSpec &rope, int64_t positions);

} // namespace attune

#endif // ATTUNE_IMPORT_FAMILIES_ROPE_H
