//===- Flags.h - Command-line flags of the verbs ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of flags bound to variables. Value flags accept `--flag=value` and `--flag value`; `--` ends the flags; `--help` is understood by
// all, and so are `--help=man`, `--help=bash` and `--help=markdown`, from which manual, completion and reference are made.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_FLAGS_H
#define ATTUNE_COMPILER_TOOLS_FLAGS_H

#include "compiler/Support/Status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace attune {

/// The output that --help asks for: text for a terminal, a section of a manual page, a case of a completion script, or a section of a page
/// in Markdown.
enum class HelpStyle { None, Screen, Manual, Completion, Markdown };

/// A flag in words. |name| with its dashes, |value| the word for its value, "" for a switch.
struct FlagText {
  std::string name, value, help;
};

/// The flags of one command. Bound variables keep their value, the default, when the flag is not given, and must outlive the table. A name
/// added twice is one flag that sets both variables; the first help line stays (a verb and the tool around it may both need to know
/// `--dtype`).
class FlagTable {
public:
  /// `--name`, without a value.
  void addSwitch(const std::string &name, bool &target, const std::string &help);
  /// `--name=VALUE`; |value| is the word help shows ("FILE").
  void addString(const std::string &name, const std::string &value, std::string &target, const std::string &help);
  /// An integer in [min, max].
  void addInteger(const std::string &name, const std::string &value, int64_t &target, int64_t min, int64_t max, const std::string &help);
  /// A non-negative number.
  void addNumber(const std::string &name, const std::string &value, double &target, const std::string &help);
  /// A list separated by commas; empty parts are an error. Given twice, the lists are joined.
  void addList(const std::string &name, const std::string &value, std::vector<std::string> &target, const std::string &help);
  /// A flag that may be given several times; each value is appended as it is.
  void addRepeated(const std::string &name, const std::string &value, std::vector<std::string> &target, const std::string &help);
  /// A flag with its own reader, called for each occurrence. The reader's message is completed with the flag's name.
  void addCustom(const std::string &name, const std::string &value, const std::string &help,
                 std::function<Status(const std::string &)> read);

  /// Reads |arguments|; what is not a flag is appended to |positional|. A name of one letter is written with one dash ("-o").
  Status parse(const std::vector<std::string> &arguments, std::vector<std::string> &positional);
  /// Whether parse saw --help, and the last one it saw.
  bool helpRequested() const { return help != HelpStyle::None; }
  HelpStyle helpStyle() const { return help; }
  /// All flags in order.
  std::vector<FlagText> texts() const;
  /// One line per flag, aligned.
  std::string helpText() const;

private:
  struct Flag {
    std::string name;
    std::string value; // "" for a switch
    std::string help;
    std::function<Status(const std::string &)> read;
  };
  const Flag *find(const std::string &name) const;
  /// What to say about an unknown flag.
  std::string hintFor(const std::string &name) const;

  std::vector<Flag> flags;
  HelpStyle help = HelpStyle::None;
};

/// Breaks lines at spaces so that they end by column 80; all but the first begin at column |indent|.
std::string wrapText(const std::string &text, size_t indent);
/// Splits at commas; an error for an empty part.
Result<std::vector<std::string>> splitList(const std::string &text);
/// The whole of |text| as a decimal integer.
Result<int64_t> parseInteger(const std::string &text);
/// The whole of |text| as a finite number, independent of the locale.
Result<double> parseNumber(const std::string &text);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_FLAGS_H
