//===- Description.h - Descriptions of kernels as text ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_DESCRIPTION_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_DESCRIPTION_H

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace attune {

/// An error in a description, in a schedule for it, or in the command line of `attune-halide-gen`.
struct DescriptionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An expression in parentheses, or a word, of the description language; see ../README.md.
struct Term {
  /// The first word within the parentheses, or the word itself.
  std::string word;
  std::vector<Term> operands;
  /// True if there were parentheses.
  bool isList = false;
};

/// An integer argument of the kernel: an extent, or any other number.
struct Scalar {
  std::string name;
  /// An inclusive upper bound of an extent, if one is known; extents are at least 0.
  std::optional<int64_t> most;
  bool isExtent = true;
};

/// A buffer argument of the kernel.
struct Buffer {
  std::string name, type;
  /// The strides in elements, outermost first; nullopt for a stride that is an argument of the kernel.
  std::vector<std::optional<int64_t>> strides;
};

/// A loop of a stage.
struct Loop {
  Term extent;
  bool isReduction = false;
};

/// A stage of a kernel, which defines a value for each point (iteration) of its parallel loops.
struct Stage {
  std::string name;
  std::vector<Loop> loops;
  /// The initial value of the sum (or maximum, …); only for reductions.
  std::optional<Term> init;
  Term body;

  size_t parallelLoops() const;
  bool isReduction() const { return init.has_value(); }
  /// Returns true if the stage is not a reduction and uses the value that its destination has before the call (`acc`).
  bool readsDestination() const;
};

/// A destination, which gets the values of a stage.
struct Output {
  Buffer buffer;
  std::string stage;
};

/// The description of one kernel: its operands, and the stages that compute its outputs.
struct Description {
  std::string name;
  std::vector<Scalar> scalars;
  std::vector<Buffer> inputs;
  /// The stages in order: a stage reads only stages before it.
  std::vector<Stage> stages;
  std::vector<Output> outputs;
};

/// Returns the integer |text|; nullopt unless it is an integer of 32 bits, the type of Halide's sizes and indices.
std::optional<int32_t> parseInteger(const std::string &text);

/// Parses the descriptions in |text|, one after the other. Throws a DescriptionError if one is wrong or if there is
/// none. The message for a wrong description begins with the line that was read last: if its parentheses match, the
/// last line of the description.
std::vector<Description> parseDescriptions(const std::string &text);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_DESCRIPTION_H
