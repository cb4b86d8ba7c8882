//===- CompareCase.h - Comparing an output with a golden case -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One output against the expected file by the tolerances of case.json: whole, or by samples and sums where the file holds samples only.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMPARECASE_H
#define ATTUNE_COMPILER_TOOLS_COMPARECASE_H

#include "compiler/Tools/CaseFile.h"

namespace attune {

/// The verdict on one output.
struct OutputReport {
  enum Verdict { Passed, Failed, NotComparable, Skipped } verdict = NotComparable;
  /// Share of the tolerance used: the report's worst value or sum.
  double ratio = 0;
  /// One line without the output's name: "worst error 1.2e-06 of 6e-05 at [0, 3, 5]".
  std::string text;
};

/// Compares |got|, which may be null when the output was not computed. |dtype| is "f32", or "bf16", "f16", "int8" for the coarse rule of
/// those types: |error| <= f * max_abs, ids not compared, and of a generation that made |ids| (null if it made none) the logits of steps
/// up to the first other id of a row.
OutputReport compareOutput(const CaseOutput &output, const TensorView *got, const SafetensorsFile &expected, const std::string &dtype,
                           const TensorView *ids = nullptr);

/// Returns true if compareOutput knows |dtype|.
bool isCheckDType(const std::string &dtype);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMPARECASE_H
