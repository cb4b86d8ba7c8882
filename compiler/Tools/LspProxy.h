//===- LspProxy.h - Longer hovers of a language server ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_LSPPROXY_H
#define ATTUNE_COMPILER_TOOLS_LSPPROXY_H

#include <functional>
#include <string>

namespace attune {

/// Runs |server|, a language server on standard input and output, in a child process. Forwards the messages between the
/// server and the client, which is connected to standard input and output of this process. |hover| returns Markdown for
/// the text of a document, a line and a column, both counted from 0; an answer to `textDocument/hover` gets this
/// Markdown before the text of the server. Returns the exit status of the server; 1 if the server cannot be started or
/// ends by a signal.
int runLspProxy(const std::function<int()> &server,
                const std::function<std::string(const std::string &text, unsigned line, unsigned column)> &hover);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_LSPPROXY_H
