//===- Flags.h - Command-line flags of the commands -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of flags bound to variables. Value flags accept `--flag=value` and, unless the value begins with `--`,
// `--flag value`; `--` ends the flags. All commands accept `--help` and `--help=all`, and also `--help=man`,
// `--help=bash` and `--help=markdown`, from which manual, completion and reference are generated.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_FLAGS_H
#define ATTUNE_COMPILER_TOOLS_FLAGS_H

#include "compiler/Support/Status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// The output format of --help: text for a terminal, the same with the flags of folded groups, a section of a manual
/// page, a case of a completion script, or a section of a Markdown page.
enum class HelpStyle { None, Screen, All, Manual, Completion, Markdown };

/// The text of a flag for help: |name| with its dashes, |value| the word for its value, "" for a switch.
struct FlagText {
  std::string name, value, help;
};

/// The flags of one command. A bound variable must outlive the table; it keeps its value, the default, if the flag is
/// not given. A name that is added twice is one flag that sets both variables, with the first help line: a command and
/// its tool may both need `--dtype`.
class FlagTable {
public:
  /// Begins a group of the flags that are added next. Help shows them under |title|. If the group is folded, --help
  /// lists their names only, and --help=all shows them as others. Flags that are added before the first group have no
  /// title.
  void beginGroup(const std::string &title, bool isFolded = false) { groups.push_back({title, isFolded}); }
  /// Adds `--name`, without a value.
  void addSwitch(const std::string &name, bool &target, const std::string &help);
  /// Adds `--name=VALUE`; |value| is the word that help shows ("FILE").
  void addString(const std::string &name, const std::string &value, std::string &target, const std::string &help);
  /// Adds an integer in [min, max].
  void addInteger(const std::string &name, const std::string &value, int64_t &target, int64_t min, int64_t max, const std::string &help);
  /// Adds an integer in [min, max] without a default.
  void addInteger(const std::string &name, const std::string &value, std::optional<int64_t> &target, int64_t min, int64_t max,
                  const std::string &help);
  /// Adds a non-negative number.
  void addNumber(const std::string &name, const std::string &value, double &target, const std::string &help);
  /// Adds a list separated by commas; empty parts are an error. If the flag is given twice, the lists are joined.
  void addList(const std::string &name, const std::string &value, std::vector<std::string> &target, const std::string &help);
  /// Adds a flag that may be given several times; each value is appended as it is.
  void addRepeated(const std::string &name, const std::string &value, std::vector<std::string> &target, const std::string &help);
  /// Adds a flag with its own reader, which is called for each occurrence. The flag's name is added to the reader's
  /// message.
  void addCustom(const std::string &name, const std::string &value, const std::string &help,
                 std::function<Status(const std::string &)> read);

  /// Adds |former|, which help does not show, as another name of the flag |name|.
  void addFormerName(const std::string &former, const std::string &name) { formerNames.emplace_back(former, name); }
  /// Parses |arguments|. Words that are no flags are appended to |positional|. A name of one letter is written with one
  /// dash ("-o").
  Status parse(const std::vector<std::string> &arguments, std::vector<std::string> &positional);
  /// Returns the names and values of the flags that parse found, in order.
  const std::vector<std::pair<std::string, std::string>> &given() const { return found; }
  /// Returns true if parse found --help.
  bool helpRequested() const { return help != HelpStyle::None; }
  /// Returns the style of the last --help; None if there was none.
  HelpStyle helpStyle() const { return help; }
  /// Returns all flags in order.
  std::vector<FlagText> texts() const;
  /// Returns the flags of all groups with their help, aligned. Unless |showsFolded|, a folded group has only the names
  /// of its flags.
  std::string helpText(bool showsFolded = true) const;

private:
  struct Flag {
    std::string name;
    std::string value; // "" for a switch
    std::string help;
    std::function<Status(const std::string &)> read;
    size_t group; // index in |groups|
  };
  struct Group {
    std::string title;
    bool isFolded;
  };
  const Flag *find(const std::string &name) const;
  /// Returns the hint for an unknown flag.
  std::string hintFor(const std::string &name) const;

  std::vector<Flag> flags;
  std::vector<Group> groups = {{"", false}};
  std::vector<std::pair<std::string, std::string>> formerNames, found;
  HelpStyle help = HelpStyle::None;
};

/// Replaces spaces by line breaks so that lines end by column 80, where words allow it. All lines but the first get
/// |indent| spaces before them; the caller prints the first one at that column.
std::string wrapText(const std::string &text, size_t indent);
/// Splits at commas; an error for an empty part.
Result<std::vector<std::string>> splitList(const std::string &text);
/// Parses the whole of |text| as a decimal integer.
Result<int64_t> parseInteger(const std::string &text);
/// Parses the whole of |text| as a finite number, independent of the locale.
Result<double> parseNumber(const std::string &text);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_FLAGS_H
