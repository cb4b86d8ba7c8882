//===- Json.h - JSON from untrusted files ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parser that reports syntax errors with their position, duplicate keys and excessive depth, and accessors whose
// errors name the file, the key, the expected type and the value. nlohmann's own accessors (`at`, implicit conversions)
// throw exceptions, so the code of this project uses these accessors instead.
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

/// Parses |text|, one JSON value with nothing but white space around it. Syntax errors read "FILE:LINE:COLUMN: …",
/// where |file| is FILE. Other errors read "FILE: …": an object has a key twice, or more than 64 arrays and objects are
/// nested.
Result<Json> parseJson(std::string_view text, const std::string &file);
/// Reads and parses a file. Fails for a file of more than 256 MiB.
Result<Json> readJsonFile(const std::string &path);
/// Does the same as readJsonFile, but also fails if the value is no object. Returns an empty object if there is no such
/// file.
Result<Json> readOptionalObject(const std::string &path);

/// Returns a text for |value| in an error message: "an object" for an object that is not empty, "an array of N" for an
/// array of more than 8 elements, otherwise the JSON text, cut after at most 40 bytes.
std::string describeJson(const Json &value);
/// Returns the error "FILE: 'KEY': expected EXPECTED, got VALUE", where VALUE is describeJson of |value|. The functions
/// below that return a Result fail with such an error if |value| has another type or is out of range.
Status jsonTypeError(const std::string &file, const std::string &key, const std::string &expected, const Json &value);

/// Returns the member |key| of an object; null if |object| is not an object or has no such member.
const Json *findJson(const Json &object, std::string_view key);

/// Returns |value| as an integer in [|min|, |max|]. |file| and |key| say in errors where |value| comes from.
Result<int64_t> jsonInteger(const Json &value, const std::string &file, const std::string &key, int64_t min = INT64_MIN,
                            int64_t max = INT64_MAX);
/// Returns |value| as a finite number; converts integers.
Result<double> jsonNumber(const Json &value, const std::string &file, const std::string &key);
Result<bool> jsonBool(const Json &value, const std::string &file, const std::string &key);
Result<std::string> jsonString(const Json &value, const std::string &file, const std::string &key);
/// Returns |value| as an array of integers in [|min|, |max|].
Result<std::vector<int64_t>> jsonIntegers(const Json &value, const std::string &file, const std::string &key, int64_t min = INT64_MIN,
                                          int64_t max = INT64_MAX);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_JSON_H
