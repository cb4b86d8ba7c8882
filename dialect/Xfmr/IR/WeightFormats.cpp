//===- WeightFormats.cpp - Formats of the weights of a model --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/WeightFormats.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace mlir::xfmr;

static constexpr llvm::StringLiteral kNative = "native";

/// Returns the reason why |pattern| is not a list of globs separated by dots; "" if it is one.
static std::string checkPattern(StringRef pattern) {
  SmallVector<StringRef> globs;
  pattern.split(globs, '.');
  for (StringRef glob : globs) {
    if (glob.empty())
      return "expected a name or a pattern of names before '='";
    llvm::Expected<llvm::GlobPattern> parsed = llvm::GlobPattern::create(glob);
    if (!parsed)
      return "expected a pattern of names before '=': " + llvm::toString(parsed.takeError());
  }
  return "";
}

std::optional<WeightFormats> WeightFormats::parse(StringRef text, std::string &error) {
  WeightFormats formats;
  if (text.empty())
    return formats;
  auto fail = [&](const Twine &expected, StringRef got) {
    error = (expected + ", got '" + got + "'").str();
    return std::nullopt;
  };
  SmallVector<StringRef> entries;
  text.split(entries, ',');
  for (auto [number, entry] : llvm::enumerate(entries)) {
    bool isNamed = entry.contains('=');
    auto [pattern, name] = isNamed ? entry.rsplit('=') : std::pair(StringRef(), entry);
    if (!isNamed && number > 0)
      return fail("expected a format without a name once, at the beginning, and PATTERN=FORMAT behind it", entry);
    std::optional<WeightFormat> format = WeightFormat::parse(name);
    if (!format && name != kNative)
      return fail(Twine(isNamed ? "expected native, bf16, f16," : "expected native, auto, bf16, f16,") +
                      " or int4 or int8 with groups of 16, 32, 64, 128 or 0 (a row) and perhaps :asym, as in int4:32",
                  entry);
    if (!isNamed) {
      formats.projections = format;
      continue;
    }
    if (std::string wrong = checkPattern(pattern); !wrong.empty())
      return fail(wrong, entry);
    if (llvm::is_contained(llvm::map_range(formats.rules, [](const Rule &rule) { return StringRef(rule.pattern); }), pattern))
      return fail("expected each pattern once", entry);
    if (pattern == kTables && format && !format->isFloat())
      return fail("expected native, bf16 or f16 for the tables of embeddings", entry);
    formats.rules.push_back({pattern.str(), format});
  }
  return formats;
}

std::string WeightFormats::str() const {
  auto name = [](const std::optional<WeightFormat> &format) { return format ? format->str() : kNative.str(); };
  std::string text = projections ? projections->str() : "";
  for (const Rule &rule : rules)
    text += (text.empty() ? "" : ",") + rule.pattern + "=" + name(rule.format);
  return text;
}

std::vector<WeightFormat> WeightFormats::list() const {
  std::vector<WeightFormat> formats;
  auto add = [&](const std::optional<WeightFormat> &format) {
    if (format)
      formats.push_back(*format);
  };
  add(projections);
  for (const Rule &rule : rules)
    add(rule.format);
  return formats;
}

void WeightFormats::makeNative(WeightFormat::Kind kind) {
  auto replace = [kind](std::optional<WeightFormat> &format) {
    if (format && format->kind == kind)
      format = std::nullopt;
  };
  replace(projections);
  for (Rule &rule : rules)
    if (rule.pattern != kTables)
      replace(rule.format);
}
