//===- Diff.cpp - The command diff ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares two safetensors files. Exit status, as of diff(1): 0 equal, 1 different, 2 not comparable or a wrong command
// line.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Commands.h"
#include "compiler/Tools/CompareCase.h"
#include "compiler/Tools/EntryCall.h"

#include <algorithm>
#include <cstdio>

using namespace attune;

namespace {
/// The exit status of several comparisons: the largest of their statuses.
struct Outcome {
  int status = exitDone;
  void raise(int other) { status = std::max(status, other); }
};
} // namespace

static std::string typeText(const TensorView &tensor) { return std::string(dtypeName(tensor.dtype)) + " " + shapeText(tensor.shape); }

/// Returns true if |wanted|, a list of names or groups, is empty or contains |name|.
static bool isAsked(const std::vector<std::string> &wanted, const std::string &name) { return wanted.empty() || isWanted(wanted, name); }

/// Compares every tensor of both files that |wanted| asks for, prints the differences and raises |outcome|.
static void diffFiles(const SafetensorsFile &a, const SafetensorsFile &b, const std::vector<std::string> &wanted, Tolerance tolerance,
                      Outcome &outcome) {
  for (const auto &entry : b.tensors())
    if (!a.find(entry.first) && isAsked(wanted, entry.first)) {
      std::printf("%s: only in %s\n", entry.first.c_str(), b.path().c_str());
      outcome.raise(exitNotComparable);
    }
  for (const auto &[name, left] : a.tensors()) {
    if (!isAsked(wanted, name))
      continue;
    const TensorView *right = b.find(name);
    if (!right) {
      std::printf("%s: only in %s\n", name.c_str(), a.path().c_str());
      outcome.raise(exitNotComparable);
      continue;
    }
    if (left.dtype != right->dtype || left.shape != right->shape) {
      std::printf("%s: %s in %s, %s in %s\n", name.c_str(), typeText(left).c_str(), a.path().c_str(), typeText(*right).c_str(),
                  b.path().c_str());
      outcome.raise(exitNotComparable);
      continue;
    }
    WorstValue worst = compareValues(left, *right, tolerance);
    if (worst.passes())
      continue;
    std::string line = name + indexText(left.shape, worst.index) + ": " + elementText(left, worst.index) + " in " + a.path() + ", " +
                       elementText(*right, worst.position) + " in " + b.path();
    if (isFloat(left.dtype))
      line += ": error " + numberText(worst.error, 3) + ", allowed " + numberText(worst.allowed, 3);
    std::printf("%s\n", line.c_str());
    outcome.raise(exitRejected);
  }
}

/// Compares the outputs of |caseFile| that |wanted| asks for: those in |a| with the expected ones in |b|. Prints the
/// differences and raises |outcome|.
static void diffCase(const SafetensorsFile &a, const SafetensorsFile &b, const CaseFile &caseFile, const std::vector<std::string> &wanted,
                     Outcome &outcome) {
  for (const CaseOutput &output : caseFile.outputs) {
    if (!isAsked(wanted, output.name))
      continue;
    OutputReport report = compareOutput(output, a.find(output.name), b, "f32");
    if (report.verdict == OutputReport::Passed)
      continue;
    std::printf("%s: %s\n", output.name.c_str(), report.text.c_str());
    outcome.raise(report.verdict == OutputReport::NotComparable ? exitNotComparable : exitRejected);
  }
}

/// Checks that each of |wanted| is one of |names|, the tensors to compare, or a group of some of them. The error names
/// |where|.
static Status checkKnown(const std::vector<std::string> &wanted, const std::vector<std::string> &names, const std::string &where) {
  for (const std::string &one : wanted)
    if (std::none_of(names.begin(), names.end(), [&](const std::string &name) { return isWanted({one}, name); }))
      return Status::error("--outputs: '" + one + "': expected a tensor or group of " + where + ", found none of this name");
  return {};
}

int attune::runDiffCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  Tolerance tolerance;
  std::string casePath;
  std::vector<std::string> wanted;
  FlagTable flags;
  flags.addNumber("atol", "X", tolerance.atol, "absolute tolerance (default 0)");
  flags.addNumber("rtol", "Y", tolerance.rtol, "tolerance relative to the value in B (default 0)");
  flags.addString("case", "FILE", casePath, "case.json: the outputs to compare, with their tolerances");
  flags.addList("outputs", "LIST", wanted, "tensors or groups to compare (default: all of both files, or of the case)");
  std::vector<std::string> files;
  if (std::optional<int> status = parseArguments(
          host, flags, arguments, files, "diff A B [--atol=X --rtol=Y] [--case=case.json] [--outputs=LIST]",
          "Compares safetensors files, |a - b| <= atol + rtol * |b|; integers exactly. Exit 0 equal, 1 different\n(the worst element of "
          "each tensor is printed), 2 not comparable, or a wrong command line."))
    return *status == exitRejected ? int(exitNotComparable) : *status;
  // Status 1 would mean that files were compared.
  auto refuse = [&](const std::string &message) {
    reportError(host.tool, message);
    return exitNotComparable;
  };
  if (files.size() != 2)
    return refuse("expected two safetensors files, got " + std::to_string(files.size()));

  Result<SafetensorsFile> a = SafetensorsFile::open(files[0]), b = SafetensorsFile::open(files[1]);
  for (const Result<SafetensorsFile> *file : {&a, &b})
    if (!*file)
      return refuse(file->message());
  Outcome outcome;
  std::vector<std::string> names;
  if (casePath.empty()) {
    for (const Result<SafetensorsFile> *file : {&a, &b})
      for (const auto &entry : (*file)->tensors())
        names.push_back(entry.first);
    if (Status status = checkKnown(wanted, names, "one of the files"); status.failed())
      return refuse(status.message());
    diffFiles(*a, *b, wanted, tolerance, outcome);
    return outcome.status;
  }
  Result<CaseFile> caseFile = CaseFile::read(casePath);
  if (!caseFile)
    return refuse(caseFile.message());
  for (const CaseOutput &output : caseFile->outputs)
    names.push_back(output.name);
  if (Status status = checkKnown(wanted, names, casePath); status.failed())
    return refuse(status.message());
  diffCase(*a, *b, *caseFile, wanted, outcome);
  return outcome.status;
}
