//===- Calibrator.h - Quantized weights by samples of inputs ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads sample texts with a model, in f32, and quantizes the weights of each projection by the inputs that it sees:
//
//     IR of the phase `dialect` --- plain path, f32 ---> inputs of each xfmr.linear ---> moments ---> quantizeByOutputs
//     ids, a row at a time      --/
//
// The plain path (compiler/Plain) executes every operation by its definition, so there is one way for all families; only
// the products of projections are replaced by faster ones. Moments take K^2 numbers a projection. If those of all
// projections exceed kMomentBytes, the texts are read again for the next ones.
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

/// Rows of ids that a model reads.
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

/// Reads |path|: a text a line, or ids between spaces or commas if every line has only those. |encode| returns the ids of
/// a text. Empty lines are skipped; a file without rows is an error.
Result<CalibrationText> readCalibrationText(const std::string &path,
                                            const std::function<Result<std::vector<int64_t>>(const std::string &)> &encode);

/// Called with the parts of the work that are done, and their number. Its failure ends the work.
using CalibrationProgress = std::function<Status(uint64_t done, uint64_t total)>;

/// Quantizes the weights of the projections of |module|, IR of the phase `dialect`, that have a format and that one of its
/// entries uses on |text|. Fails if the model does not read ids, or cannot be executed by the plain path.
Result<CalibratedRows> calibrateWeights(mlir::ModuleOp module, const TensorProvider &tensors, const CalibrationText &text,
                                        const CalibrationProgress &progress);

} // namespace attune

#endif // ATTUNE_COMPILER_CALIBRATE_CALIBRATOR_H
