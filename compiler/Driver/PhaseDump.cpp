//===- PhaseDump.cpp - Writing the text of a phase ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/PhaseDump.h"
#include "compiler/Support/OutputFile.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

static bool isStandardOutput(const std::string &path) { return path.empty() || path == "-"; }

Status attune::writeText(const std::string &path, const std::string &text) {
  if (isStandardOutput(path)) {
    llvm::outs() << text;
    llvm::outs().flush();
    std::error_code error = llvm::outs().error();
    llvm::outs().clear_error();
    return error ? Status::error("cannot write to standard output: " + error.message()) : Status();
  }
  Result<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.status();
  if (Status status = file->write(text.data(), text.size()); status.failed())
    return status;
  return file->commit();
}

Status attune::checkWritable(const std::string &path) { return isStandardOutput(path) ? Status() : OutputFile::create(path).status(); }

std::string attune::phaseFile(llvm::StringRef folder, Phase phase) {
  unsigned number = static_cast<unsigned>(phase) + 1;
  const char *extension = phase == Phase::Llvm ? ".ll" : phase == Phase::Object ? ".s" : ".mlir";
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, (number < 10 ? "0" : "") + std::to_string(number) + "-" + stringifyPhase(phase).str() + extension);
  return path.str().str();
}
