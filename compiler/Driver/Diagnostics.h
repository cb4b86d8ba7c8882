//===- Diagnostics.h - MLIR's diagnostics as a status -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_DIAGNOSTICS_H
#define ATTUNE_COMPILER_DRIVER_DIAGNOSTICS_H

#include "compiler/Support/Status.h"
#include "mlir/IR/Diagnostics.h"

#include <functional>

namespace attune {

/// Collects the diagnostics of a context as long as the collector lives: keeps the first error as the message, calls
/// |warning| with each warning, and drops remarks.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, std::function<void(const std::string &)> warning);

  /// Returns the first error as "FILE:LINE:COLUMN: MESSAGE" or "NAME: MESSAGE", if its location has a file or a name,
  /// or as "MESSAGE"; |fallback| if there was no error.
  Status error(const std::string &fallback) const { return Status::error(message.empty() ? fallback : message); }

private:
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_DIAGNOSTICS_H
