//===- Json.cpp - JSON from untrusted files -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A SAX handler builds the tree, because nlohmann's own tree builder silently keeps the last of two equal keys and
// reports errors only by throwing.
//===----------------------------------------------------------------------===//
#include "compiler/Support/Json.h"

#include "compiler/Support/MappedFile.h"

#include <cmath>
#include <filesystem>

using namespace attune;

namespace {

/// Largest number of nested arrays and objects that is accepted; configurations need about five.
constexpr size_t maxDepth = 64;
/// Size in bytes of the largest file that readJsonFile reads.
constexpr size_t maxFileBytes = size_t(256) << 20;

/// A SAX handler that builds the value and keeps the first error.
class TreeBuilder : public nlohmann::json_sax<Json> {
public:
  Json root;
  std::string problem;
  size_t problemOffset = std::string::npos;

  bool null() override { return add(Json(nullptr)); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(number_float_t value, const string_t &) override { return add(Json(value)); }
  bool string(string_t &value) override { return add(Json(std::move(value))); }
  bool binary(binary_t &) override { return fail("binary values are not JSON"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    if (stack.back()->contains(name))
      return fail("key '" + name + "' appears twice");
    pendingKey = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string &, const nlohmann::detail::exception &error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …" or
    // "[json.exception.out_of_range.406] number overflow parsing '1e999'": the prefix is dropped, since Attune's
    // messages name a position themselves.
    std::string text = error.what();
    size_t end = text.find(": ");
    if (end == std::string::npos)
      end = text.find("] ");
    problem = end == std::string::npos ? text : text.substr(end + 2);
    problemOffset = position ? position - 1 : 0;
    return false;
  }

private:
  std::vector<Json *> stack;
  std::string pendingKey;

  bool fail(std::string message) {
    problem = std::move(message);
    return false;
  }

  /// Inserts |value| at the parser's position in the tree and returns its address.
  Json *place(Json value) {
    if (stack.empty()) {
      root = std::move(value);
      return &root;
    }
    Json &parent = *stack.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    Json &slot = parent[pendingKey];
    slot = std::move(value);
    return &slot;
  }

  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (stack.size() == maxDepth)
      return fail("nested deeper than " + std::to_string(maxDepth) + " levels");
    stack.push_back(place(std::move(value)));
    return true;
  }

  bool close() {
    stack.pop_back();
    return true;
  }
};

} // namespace

/// Returns "FILE:LINE:COLUMN" for a byte offset; "FILE" if the offset is unknown.
static std::string fileOf(const std::string &file, std::string_view text, size_t offset) {
  if (offset == std::string::npos)
    return file;
  size_t line = 1, column = 1;
  for (size_t i = 0; i < offset && i < text.size(); ++i) {
    ++column;
    if (text[i] == '\n')
      ++line, column = 1;
  }
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

Result<Json> attune::parseJson(std::string_view text, const std::string &file) {
  TreeBuilder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder))
    return Status::error(fileOf(file, text, builder.problemOffset) + ": " + builder.problem);
  return std::move(builder.root);
}

Result<Json> attune::readJsonFile(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  if (file->size() > maxFileBytes)
    return Status::error(path + ": expected at most " + std::to_string(maxFileBytes) + " bytes of JSON, got " +
                         std::to_string(file->size()));
  return parseJson({reinterpret_cast<const char *>(file->data()), file->size()}, path);
}

Result<Json> attune::readOptionalObject(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return Json(Json::object());
  Result<Json> root = readJsonFile(path);
  if (root && !root->is_object())
    return Status::error(path + ": expected an object, got " + describeJson(*root));
  return root;
}

std::string attune::describeJson(const Json &value) {
  if (value.is_object() && !value.empty())
    return "an object";
  if (value.is_array() && value.size() > 8)
    return "an array of " + std::to_string(value.size());
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= 40)
    return text;
  size_t end = 40;
  // A byte 10xxxxxx continues a character of UTF-8.
  while ((uint8_t(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end) + "...";
}

Status attune::jsonTypeError(const std::string &file, const std::string &key, const std::string &expected, const Json &value) {
  return Status::error(file + ": '" + key + "': expected " + expected + ", got " + describeJson(value));
}

const Json *attune::findJson(const Json &object, std::string_view key) {
  if (!object.is_object())
    return nullptr;
  auto it = object.find(std::string(key));
  return it == object.end() ? nullptr : &*it;
}

Result<int64_t> attune::jsonInteger(const Json &value, const std::string &file, const std::string &key, int64_t min, int64_t max) {
  bool fits = value.is_number_integer();
  if (value.is_number_unsigned())
    fits = value.get<uint64_t>() <= uint64_t(INT64_MAX);
  if (fits) {
    int64_t number = value.get<int64_t>();
    if (number >= min && number <= max)
      return number;
  }
  std::string expected = "an integer";
  if (min != INT64_MIN && max != INT64_MAX)
    expected += " in " + std::to_string(min) + ".." + std::to_string(max);
  else if (min != INT64_MIN)
    expected += " of at least " + std::to_string(min);
  else if (max != INT64_MAX)
    expected += " of at most " + std::to_string(max);
  return jsonTypeError(file, key, expected, value);
}

Result<double> attune::jsonNumber(const Json &value, const std::string &file, const std::string &key) {
  if (value.is_number())
    if (double number = value.get<double>(); std::isfinite(number))
      return number;
  return jsonTypeError(file, key, "a number", value);
}

Result<bool> attune::jsonBool(const Json &value, const std::string &file, const std::string &key) {
  if (value.is_boolean())
    return value.get<bool>();
  return jsonTypeError(file, key, "true or false", value);
}

Result<std::string> attune::jsonString(const Json &value, const std::string &file, const std::string &key) {
  if (value.is_string())
    return value.get<std::string>();
  return jsonTypeError(file, key, "a string", value);
}

Result<std::vector<int64_t>> attune::jsonIntegers(const Json &value, const std::string &file, const std::string &key, int64_t min,
                                                  int64_t max) {
  if (!value.is_array())
    return jsonTypeError(file, key, "an array of integers", value);
  std::vector<int64_t> numbers;
  for (const Json &element : value) {
    Result<int64_t> number = jsonInteger(element, file, key + "[" + std::to_string(numbers.size()) + "]", min, max);
    if (!number)
      return number.status();
    numbers.push_back(*number);
  }
  return numbers;
}
