//===- TokenizerJson.cpp - Fuzz tokenizer.json ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a tokenizer.json. The compiler refuses it with an error that begins with the name of the file, or writes a
// .text file. The runtime must open that file, and encodes a text with it. Input that is no JSON is ignored.
//===----------------------------------------------------------------------===//
#include "compiler/Text/TokenizerSpec.h"
#include "test/Fuzz/EncodeSample.h"

using namespace attune;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<Json> root = parseJson({reinterpret_cast<const char *>(data), size}, "fuzz");
  if (!root)
    return 0;
  text::TokenizerSpec spec;
  text::TextFileWriter writer;
  Status status = text::readTokenizerModel(*root, "fuzz", spec);
  if (!status.failed())
    status = text::readTokenizerComponents(*root, "fuzz", spec);
  if (!status.failed())
    status = text::writeTokenizer(spec, "fuzz", [](const std::string &) {}, writer);
  encodeSample(status, writer);
  return 0;
}
