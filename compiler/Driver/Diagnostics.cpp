//===- Diagnostics.cpp - MLIR's diagnostics as a status -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace attune;

/// Formats |location| as "FILE:LINE:COLUMN: ", or as "NAME: " with the path of the module, which importers use as the
/// name of a location, or as "".
static std::string formatPlace(Location location) {
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn()) + ": ";
  if (auto name = location->findInstanceOf<NameLoc>())
    return name.getName().str() + ": ";
  return "";
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, std::function<void(const std::string &)> warning)
    : handler(context, [this, warning = std::move(warning)](Diagnostic &diagnostic) {
        std::string text = formatPlace(diagnostic.getLocation()) + diagnostic.str();
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error && message.empty())
          message = text;
        if (diagnostic.getSeverity() == DiagnosticSeverity::Warning && warning)
          warning(text);
        return success();
      }) {}
