//===- Judge.h - Are the numbers of a module right? -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A module of a phase is right if, executed by the plain path (PlainModel.h), its outputs are close to those of an
// earlier module in f64. How close is measured, not assumed: the earlier module is executed in f32 as well. For each
// output, the largest difference of the two executions is the error that f32 alone makes; it counts as at least
// kLeastError times the largest absolute value of the output. Later phases sum in other orders, so they may differ by
// kErrorFactor times this error. If the earlier module rounds values to fewer bits, kLeastRoundedError and
// kRoundedErrorFactor replace these two constants. Integers must be equal.
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
  /// The shape of the output, and the number of the value in row-major order.
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

  /// Unknown: the module cannot be executed, the call fails, or an output is missing; |reason| says why. A module that
  /// crashes or does not end is wrong, and |reason| says so.
  enum Kind { Right, Wrong, Unknown } kind = Unknown;
  std::string reason;
  /// The value whose error exceeds the allowed one by the largest factor, if the module gives wrong values.
  WrongValue worst;
};

/// The expected outputs of a call, with the largest difference that counts as right for each output.
class Judge {
public:
  /// Executes |module| in f64 and in f32. The outputs in f64 are the expected values; their differences from those in
  /// f32 give the measured error. Fails if |module| cannot be executed. |isRounded| is true if |module| rounds operands
  /// of projections or rows of caches to types below f32. A third execution then changes these values a little before
  /// they are rounded, so that some are rounded to the other neighbor; the differences of its outputs from the expected
  /// values count as measured errors, too.
  static Result<Judge> create(mlir::ModuleOp module, const PlainWeights &weights, const PlainInputs &inputs, bool isRounded = false);

  /// Judges |module|, IR of the phases `import` to `target`; see PlainModel::create for |signature| and |options|. The
  /// module is executed in a process of its own, since a wrong module may write anywhere.
  Judgment judge(mlir::ModuleOp module, const PlainSignature *signature = nullptr, const PlainOptions &options = {}) const;
  /// Judges the outputs of |call|, which is executed in a process of its own.
  Judgment judgeCall(const std::function<Result<std::vector<OwnedTensor>>()> &call) const;
  /// Judges outputs that were computed elsewhere. Returns the judgment of the worst output, or Unknown if an output is
  /// missing.
  Judgment judgeOutputs(const std::vector<OwnedTensor> &outputs) const;
  /// Judges each expected output alone. Returns the names of the outputs with their judgments, in the order of the
  /// module.
  std::vector<std::pair<std::string, Judgment>> judgeEach(const std::vector<OwnedTensor> &outputs) const;
  /// Expects the values of |outputs| from now on; the allowed differences stay. Fails if |outputs| lacks an output or
  /// has it with another shape or kind of elements (integers or floats).
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
