//===- attune-lsp-server.cpp - Language server for IR of every phase ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// MLIR's language server with Attune's dialects. MLIR answers a hover by the generic form of the operation. Without
// flags, LspProxy.cpp forwards the messages and adds the text of HoverText.cpp to such an answer.
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
  // A flag asks for another form of messages, which the proxy does not read, or for help.
  if (argc > 1)
    return server();
  return attune::runLspProxy(
      server, [&](const std::string &text, unsigned line, unsigned column) { return attune::describeHover(registry, text, line, column); });
}
