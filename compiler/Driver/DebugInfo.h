//===- DebugInfo.h - Line tables to the phase vector ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The source of compiled code, for a debugger or a profiler, is the IR of the phase `vector`: it still has loops and
// vectors, and one of its lines becomes a few instructions. Layers share functions, so a line does not tell the layer.
// A call of a layer or of a kernel therefore gets a frame of its own, as if a function with the name of the module of
// the model were inlined around it:
//
//     #0 linear_48_144_bias (bert.vector.mlir:120)
//     #1 encoder.layer.{0-2}.attention (bert.vector.mlir:2210)      the module that the kernel computes
//     #2 encoder_layer (bert.vector.mlir:2210)
//     #3 encoder.layer.1 (bert.vector.mlir:2431)                    the layer
//     #4 forward (bert.vector.mlir:2431)
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_DEBUGINFO_H
#define ATTUNE_COMPILER_DRIVER_DEBUGINFO_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace attune {

/// The source lines of a compilation.
class DebugInfo {
public:
  /// Keeps the text of |module|, in the phase `vector`, for the file |name| and sets the location of each operation to
  /// its line in that file. The location of a call also names the module of the model that the call computes.
  void takeSource(mlir::ModuleOp module, llvm::StringRef name);
  /// Attaches the scopes of debug information to the functions of |module|, in the phase `target`, and to their
  /// operations.
  static void addScopes(mlir::ModuleOp module);

  /// Returns the text of the file; "" before takeSource.
  const std::string &source() const { return text; }
  /// Returns the modules of the model that each line computes, as a text: element i is for line i, which counts from 1,
  /// and is "" if the line computes none. Element 0 is "". Empty before takeSource.
  const std::vector<std::string> &lines() const { return paths; }

private:
  std::string text;
  std::vector<std::string> paths;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_DEBUGINFO_H
