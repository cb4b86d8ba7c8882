//===- Flags.cpp - Command-line flags of the commands ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements parsing and help of FlagTable.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Flags.h"
#include "compiler/Support/Strings.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <locale>
#include <sstream>

using namespace attune;

Result<std::vector<std::string>> attune::splitList(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    size_t end = std::min(text.find(',', begin), text.size());
    if (begin == end)
      return Status::error("expected names separated by commas, got '" + text + "'");
    parts.push_back(text.substr(begin, end - begin));
    if (end == text.size())
      return parts;
    begin = end + 1;
  }
}

Result<int64_t> attune::parseInteger(const std::string &text) {
  errno = 0;
  char *end = nullptr;
  long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) || *end != '\0' || errno != 0)
    return Status::error("expected an integer, got '" + text + "'");
  return static_cast<int64_t>(value);
}

Result<double> attune::parseNumber(const std::string &text) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double value = 0;
  stream >> std::noskipws >> value;
  if (stream.fail() || stream.peek() != std::char_traits<char>::eof() || !std::isfinite(value))
    return Status::error("expected a number, got '" + text + "'");
  return value;
}

void FlagTable::addCustom(const std::string &name, const std::string &value, const std::string &help,
                          std::function<Status(const std::string &)> read) {
  for (Flag &flag : flags)
    if (flag.name == name) {
      flag.read = [first = std::move(flag.read), second = std::move(read)](const std::string &text) {
        Status status = first(text);
        return status.failed() ? status : second(text);
      };
      return;
    }
  flags.push_back({name, value, help, std::move(read), groups.size() - 1});
}

void FlagTable::addSwitch(const std::string &name, bool &target, const std::string &help) {
  addCustom(name, "", help, [&target](const std::string &) {
    target = true;
    return Status();
  });
}

void FlagTable::addString(const std::string &name, const std::string &value, std::string &target, const std::string &help) {
  addCustom(name, value, help, [&target](const std::string &text) {
    target = text;
    return Status();
  });
}

/// Parses |text| as an integer in [|min|, |max|].
static Result<int64_t> readInteger(const std::string &text, int64_t min, int64_t max) {
  Result<int64_t> number = parseInteger(text);
  if (number && (*number < min || *number > max))
    return Status::error(
        "expected an integer " +
        (max == INT64_MAX ? "of at least " + std::to_string(min) : "in " + std::to_string(min) + ".." + std::to_string(max)) + ", got " +
        text);
  return number;
}

/// Adds a flag whose value, an integer in [|min|, |max|], is assigned to |target|.
template <typename TargetT>
static void addIntegerFlag(FlagTable &table, const std::string &name, const std::string &value, TargetT &target, int64_t min, int64_t max,
                           const std::string &help) {
  table.addCustom(name, value, help, [&target, min, max](const std::string &text) {
    Result<int64_t> number = readInteger(text, min, max);
    if (!number)
      return number.status();
    target = *number;
    return Status();
  });
}

void FlagTable::addInteger(const std::string &name, const std::string &value, int64_t &target, int64_t min, int64_t max,
                           const std::string &help) {
  addIntegerFlag(*this, name, value, target, min, max, help);
}

void FlagTable::addInteger(const std::string &name, const std::string &value, std::optional<int64_t> &target, int64_t min, int64_t max,
                           const std::string &help) {
  addIntegerFlag(*this, name, value, target, min, max, help);
}

void FlagTable::addNumber(const std::string &name, const std::string &value, double &target, const std::string &help) {
  addCustom(name, value, help, [&target](const std::string &text) {
    Result<double> number = parseNumber(text);
    if (!number || *number < 0)
      return Status::error("expected a number of at least 0, got '" + text + "'");
    target = *number;
    return Status();
  });
}

void FlagTable::addList(const std::string &name, const std::string &value, std::vector<std::string> &target, const std::string &help) {
  addCustom(name, value, help, [&target](const std::string &text) {
    Result<std::vector<std::string>> parts = splitList(text);
    if (!parts)
      return parts.status();
    target.insert(target.end(), parts->begin(), parts->end());
    return Status();
  });
}

void FlagTable::addRepeated(const std::string &name, const std::string &value, std::vector<std::string> &target, const std::string &help) {
  addCustom(name, value, help, [&target](const std::string &text) {
    target.push_back(text);
    return Status();
  });
}

const FlagTable::Flag *FlagTable::find(const std::string &name) const {
  for (const Flag &flag : flags)
    if (flag.name == name)
      return &flag;
  return nullptr;
}

/// Returns the flag with its dashes: "--name", or "-n" for a single letter.
static std::string dashed(const std::string &name) { return (name.size() == 1 ? "-" : "--") + name; }

/// Returns the edit distance of two words: the number of letters to insert, delete or change.
static size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string FlagTable::hintFor(const std::string &name) const {
  for (const Flag &flag : flags)
    if (editDistance(name, flag.name) <= (flag.name.size() > 3 ? 2 : 0))
      return "did you mean '" + dashed(flag.name) + "'?";
  return "--help lists the flags";
}

std::string attune::wrapText(const std::string &text, size_t indent) {
  const size_t width = 80;
  std::string result;
  size_t column = indent;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    if (column > indent && column + 1 + (end - begin) > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result.append(text, begin, end - begin);
    column += end - begin;
    begin = end + 1;
    if (end < text.size() && text[end] == '\n') {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    }
  }
  return result;
}

/// Sets |style| to the style called |name|; "" is the style of a terminal. Returns false if there is none.
static bool readHelpStyle(const std::string &name, HelpStyle &style) {
  static const std::pair<const char *, HelpStyle> styles[] = {{"", HelpStyle::Screen},
                                                              {"all", HelpStyle::All},
                                                              {"man", HelpStyle::Manual},
                                                              {"bash", HelpStyle::Completion},
                                                              {"markdown", HelpStyle::Markdown}};
  for (const auto &[known, value] : styles)
    if (name == known) {
      style = value;
      return true;
    }
  return false;
}

Status FlagTable::parse(const std::vector<std::string> &arguments, std::vector<std::string> &positional) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument == "--") {
      positional.insert(positional.end(), arguments.begin() + i + 1, arguments.end());
      return {};
    }
    if (argument.size() < 2 || argument[0] != '-') {
      positional.push_back(argument);
      continue;
    }
    size_t dashes = argument[1] == '-' ? 2 : 1;
    size_t equals = argument.find('=');
    std::string name = argument.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
    if ((name == "help" || name == "h") && dashed(name).size() == dashes + name.size()) {
      std::string style = equals == std::string::npos ? "" : argument.substr(equals + 1);
      if (!readHelpStyle(style, help))
        return Status::error("--help: expected no value, all, man, bash or markdown, got '" + style + "'");
      continue;
    }
    for (const auto &[former, present] : formerNames)
      if (name == former)
        name = present;
    const Flag *flag = find(name);
    if (!flag || dashed(name).size() != dashes + name.size())
      return Status::error("unknown flag '" + argument.substr(0, equals) + "'; " + hintFor(name));
    std::string value;
    if (flag->value.empty()) {
      if (equals != std::string::npos)
        return Status::error(dashed(name) + ": expected no value, got '" + argument.substr(equals + 1) + "'");
    } else if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else {
      if (i + 1 == arguments.size() || startsWith(arguments[i + 1], "--"))
        return Status::error(dashed(name) + ": expected a value, " + dashed(name) + "=" + flag->value);
      value = arguments[++i];
    }
    if (Status status = flag->read(value); status.failed())
      return Status::error(dashed(name) + ": " + status.message());
    found.emplace_back(name, value);
  }
  return {};
}

std::vector<FlagText> FlagTable::texts() const {
  std::vector<FlagText> result;
  for (const Flag &flag : flags)
    result.push_back({dashed(flag.name), flag.value, flag.help});
  return result;
}

std::string FlagTable::helpText(bool showsFolded) const {
  auto isShown = [&](const Flag &flag) { return showsFolded || !groups[flag.group].isFolded; };
  auto format = [](const Flag &flag) {
    return "  " + dashed(flag.name) + (flag.value.empty() ? "" : (flag.name.size() == 1 ? " " : "=") + flag.value);
  };
  size_t width = 0;
  for (const Flag &flag : flags)
    width = std::max(width, isShown(flag) ? format(flag).size() : 0);
  std::string text;
  for (size_t group = 0; group < groups.size(); ++group) {
    std::string lines, names;
    for (const Flag &flag : flags) {
      if (flag.group != group)
        continue;
      std::string left = format(flag);
      names += (names.empty() ? "" : " ") + dashed(flag.name);
      if (isShown(flag))
        lines += left + std::string(width - left.size() + 2, ' ') + wrapText(flag.help, width + 2) + "\n";
    }
    if (names.empty())
      continue;
    text += text.empty() ? "" : "\n";
    if (!groups[group].title.empty())
      text += groups[group].title + (lines.empty() ? " (--help=all):\n" : ":\n");
    text += lines.empty() ? "  " + wrapText(names, 2) + "\n" : lines;
  }
  return text;
}
