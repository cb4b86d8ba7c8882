//===- JsonTest.cpp - JSON parsing and accessors ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the lines and columns of syntax errors, and the text of type errors.
//===----------------------------------------------------------------------===//
#include "compiler/Support/Json.h"
#include "Check.h"

using namespace attune;

void testJson() {
  CHECK_HAS(parseJson("{\n  \"a\": 1,\n}", "c.json").message(), "c.json:3:1: ");
  CHECK_HAS(parseJson("{\"a\": {\"b\": 1, \"b\": 2}}", "c.json").message(), "c.json: key 'b' appears twice");
  CHECK_HAS(parseJson("{\"a\\n\": 1, \"a\\n\": 2}", "c.json").message(), "c.json: key 'a?' appears twice");
  CHECK_HAS(parseJson("1e999", "c.json").message(), "c.json");
  CHECK_HAS(parseJson("", "c.json").message(), "c.json:1:1: ");
  CHECK(!parseJson("[1] [2]", "c.json"));

  Result<Json> json =
      parseJson(R"({"i": 5, "f": 2.5, "s": "x", "b": true, "l": [1, 2, {"d": [3]}], "big": 9223372036854775808, "n": null})", "f");
  CHECK(bool(json));
  if (!json)
    return;
  auto at = [&](const char *key) { return *findJson(*json, key); };
  CHECK(*jsonInteger(at("i"), "f", "i", 0, 5) == 5);
  CHECK(jsonInteger(at("i"), "f", "i", 6).message() == "f: 'i': expected an integer of at least 6, got 5");
  CHECK(jsonInteger(at("i"), "f", "i", 0, 4).message() == "f: 'i': expected an integer in 0..4, got 5");
  CHECK(jsonInteger(at("f"), "f", "f").message() == "f: 'f': expected an integer, got 2.5");
  CHECK(jsonInteger(at("b"), "f", "b").message() == "f: 'b': expected an integer, got true");
  CHECK(!jsonInteger(at("big"), "f", "big"));
  CHECK(*jsonNumber(at("i"), "f", "i") == 5.0 && *jsonNumber(at("f"), "f", "f") == 2.5);
  CHECK(jsonNumber(at("s"), "f", "s").message() == "f: 's': expected a number, got \"x\"");
  CHECK(*jsonBool(at("b"), "f", "b") && !jsonBool(at("i"), "f", "i"));
  CHECK(*jsonString(at("s"), "f", "s") == "x" && !jsonString(at("n"), "f", "n"));
  CHECK(jsonIntegers(at("l"), "f", "l").message() == "f: 'l[2]': expected an integer, got an object");
  CHECK(findJson(*json, "none") == nullptr && findJson(at("l"), "x") == nullptr);
  CHECK(at("l").size() == 3);

  // Long values are cut after 40 bytes at most, between characters. The quote that begins the text counts.
  CHECK(describeJson(Json(std::string(38, 'x'))) == '"' + std::string(38, 'x') + '"');
  CHECK(describeJson(Json(std::string(39, 'x'))) == '"' + std::string(39, 'x') + "...");
  CHECK(describeJson(Json(std::string(37, 'x') + "\xc3\xa9y")) == '"' + std::string(37, 'x') + "\xc3\xa9...");
  CHECK(describeJson(Json(std::string(38, 'x') + "\xc3\xa9")) == '"' + std::string(38, 'x') + "...");
  CHECK(describeJson(Json(std::string(37, 'x') + "\xe2\x82\xac")) == '"' + std::string(37, 'x') + "...");
  CHECK(describeJson(Json(std::string(36, 'x') + "\xf0\x9f\x99\x82yz")) == '"' + std::string(36, 'x') + "...");
}
