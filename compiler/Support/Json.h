//===- Json.h - JSON from untrusted files ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing with duplicate-key, depth and syntax errors that carry the place, and accessors that report the key, what was expected and what
// the file has. nlohmann's own accessors (`at`, implicit conversions) throw; code of this project uses these instead.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_JSON_H
#define ATTUNE_COMPILER_SUPPORT_JSON_H

#include "compiler/Support/Status.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace attune {

/// A JSON value. Objects are ordered by key.
using Json = nlohmann::json;

/// Parses |text|; errors read "FILE:LINE:COLUMN: …". Rejects duplicate keys, nesting deeper than 64, and anything after the value.
Result<Json> parseJson(std::string_view text, const std::string &file);
/// Reads and parses a file of at most 256 MiB.
Result<Json> readJsonFile(const std::string &path);

/// A value as an error message shows it: its JSON text, shortened to about 40 characters.
std::string describeJson(const Json &value);
/// "FILE: 'key': expected EXPECTED, got VALUE", the error every accessor below returns.
Status jsonTypeError(const std::string &file, const std::string &key, const std::string &expected, const Json &value);

/// The member |key| of an object, or null when |object| is not an object or lacks it.
const Json *findJson(const Json &object, std::string_view key);

/// |value| as an integer in [min, max]; |key| is the name for errors.
Result<int64_t> jsonInteger(const Json &value, const std::string &file, const std::string &key, int64_t min = INT64_MIN,
                            int64_t max = INT64_MAX);
/// |value| as a finite number (integers convert).
Result<double> jsonNumber(const Json &value, const std::string &file, const std::string &key);
Result<bool> jsonBool(const Json &value, const std::string &file, const std::string &key);
Result<std::string> jsonString(const Json &value, const std::string &file, const std::string &key);
/// |value| as an array of integers in [min, max].
Result<std::vector<int64_t>> jsonIntegers(const Json &value, const std::string &file, const std::string &key, int64_t min = INT64_MIN,
                                          int64_t max = INT64_MAX);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_JSON_H
