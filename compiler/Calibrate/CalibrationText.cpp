//===- CalibrationText.cpp - Sample texts in a file -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Calibrate/Calibrator.h"
#include "compiler/Support/MappedFile.h"
#include "llvm/ADT/StringExtras.h"

using namespace attune;

/// The largest size of a file, in bytes. A larger one is a mistake: a calibration needs some thousand token ids.
static constexpr size_t kLargestFile = size_t(64) << 20;

Result<CalibrationText> attune::readCalibrationText(const std::string &path,
                                                    const std::function<Result<std::vector<int64_t>>(const std::string &)> &encode) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return Status::error("--calibrate: " + file.message());
  if (file->size() > kLargestFile)
    return Status::error(path + ": expected at most 64 MiB of texts or ids, got " + std::to_string(file->size()) + " bytes");
  llvm::StringRef content(reinterpret_cast<const char *>(file->data()), file->size());
  constexpr llvm::StringLiteral kSeparators = " ,\t\r";
  bool hasIds = content.find_first_not_of("0123456789 ,\t\r\n") == llvm::StringRef::npos;
  CalibrationText text{path, {}};
  for (int64_t line = 1; !content.empty(); ++line) {
    auto [first, rest] = content.split('\n');
    content = rest;
    llvm::StringRef given = first.trim(kSeparators);
    if (given.empty())
      continue;
    CalibrationText::Row row{line, {}};
    if (hasIds) {
      while (!given.empty()) {
        llvm::StringRef word = given.take_until([&](char c) { return kSeparators.contains(c); });
        int64_t id;
        if (word.getAsInteger(10, id))
          return Status::error(path + ": line " + std::to_string(line) + ": expected an id, got '" + word.str() + "'");
        row.ids.push_back(id);
        given = given.drop_front(word.size()).ltrim(kSeparators);
      }
    } else {
      Result<std::vector<int64_t>> ids = encode(given.str());
      if (!ids)
        return Status::error(path + ": line " + std::to_string(line) + ": " + ids.message());
      row.ids = std::move(*ids);
    }
    if (!row.ids.empty())
      text.rows.push_back(std::move(row));
  }
  if (text.rows.empty())
    return Status::error(path + ": expected texts or ids, a row a line, got none");
  return text;
}
