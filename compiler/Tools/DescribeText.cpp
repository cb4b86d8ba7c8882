//===- DescribeText.cpp - Descriptions for people -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Compare.h"
#include "compiler/Tools/Describe.h"

#include <algorithm>
#include <cstdio>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

static std::string plain(const OrderedJson &value) {
  if (value.is_number_float())
    return numberText(value.get<double>(), 5);
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Prints an array of objects as an aligned table with a line for each object and its values as cells, in order. A cell
/// begins with its key unless the key is name, dtype or shape or the value is a string.
static void printTable(const std::string &title, const OrderedJson &rows, const std::string &indent) {
  std::printf("%s%s:\n", indent.c_str(), title.c_str());
  std::vector<std::vector<std::string>> lines;
  std::vector<size_t> widths;
  for (const OrderedJson &row : rows) {
    std::vector<std::string> cells;
    for (const auto &[key, value] : row.items()) {
      bool bare = key == "name" || key == "dtype" || key == "shape" || value.is_string();
      cells.push_back(bare ? plain(value) : key + " " + plain(value));
      if (cells.size() > widths.size())
        widths.push_back(0);
      widths[cells.size() - 1] = std::max(widths[cells.size() - 1], cells.back().size());
    }
    lines.push_back(std::move(cells));
  }
  for (const std::vector<std::string> &cells : lines) {
    std::string line = indent + " ";
    for (size_t i = 0; i < cells.size(); ++i)
      line += " " + cells[i] + (i + 1 < cells.size() ? std::string(widths[i] - cells[i].size() + 1, ' ') : "");
    std::printf("%s\n", line.c_str());
  }
}

/// Returns |words|, separated by commas; of more than eight the first eight and the number of all.
static std::string wordsText(const OrderedJson &words) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < words.size() && i < most; ++i)
    text += (i ? ", " : "") + plain(words[i]);
  return words.size() > most ? text + ", ... (" + std::to_string(words.size()) + ")" : text;
}

void attune::printDescription(const OrderedJson &object, const std::string &indent) {
  for (const auto &[key, value] : object.items()) {
    if (key == "entries") {
      for (const OrderedJson &entry : value) {
        std::printf("%sentry:\n", indent.c_str());
        printDescription(entry, indent + "  ");
      }
    } else if (value.is_array() && !value.empty() && !value.front().is_structured()) {
      std::printf("%s%-16s %s\n", indent.c_str(), key.c_str(), wordsText(value).c_str());
    } else if (value.is_array()) {
      printTable(key, value, indent);
    } else if (value.is_object()) {
      std::string line;
      for (const auto &[name, number] : value.items())
        line += (line.empty() ? "" : ", ") + name + " " + plain(number);
      std::printf("%s%-16s %s\n", indent.c_str(), key.c_str(), line.c_str());
    } else {
      std::printf("%s%-16s %s\n", indent.c_str(), key.c_str(), plain(value).c_str());
    }
  }
}
