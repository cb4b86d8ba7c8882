//===- CompareCase.h - Comparing an output with a golden case -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares one output with the expected file by the tolerances of case.json: the whole tensor, or samples and sums if
// the file holds only those.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMPARECASE_H
#define ATTUNE_COMPILER_TOOLS_COMPARECASE_H

#include "compiler/Tools/CaseFile.h"

namespace attune {

/// The verdict on one output.
struct OutputReport {
  enum Verdict { Passed, Failed, NotComparable, Skipped } verdict = NotComparable;
  /// Largest share of the tolerance that a value or a sum uses.
  double ratio = 0;
  /// One line without the output's name: "worst error 1.2e-06 of 6e-05 at [0, 3, 5]".
  std::string text;
};

/// Compares |got|, null if the output was not computed, with its tensor in |expected|. |dtype| is the type in which the
/// model computes. With "f32", every value must be within the tolerances of |output|. With "bf16", "f16" or "int8",
/// |error| <= f * max_abs must hold, with a factor f that depends on |dtype|, and integers are not compared. With these
/// types a generation may choose other ids: |ids|, null if the call is no generation, are its ids, and the output
/// `step_logits` of a row is compared up to and including the step that chose the first different id.
OutputReport compareOutput(const CaseOutput &output, const TensorView *got, const SafetensorsFile &expected, const std::string &dtype,
                           const TensorView *ids = nullptr);

/// Returns true if compareOutput knows |dtype|.
bool isCheckDType(const std::string &dtype);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMPARECASE_H
