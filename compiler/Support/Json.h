//===- Json.h - JSON from untrusted files ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing that reports duplicate keys, excessive depth and, with their position, syntax errors; and accessors that
// report the key, the expected type and the value in the file. nlohmann's own accessors (`at`, implicit conversions)
// throw, so code of this project uses these instead.
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

/// Parses |text|; syntax errors read "FILE:LINE:COLUMN: …". Rejects duplicate keys and nesting deeper than 64, with
/// errors that read "FILE: …", and anything after the value.
Result<Json> parseJson(std::string_view text, const std::string &file);
/// Reads and parses a file of at most 256 MiB.
Result<Json> readJsonFile(const std::string &path);
/// Reads a file like readJsonFile, and rejects values other than objects. Returns an empty object if there is no such
/// file.
Result<Json> readOptionalObject(const std::string &path);

/// Returns a value for an error message: its JSON text, cut after 40 bytes; "an object" for an object that is not
/// empty, "an array of N" for an array of more than 8 elements.
std::string describeJson(const Json &value);
/// Returns the error "FILE: 'key': expected EXPECTED, got VALUE". The functions below that return a Result fail with
/// it.
Status jsonTypeError(const std::string &file, const std::string &key, const std::string &expected, const Json &value);

/// Returns the member |key| of an object; null if |object| is not an object or has no such member.
const Json *findJson(const Json &object, std::string_view key);

/// Returns |value| as an integer in [min, max]; |key| is the name for errors.
Result<int64_t> jsonInteger(const Json &value, const std::string &file, const std::string &key, int64_t min = INT64_MIN,
                            int64_t max = INT64_MAX);
/// Returns |value| as a finite number (integers convert).
Result<double> jsonNumber(const Json &value, const std::string &file, const std::string &key);
Result<bool> jsonBool(const Json &value, const std::string &file, const std::string &key);
Result<std::string> jsonString(const Json &value, const std::string &file, const std::string &key);
/// Returns |value| as an array of integers in [min, max].
Result<std::vector<int64_t>> jsonIntegers(const Json &value, const std::string &file, const std::string &key, int64_t min = INT64_MIN,
                                          int64_t max = INT64_MAX);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_JSON_H
