//===- attune-lsp-server.cpp - Language server for IR of every phase ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// MLIR's language server with Attune's dialects. Its answers to a hover have the generic form of an operation; with
// messages in the usual form on standard input, they also say what HoverText.cpp knows.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Registry.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "compiler/Tools/HoverText.h"
#include "compiler/Tools/LlvmVersion.h"
#include "compiler/Tools/LspProxy.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  attune::setVersionPrinter("attune-lsp-server");
  attune::registerAllTargets();
  mlir::DialectRegistry registry;
  attune::registerCompilerDialects(registry);
  auto server = [&]() -> int { return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)); };
  // A flag asks for another form of messages, or for help.
  if (argc > 1)
    return server();
  return attune::runLspProxy(
      server, [&](const std::string &text, unsigned line, unsigned column) { return attune::describeHover(registry, text, line, column); });
}
