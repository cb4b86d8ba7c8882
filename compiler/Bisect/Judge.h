//===- Judge.h - Are the numbers of a module right? -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A module of a phase is right if, executed by the plain path (PlainModel.h), its outputs are close to those of an
// earlier module in f64. How close is measured, not assumed: the earlier module is executed in f32 as well, and the
// largest difference of the two is the error that f32 alone makes in each output, at least kLeastError of the largest
// value. Later phases sum in other orders, so they may differ by kErrorFactor times as much. Where values are rounded
// to fewer bits, kLeastRoundedError and kRoundedErrorFactor take their place. Integers must be equal.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_JUDGE_H
#define ATTUNE_COMPILER_BISECT_JUDGE_H

#include "compiler/Plain/PlainSteps.h"

#include <functional>

namespace attune {

/// A value of an output and the value that was expected.
struct WrongValue {
  std::string output;
  /// The shape of the output, and the number of the value in it.
  std::vector<int64_t> shape;
  int64_t index = 0;
  double got = 0, expected = 0;
  /// The largest difference that counts as right.
  double allowed = 0;
};

/// The judgment of a module.
struct Judgment {
  /// Returns "right", "WRONG", with the reason if there is one, or "not judged" with the reason.
  std::string text() const;

  /// Unknown: the module or the call cannot be executed or lacks an output; |reason| says why. A module that crashes or
  /// does not end is wrong, and |reason| says so.
  enum Kind { Right, Wrong, Unknown } kind = Unknown;
  std::string reason;
  /// The value that is farthest from what is allowed, if the module gives wrong values.
  WrongValue worst;
};

/// The expected outputs of a call, with their bounds.
class Judge {
public:
  /// Executes |module| in f64 and f32 and creates a judge from the outputs: the expected values and their errors.
  /// |isRounded| is true if |module| rounds operands of projections or rows of caches to types below f32. A third
  /// execution then changes these values a little before they are rounded, so that some are rounded to the other
  /// neighbor; the differences of its outputs count as errors, too.
  static Result<Judge> create(mlir::ModuleOp module, const PlainWeights &weights, const PlainInputs &inputs, bool isRounded = false);

  /// Judges |module|, IR of the phases `import` to `target`; see PlainModel::create for |signature| and |options|. It
  /// is executed in a process of its own, since a wrong module may write anywhere.
  Judgment judge(mlir::ModuleOp module, const PlainSignature *signature = nullptr, const PlainOptions &options = {}) const;
  /// Judges the outputs of |call|, which is executed in a process of its own.
  Judgment judgeCall(const std::function<Result<std::vector<OwnedTensor>>()> &call) const;
  /// Judges outputs that were computed elsewhere.
  Judgment judgeOutputs(const std::vector<OwnedTensor> &outputs) const;
  /// Judges each output alone, in the order of the module. Returns their names with the judgments.
  std::vector<std::pair<std::string, Judgment>> judgeEach(const std::vector<OwnedTensor> &outputs) const;
  /// Expects the values of |outputs| from now on; bounds stay. Fails if |outputs| lacks an output or has it with
  /// another shape or kind of elements.
  Status expect(const std::vector<OwnedTensor> &outputs);

private:
  Judge(const PlainWeights &weights, const PlainInputs &inputs) : weights(weights), inputs(&inputs) {}

  /// The values of an output and the largest difference that counts as right.
  struct Expected {
    TensorSpec spec;
    std::vector<double> values;
    double allowed = 0;
  };

  PlainWeights weights;
  const PlainInputs *inputs;
  std::vector<Expected> expected;
  /// The seconds of CPU time that an execution may take.
  unsigned limit = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_JUDGE_H
