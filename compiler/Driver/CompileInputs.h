//===- CompileInputs.h - The files that a compilation reads -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_COMPILEINPUTS_H
#define ATTUNE_COMPILER_DRIVER_COMPILEINPUTS_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Import/ModelFolder.h"

namespace attune {

/// Lists the files of the model, its weights, its adapters and the calibration of |options|. The files may be missing.
ModelFiles listInputFiles(const CompileOptions &options);
/// Declares the files of listInputFiles as inputs of the command, so that the command does not overwrite them
/// (InputFiles.h). Fails if one of them is a declared output.
Status declareInputs(const CompileOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_COMPILEINPUTS_H
