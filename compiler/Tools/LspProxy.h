//===- LspProxy.h - Longer hovers of a language server ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_LSPPROXY_H
#define ATTUNE_COMPILER_TOOLS_LSPPROXY_H

#include <functional>
#include <string>

namespace attune {

/// Runs |server|, a language server on standard input and output, in another process and forwards the messages between
/// it and the client. In an answer to `textDocument/hover`, puts the Markdown that |hover| returns for the text of the
/// document, a line and a column before the text of the server. Returns the exit status of the server, 1 if it cannot
/// be started or ends by a signal.
int runLspProxy(const std::function<int()> &server,
                const std::function<std::string(const std::string &text, unsigned line, unsigned column)> &hover);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_LSPPROXY_H
