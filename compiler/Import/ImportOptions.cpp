//===- ImportOptions.cpp - Lists of inputs and outputs as text ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/ImportOptions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace attune;
using llvm::SmallVector;
using llvm::StringRef;

/// Parses "2" or "?x1x1x?" into |request|; returns false for any other text.
static bool parseRank(StringRef text, InputRequest &request) {
  int64_t rank = 0;
  if (!text.getAsInteger(10, rank)) {
    request.rank = rank;
    return rank >= 0;
  }
  for (StringRef size : llvm::split(text, 'x')) {
    if (size != "?" && size != "1")
      return false;
    request.sizes.push_back(size == "1" ? 1 : InputRequest::anySize);
  }
  request.rank = int64_t(request.sizes.size());
  return true;
}

Result<std::vector<InputRequest>> attune::parseInputList(std::string_view text) {
  std::vector<InputRequest> requests;
  for (StringRef item : llvm::split(StringRef(text.data(), text.size()), ',')) {
    SmallVector<StringRef> parts;
    item.trim().split(parts, ':');
    InputRequest request{parts[0].str(), {}, {}, {}};
    bool wellFormed = !parts[0].empty() && parts.size() <= 3;
    if (parts.size() > 1)
      wellFormed &= parseRank(parts[1], request);
    if (parts.size() > 2) {
      request.dtype = parts[2].equals_insensitive("f32") ? DType::F32 : DType::I64;
      wellFormed &= *request.dtype == DType::F32 || parts[2].equals_insensitive("i64");
    }
    if (!wellFormed)
      return Status::error("inputs: expected NAME, NAME:RANK or NAME:RANK:i64|f32, got '" + item.str() + "'");
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<std::string> attune::parseOutputList(std::string_view text) {
  std::vector<std::string> names;
  for (StringRef name : llvm::split(StringRef(text.data(), text.size()), ','))
    if (!name.trim().empty())
      names.push_back(name.trim().str());
  return names;
}
