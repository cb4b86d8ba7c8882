//===- StepSession.h - One call in chunks ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_STEPSESSION_H
#define ATTUNE_COMPILER_TOOLS_STEPSESSION_H

#include "compiler/Tools/StepCall.h"

namespace attune {

/// Columns |begin| … |end| - 1 of axis 1 of |tensor|.
OwnedTensor sliceColumns(const OwnedTensor &tensor, int64_t begin, int64_t end);

/// The session that chunks go through.
class StepSession {
public:
  StepSession(const Artefact &artefact, const StepRequest &request) : artefact(artefact), request(request) {}
  Result<std::vector<OwnedTensor>> run();

private:
  Status sortInputs();
  /// Sizes of the call, from the tokens and the caches that are given.
  Status measure();
  Status makeSession();
  Status encode();
  /// Fills the caches with what is given, and hides the tokens that the mask hides.
  Status loadPast();
  Status feed(int64_t begin, int64_t size);
  Status call(const attune_entry_desc &entry, std::vector<OwnedTensor> &inputs, std::vector<OwnedTensor> &outputs);
  /// Puts the outputs of a chunk into their columns of the results.
  void keep(std::vector<OwnedTensor> &chunk, int64_t begin);
  /// Adds the keys and values that are wanted to the results.
  Status readCaches();

  const Artefact &artefact;
  StepRequest request;
  const attune_entry_desc *extend = nullptr, *decode = nullptr, *encoder = nullptr;
  /// Inputs of the chunks, whole; of the sources; and caches.
  std::vector<OwnedTensor> chunked, sources, past;
  int64_t batch = 0, length = 0, pastLength = 0, sourceLength = 0;
  std::shared_ptr<attune_session> session;
  std::vector<OwnedTensor> results;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_STEPSESSION_H
