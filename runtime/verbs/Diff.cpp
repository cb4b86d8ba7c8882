//===- Diff.cpp - The verb diff --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares two safetensors files: 0 equal, 1 different, 2 not comparable.
//===----------------------------------------------------------------------===//
#include "runtime/verbs/CompareCase.h"
#include "runtime/verbs/Verbs.h"

#include <algorithm>
#include <cstdio>

using namespace attune;

namespace {
/// Collects the outcome of several comparisons; the worst wins.
struct Outcome {
  int status = exitDone;
  void raise(int other) { status = std::max(status, other); }
};
} // namespace

static std::string typeText(const TensorView &tensor) { return std::string(dtypeName(tensor.dtype)) + " " + shapeText(tensor.shape); }

/// Compares every tensor of both files.
static void diffFiles(const SafetensorsFile &a, const SafetensorsFile &b, Tolerance tolerance, Outcome &outcome) {
  for (const auto &entry : b.tensors())
    if (!a.find(entry.first)) {
      std::printf("%s: only in %s\n", entry.first.c_str(), b.path().c_str());
      outcome.raise(exitNotComparable);
    }
  for (const auto &[name, left] : a.tensors()) {
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

/// Compares the outputs that a case names; B is the expected file.
static void diffCase(const SafetensorsFile &a, const SafetensorsFile &b, const CaseFile &caseFile, Outcome &outcome) {
  for (const CaseOutput &output : caseFile.outputs) {
    OutputReport report = compareOutput(output, a.find(output.name), b, "f32");
    if (report.verdict == OutputReport::Passed)
      continue;
    std::printf("%s: %s\n", output.name.c_str(), report.text.c_str());
    outcome.raise(report.verdict == OutputReport::NotComparable ? exitNotComparable : exitRejected);
  }
}

int attune::runVerbDiff(const VerbHost &host, const std::vector<std::string> &arguments) {
  Tolerance tolerance;
  std::string casePath;
  FlagTable flags;
  flags.addNumber("atol", "X", tolerance.atol, "absolute tolerance (default 0)");
  flags.addNumber("rtol", "Y", tolerance.rtol, "tolerance relative to the value in B (default 0)");
  flags.addString("case", "FILE", casePath, "case.json: the outputs to compare, with their tolerances");
  std::vector<std::string> files;
  if (std::optional<int> status = parseArguments(
          host, flags, arguments, files, "diff A B [--atol=X --rtol=Y] [--case=case.json]",
          "Compares safetensors files, |a - b| <= atol + rtol * |b|; integers exactly. Exit 0 equal, 1 different\n(the worst element of "
          "each tensor is printed), 2 not comparable."))
    return *status;
  if (files.size() != 2)
    return reportError(host.tool, "expected two safetensors files, got " + std::to_string(files.size()));

  // Files that cannot be read are "not comparable": 1 would say that they were compared.
  Result<SafetensorsFile> a = SafetensorsFile::open(files[0]), b = SafetensorsFile::open(files[1]);
  for (const Result<SafetensorsFile> *file : {&a, &b})
    if (!*file) {
      reportError(host.tool, file->message());
      return exitNotComparable;
    }
  Outcome outcome;
  if (casePath.empty()) {
    diffFiles(*a, *b, tolerance, outcome);
    return outcome.status;
  }
  Result<CaseFile> caseFile = CaseFile::read(casePath);
  if (!caseFile) {
    reportError(host.tool, caseFile.message());
    return exitNotComparable;
  }
  diffCase(*a, *b, *caseFile, outcome);
  return outcome.status;
}
