//===- Calibrator.h - Calibration of quantized weights ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Calibration runs a model on sample texts in f32, and records the inputs of each projection. Then it quantizes the
// weights of each projection so that the projection's outputs on these inputs change little:
//
//     IR of the phase `dialect` --- plain path, f32 ---> inputs of each xfmr.linear ---> moments ---> quantizeByOutputs
//     token ids of sample texts --/
//
// The plain path (compiler/Plain) executes operations by their definitions, so calibration works for every model that
// this path can execute; only the products of projections are replaced by faster ones. The moments of a projection, the
// sum of x x^T over its inputs x of K features, are K^2 numbers. If the moments and weights of all projections take
// more than kMomentBytes bytes, the model runs on the texts several times, for some of the projections each time.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CALIBRATE_CALIBRATOR_H
#define ATTUNE_COMPILER_CALIBRATE_CALIBRATOR_H

#include "compiler/Support/Status.h"
#include "compiler/Weights/CalibratedRows.h"
#include "compiler/Weights/TensorProvider.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>
#include <vector>

namespace attune {

/// Sample texts as rows of token ids.
struct CalibrationText {
  /// The file, for messages.
  std::string path;
  struct Row {
    /// The number of the line in the file, from 1 on.
    int64_t line;
    std::vector<int64_t> ids;
  };
  std::vector<Row> rows;
};

/// Reads the file |path|, which has one text in each line; |encode| returns the token ids of a text. If the whole file
/// has only digits, spaces, tabs and commas, each line is a list of token ids instead. Skips lines without ids. Fails
/// if the file cannot be read or has more than 64 MiB, if no line has ids, or if |encode| fails.
Result<CalibrationText> readCalibrationText(const std::string &path,
                                            const std::function<Result<std::vector<int64_t>>(const std::string &)> &encode);

/// A callback of calibrateWeights: |done| of |total| parts of the work are done. A part is a call of the model or the
/// quantization of a projection; |total| may grow, since the calls find the projections. If the callback fails,
/// calibrateWeights ends with its error.
using CalibrationProgress = std::function<Status(uint64_t done, uint64_t total)>;

/// Executes on |text| the first of the entries `forward`, `embed`, `extend` and `prefill` that |module|, IR of the
/// phase `dialect`, has. Quantizes the weights of the projections of this entry that have a format of integers and read
/// at least 32 tokens in this execution. Returns the quantized rows of each of these formats. Fails if the module has
/// none of these entries or, beside an entry `encode`, no `forward`; if the entry has no input of token ids, or
/// requires inputs other than token ids and attention masks; if no projection is quantized; if the plain path cannot
/// execute the entry; or if |progress| fails.
Result<std::vector<CalibratedRows>> calibrateWeights(mlir::ModuleOp module, const TensorProvider &tensors, const CalibrationText &text,
                                                     const CalibrationProgress &progress);

} // namespace attune

#endif // ATTUNE_COMPILER_CALIBRATE_CALIBRATOR_H
