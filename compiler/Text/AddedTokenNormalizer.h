//===- AddedTokenNormalizer.h - Normalized added tokens -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_ADDEDTOKENNORMALIZER_H
#define ATTUNE_COMPILER_TEXT_ADDEDTOKENNORMALIZER_H

#include "compiler/Support/Status.h"
#include "compiler/Text/TextFileWriter.h"
#include "runtime/text/Tables.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace attune::text {

/// A normalizer of the strings of added tokens. It runs the normalizer steps of the runtime on tables that do not have
/// the added tokens yet.
class AddedTokenNormalizer {
public:
  /// |write| adds the sections of these tables to a writer; the first call of |run| calls it. |file| is the name of the
  /// tokenizer's file in messages, and must outlive this object.
  AddedTokenNormalizer(std::function<Status(TextFileWriter &)> write, const std::string &file);
  ~AddedTokenNormalizer();

  /// Returns |token| after all normalizer steps. Fails if |token| has more than kMostBytes bytes, if its normalized
  /// form has more than kCapacity bytes, or if the tables cannot be made.
  Result<std::string> run(const std::string &token);

private:
  static constexpr size_t kMostBytes = 4096, kCapacity = kMostBytes * 64;

  Status open();

  std::function<Status(TextFileWriter &)> write;
  const std::string &file;
  void *image = nullptr;
  TextFile opened;
  std::unique_ptr<Tables> tables;
  std::vector<uint64_t> room;
};

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_ADDEDTOKENNORMALIZER_H
