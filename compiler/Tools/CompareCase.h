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

/// Compares |got|, which is null if the output was not computed. |dtype| is "f32", or "bf16", "f16" or "int8" for the
/// coarse rule of those types: |error| <= f * max_abs, ids are not compared, and of a generation that made |ids| (null
/// if it made none) only the logits of steps up to the first differing id of a row.
OutputReport compareOutput(const CaseOutput &output, const TensorView *got, const SafetensorsFile &expected, const std::string &dtype,
                           const TensorView *ids = nullptr);

/// Returns true if compareOutput knows |dtype|.
bool isCheckDType(const std::string &dtype);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMPARECASE_H
