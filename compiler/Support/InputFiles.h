//===- InputFiles.h - Files that a command must not overwrite -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command declares the files that it reads and the files that it will write, each as soon as it knows them, so that
// `embed MODEL --output=MODEL/model.safetensors` fails before any work instead of replacing the model. OutputFile
// checks every path that it creates, too. The declarations belong to the calling thread, since a process may compile on
// several: an OutputFile that another thread creates is not checked.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_INPUTFILES_H
#define ATTUNE_COMPILER_SUPPORT_INPUTFILES_H

#include "compiler/Support/Status.h"

namespace attune {

/// Declares that the command reads |path|. The file may be missing, since an output that becomes an optional file of a
/// model would change the model. Folders and special files are ignored. Fails if a declared output is a declared input.
/// Paths are equal if they lead to the same place through links.
Status declareInput(const std::string &path);
/// Declares that the command writes |path|; "" and "-" are no files. Fails if |path| is a declared input.
Status declareOutput(const std::string &path);
/// Fails if |path| is a declared input.
Status checkOutput(const std::string &path);
/// Returns true if |a| and |b| lead to the same place through links; false for folders and special files.
bool isSameFile(const std::string &a, const std::string &b);
/// Forgets all declarations, for a new command in the same thread.
void forgetFiles();

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_INPUTFILES_H
