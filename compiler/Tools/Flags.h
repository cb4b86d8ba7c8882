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

/// The output format of --help. None: --help is not given. Screen: text for a terminal, without the help of folded
/// groups. All: the same with their help. Manual: a section of a manual page. Completion: a case of a bash completion
/// script. Markdown: a section of a Markdown page.
enum class HelpStyle { None, Screen, All, Manual, Completion, Markdown };

/// The text of a flag for help. |name| includes the dashes. |value| is the word that help shows for the value, such as
/// FILE; "" for a switch.
struct FlagText {
  std::string name, value, help;
};

/// The flags of one command. A bound variable must outlive the table; it keeps its value, the default, if the flag is
/// not given. A command and its tool may add the same name. It is then one flag with the help of the first addition,
/// and it sets both variables.
class FlagTable {
public:
  /// Begins a group of the flags that are added next. Help shows them under |title|. If the group is folded, --help
  /// lists only the names of its flags; --help=all shows their help, too. Flags that are added before the first group
  /// have no title.
  void beginGroup(const std::string &title, bool isFolded = false) { groups.push_back({title, isFolded}); }
  /// Adds `--name`, without a value.
  void addSwitch(const std::string &name, bool &target, const std::string &help);
  /// Adds `--name=VALUE`; |value| is the word that help shows ("FILE").
  void addString(const std::string &name, const std::string &value, std::string &target, const std::string &help);
  /// Adds a flag whose value is an integer in [min, max].
  void addInteger(const std::string &name, const std::string &value, int64_t &target, int64_t min, int64_t max, const std::string &help);
  /// Adds a flag whose value is an integer in [min, max]. |target| stays nullopt if the flag is not given.
  void addInteger(const std::string &name, const std::string &value, std::optional<int64_t> &target, int64_t min, int64_t max,
                  const std::string &help);
  /// Adds a flag whose value is a finite number of at least 0.
  void addNumber(const std::string &name, const std::string &value, double &target, const std::string &help);
  /// Adds a flag whose value is a list separated by commas; an empty part is an error. Each occurrence appends its
  /// parts to |target|.
  void addList(const std::string &name, const std::string &value, std::vector<std::string> &target, const std::string &help);
  /// Adds a flag that may be given several times; each occurrence appends its value to |target| as it is.
  void addRepeated(const std::string &name, const std::string &value, std::vector<std::string> &target, const std::string &help);
  /// Adds a flag with its own reader. parse calls |read| with the value of each occurrence, "" for a switch, and fails
  /// if |read| fails, with the name of the flag before the message of |read|. |value| is "" for a switch.
  void addCustom(const std::string &name, const std::string &value, const std::string &help,
                 std::function<Status(const std::string &)> read);

  /// Adds |former|, which help does not show, as another name of the flag |name|.
  void addFormerName(const std::string &former, const std::string &name) { formerNames.emplace_back(former, name); }
  /// Parses |arguments|, and appends words that are not flags, such as "-", to |positional|. A flag whose name is one
  /// letter has one dash ("-o"). Fails at the first flag that is unknown or has a wrong value.
  Status parse(const std::vector<std::string> &arguments, std::vector<std::string> &positional);
  /// Returns name and value of each flag that parse found, except --help, in the order of the arguments. Names have no
  /// dashes.
  const std::vector<std::pair<std::string, std::string>> &given() const { return found; }
  /// Returns true if parse found --help.
  bool helpRequested() const { return help != HelpStyle::None; }
  /// Returns the style of the last --help; None if there was none.
  HelpStyle helpStyle() const { return help; }
  /// Returns all flags in the order in which they were added.
  std::vector<FlagText> texts() const;
  /// Returns a text with the flags of all groups and their help, which begins at the same column everywhere. Unless
  /// |showsFolded|, a folded group has only the names of its flags.
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
  /// Returns the hint for the unknown flag |name|: a flag with a similar name, else that --help lists the flags.
  std::string hintFor(const std::string &name) const;

  std::vector<Flag> flags;
  std::vector<Group> groups = {{"", false}};
  std::vector<std::pair<std::string, std::string>> formerNames, found;
  HelpStyle help = HelpStyle::None;
};

/// Replaces spaces of |text| by line breaks so that lines have at most 80 columns, unless a single word is longer. Puts
/// |indent| spaces before each line but the first, which the caller prints behind |indent| columns of its own.
std::string wrapText(const std::string &text, size_t indent);
/// Splits |text| at commas. Fails if a part is empty, as in "a,,b" and in "".
Result<std::vector<std::string>> splitList(const std::string &text);
/// Parses the whole of |text| as a decimal integer. Fails for another text, or if the integer does not fit int64_t.
Result<int64_t> parseInteger(const std::string &text);
/// Parses the whole of |text| as a finite number, independent of the locale.
Result<double> parseNumber(const std::string &text);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_FLAGS_H
