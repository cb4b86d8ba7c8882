//===- CompareCase.h - Comparing an output with a golden case -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares one output with the expected file by the tolerances of case.json: the whole tensor, or samples and
// statistics if the file holds only those.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMPARECASE_H
#define ATTUNE_COMPILER_TOOLS_COMPARECASE_H

#include "compiler/Tools/CaseFile.h"

namespace attune {

/// The verdict on one output.
struct OutputReport {
  enum Verdict { Passed, Failed, NotComparable, Skipped } verdict = NotComparable;
  /// The largest share of its tolerance that a value or a statistic uses; infinite if the verdict is NotComparable.
  double ratio = 0;
  /// One line without the output's name: "worst error 1.2e-06 of 6e-05 at [0, 3, 5]".
  std::string text;
};

/// Compares |got|, null if the output was not computed, with the tensor of |expected| that has the name of |output|.
/// |dtype| is the type in which the model computes. With "f32", every value must be within the tolerances of |output|.
/// With "bf16", "f16" or "int8", |error| <= f * max_abs must hold, with a factor f that depends on |dtype|; integers
/// are skipped. With these types a generation may choose an id that differs from the expected one, after which it
/// continues another text. So each row of its output `step_logits` is compared up to and including the step that chose
/// the first different id. |ids| are the ids of the generation; null if the call is not a generation.
OutputReport compareOutput(const CaseOutput &output, const TensorView *got, const SafetensorsFile &expected, const std::string &dtype,
                           const TensorView *ids = nullptr);

/// Returns true if compareOutput knows |dtype|.
bool isCheckDType(const std::string &dtype);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMPARECASE_H
