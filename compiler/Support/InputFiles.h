//===- InputFiles.h - Files that a command must not overwrite -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command declares the files that it reads and the files that it will write, each as soon as it knows them, so that
// `embed MODEL --output=MODEL/model.safetensors` fails before any work instead of replacing the model. OutputFile also
// checks every path that it creates. A declaration holds for the calling thread only, since a process may compile in
// several threads: an OutputFile that another thread creates is not checked.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_INPUTFILES_H
#define ATTUNE_COMPILER_SUPPORT_INPUTFILES_H

#include "compiler/Support/Status.h"

namespace attune {

/// Declares that the command reads |path|. The file may be missing: an output under the name of an optional file of a
/// model would change the model. Folders and special files are ignored. Fails if a declared output is a declared input.
/// Two paths name the same file if they are equal after symbolic links are followed.
Status declareInput(const std::string &path);
/// Declares that the command writes |path|; ignores "" and "-", which name no file. Fails if |path| is a declared
/// input.
Status declareOutput(const std::string &path);
/// Fails if |path| is a declared input.
Status checkOutput(const std::string &path);
/// Returns true if |a| and |b| are the same path after symbolic links are followed; false for folders and special
/// files. The file may be missing.
bool isSameFile(const std::string &a, const std::string &b);
/// Forgets all declarations, for a new command in the same thread.
void forgetFiles();

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_INPUTFILES_H
