//===- Manual.cpp - Help, manual pages and completion from the flags ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Manual.h"
#include "compiler/Tools/ExitStatus.h"
#include "compiler/Tools/ToolRanks.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <system_error>

using namespace attune;

/// The flags of every command, with their meanings.
static const std::pair<const char *, const char *> commonFlags[] = {
    {"--help", "lists the flags of the command, --help=all the rarer ones, too"},
    {"--quiet", "prints errors and results only: no warnings, notices or progress"},
    {"--version", "prints the version"},
};

ManualSection attune::environmentSection() {
  return {"ENVIRONMENT",
          "Variables that all commands read.",
          {{"ATTUNE_THREADS", "The number of workers, unless --threads says another. Default: as many as the affinity mask has CPUs."},
           {"ATTUNE_RANKS_TIMEOUT", "Seconds that a rank of a divided model waits for another one, by default 30."},
           {"ATTUNE_TRANSPORT", "A library that connects the ranks of a divided model, instead of that for the MPI of mpirun."},
           {"NO_COLOR", "If it is not empty, nothing on a terminal is colored or bold."}}};
}

/// Escapes the characters of |text| that troff would take for a request, an escape sequence or a hyphen.
static std::string escapeRoff(const std::string &text) {
  std::string result;
  bool lineStart = true;
  for (char c : text) {
    if (lineStart && (c == '.' || c == '\''))
      result += "\\&";
    lineStart = c == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

static std::string formatManual(const FlagTable &flags, const std::string &command, const std::string &summary) {
  std::string text = ".SS " + escapeRoff(command) + "\n";
  std::string body = escapeRoff(summary);
  for (size_t at = 0; (at = body.find("\n\n", at)) != std::string::npos; at += 5)
    body.replace(at, 2, "\n.PP\n");
  text += body + "\n";
  for (const FlagText &flag : flags.texts()) {
    const char *join = flag.value.empty() ? "" : flag.name.size() == 2 ? " " : "=";
    text += ".TP\n\\fB" + escapeRoff(flag.name) + "\\fR" + join + (flag.value.empty() ? "" : "\\fI" + escapeRoff(flag.value) + "\\fR") +
            "\n" + escapeRoff(flag.help) + "\n";
  }
  return text;
}

/// Escapes `|`, `*`, `_` and `<` in |text|, which Markdown would read as markup.
static std::string escapeMarkdown(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<')
      result += '\\';
    result += c;
  }
  return result;
}

static std::string formatMarkdown(const FlagTable &flags, const std::string &command, const std::string &summary) {
  std::string text = "## " + command.substr(0, command.find(' ', command.find(' ') + 1)) + "\n\n    " + command + "\n\n" +
                     escapeMarkdown(summary) + "\n\n";
  if (!flags.texts().empty())
    text += "| flag | meaning |\n|---|---|\n";
  for (const FlagText &flag : flags.texts()) {
    const char *join = flag.value.empty() ? "" : flag.name.size() == 2 ? " " : "=";
    std::string value = flag.value;
    for (size_t at = 0; (at = value.find('|', at)) != std::string::npos; at += 2)
      value.replace(at, 1, "\\|");
    text += "| `" + flag.name + join + value + "` | " + escapeMarkdown(flag.help) + " |\n";
  }
  return text + "\n";
}

/// Returns true if |value|, the value of a flag in help, lists the words to choose from ("object|shared"), rather than
/// placeholders in capitals ("FILE|DIR").
static bool hasChoices(const std::string &value) {
  return value.find('|') != std::string::npos && std::none_of(value.begin(), value.end(), [](unsigned char c) { return std::isupper(c); });
}

/// Returns the case for |command| in the `case $command` of the completion script. It sets `flags` to the flags of the
/// command and, if $flag has choices, `words` to these.
static std::string formatCompletion(const FlagTable &flags, const std::string &command) {
  std::string names, choices;
  for (const auto &[name, meaning] : commonFlags)
    names += (names.empty() ? "" : " ") + std::string(name);
  for (const FlagText &flag : flags.texts()) {
    names += " " + flag.name + (flag.value.empty() || flag.name.size() == 2 ? "" : "=");
    if (!hasChoices(flag.value))
      continue;
    std::string words = flag.value;
    std::replace(words.begin(), words.end(), '|', ' ');
    choices += "    " + flag.name + ") words='" + words + "' ;;\n";
  }
  return "  " + command + ")\n    flags='" + names + "'\n" + (choices.empty() ? "" : "    case $flag in\n" + choices + "    esac\n") +
         "    ;;\n";
}

std::string attune::formatHelp(const FlagTable &flags, const std::string &tool, const std::string &usage, const std::string &summary) {
  switch (flags.helpStyle()) {
  case HelpStyle::Manual:
    return formatManual(flags, tool + " " + usage, summary);
  case HelpStyle::Completion:
    return formatCompletion(flags, usage.substr(0, usage.find(' ')));
  case HelpStyle::Markdown:
    return formatMarkdown(flags, tool + " " + usage, summary);
  default:
    return "usage: " + wrapText(tool + " " + usage, 7) + "\n\n" + wrapText(summary, 0) + "\n\n" +
           flags.helpText(/*showsFolded=*/flags.helpStyle() == HelpStyle::All);
  }
}

/// Returns the tool's own --help, one line per command.
static std::string formatCommands(const ToolManual &manual) {
  size_t width = 0;
  for (const CommandEntry &command : manual.commands)
    width = std::max(width, command.name.size());
  std::string text = "usage: " + manual.tool + " " + manual.usage + "\n\n";
  for (const CommandEntry &command : manual.commands)
    text += "  " + command.name + std::string(width - command.name.size() + 3, ' ') + command.summary + "\n";
  text += "\nEvery command takes\n";
  for (const auto &[name, meaning] : commonFlags)
    text += "  " + std::string(name) + std::string(11 - std::strlen(name), ' ') + meaning + "\n";
  return text + "\n" + manual.closing + "\n";
}

static int printManual(const ToolManual &manual, const std::string &version) {
  std::string name = manual.tool;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  std::printf(".TH %s 1 \"\" \"%s %s\" \"Attune\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n%s\n", name.c_str(), manual.tool.c_str(),
              version.c_str(), escapeRoff(manual.tool).c_str(), escapeRoff(manual.title).c_str(), escapeRoff(manual.tool).c_str(),
              escapeRoff(manual.usage).c_str());
  std::printf(".SH DESCRIPTION\n");
  for (const CommandEntry &command : manual.commands)
    std::printf(".TP\n.B %s\n%s\n", command.name.c_str(), escapeRoff(command.summary).c_str());
  std::printf(".PP\n%s\n.SH COMMANDS\nFlags with a value accept \\fB\\-\\-flag\\fR=\\fIvalue\\fR and \\fB\\-\\-flag\\fR \\fIvalue\\fR.\n",
              escapeRoff(manual.closing).c_str());
  std::printf(".SS Flags of every command\n");
  for (const auto &[name, meaning] : commonFlags)
    std::printf(".TP\n\\fB%s\\fR\n%s\n", escapeRoff(name).c_str(), escapeRoff(meaning).c_str());
  for (const CommandEntry &command : manual.commands)
    if (int status = command.run({"--help=man"}))
      return status;
  for (const ManualSection &section : manual.sections) {
    std::printf(".SH %s\n%s\n", escapeRoff(section.title).c_str(), escapeRoff(section.text).c_str());
    for (const auto &[name, text] : section.items)
      std::printf(".TP\n.B %s\n%s\n", escapeRoff(name).c_str(), escapeRoff(text).c_str());
  }
  // Only diff and bisect have the status 2, and attune-run has no bisect.
  bool bisects = std::any_of(manual.commands.begin(), manual.commands.end(), [](const CommandEntry &one) { return one.name == "bisect"; });
  std::printf(".SH EXIT STATUS\n0 if done, 1 if the input or the flags were rejected: one line on standard error says what, and no "
              "output is left\nbehind.\n.PP\n"
              "\\fBcheck\\fR: 0 if all cases pass, else 1.\n.PP\n"
              "\\fBdiff\\fR: 0 if the files are equal, 1 if they differ, 2 if they cannot be compared or the flags were rejected.\n.PP\n"
              "%s"
              "Interrupted by a signal: 128 and its number, as the shell counts; no output is left behind then, either.\n",
              bisects ? "\\fBbisect\\fR: 0 if no number is wrong, 1 if one is, 2 if the search is not possible or the flags were "
                        "rejected.\n.PP\n"
                      : "");
  return exitDone;
}

/// Prints a page in Markdown: the commands, each with its flags, and the sections of the manual.
static int printMarkdown(const ToolManual &manual) {
  std::printf("# %s\n\n%s. Usage: `%s %s`\n\n| command | work |\n|---|---|\n", manual.tool.c_str(), escapeMarkdown(manual.title).c_str(),
              manual.tool.c_str(), manual.usage.c_str());
  for (const CommandEntry &command : manual.commands)
    std::printf("| `%s` | %s |\n", command.name.c_str(), escapeMarkdown(command.summary).c_str());
  std::printf("\nFlags with a value accept `--flag=value` and `--flag value`.\n\n| flag of every command | meaning |\n|---|---|\n");
  for (const auto &[name, meaning] : commonFlags)
    std::printf("| `%s` | %s |\n", name, meaning);
  std::printf("\n");
  for (const CommandEntry &command : manual.commands)
    if (int status = command.run({"--help=markdown"}))
      return status;
  for (const ManualSection &section : manual.sections) {
    std::printf("## %s\n\n%s\n\n", section.title.c_str(), escapeMarkdown(section.text).c_str());
    for (const auto &[name, text] : section.items)
      std::printf("- `%s`: %s\n", name.c_str(), escapeMarkdown(text).c_str());
  }
  return exitDone;
}

/// Prints a bash completion function. bash passes `--flag=value` to it as three words.
static int printCompletion(const ToolManual &manual) {
  std::string function = "_" + manual.tool, commands;
  std::replace(function.begin(), function.end(), '-', '_');
  for (const CommandEntry &command : manual.commands)
    commands += (commands.empty() ? "" : " ") + command.name;
  std::printf("# Completion of %s for bash, made by %s --help=bash\n%s() {\n", manual.tool.c_str(), manual.tool.c_str(), function.c_str());
  std::printf("  local current=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} flags='' words=''\n"
              "  COMPREPLY=()\n"
              "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
              "    COMPREPLY=($(compgen -W '%s --help --quiet --version' -- \"$current\"))\n"
              "    return\n"
              "  fi\n"
              "  if [ \"$current\" = = ]; then\n"
              "    current=''\n"
              "  elif [ \"$flag\" = = ]; then\n"
              "    flag=${COMP_WORDS[COMP_CWORD-2]}\n"
              "  fi\n"
              "  case $command in\n",
              commands.c_str());
  for (const CommandEntry &command : manual.commands)
    if (int status = command.run({"--help=bash"}))
      return status;
  std::printf("  esac\n"
              "  if [ -n \"$words\" ]; then\n"
              "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
              "  elif [[ $current == -* ]]; then\n"
              "    COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
              "    if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi\n"
              "  else\n"
              "    local IFS=$'\\n'\n"
              "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
              "    compopt -o filenames\n"
              "  fi\n"
              "}\n"
              "complete -F %s %s\n",
              function.c_str(), manual.tool.c_str());
  return exitDone;
}

/// Executes the command that |arguments| begin with, or answers --help.
static int runToolCommand(const ToolManual &manual, const std::string &version, const std::vector<std::string> &arguments,
                          const std::function<std::string(const std::string &)> &hint) {
  std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "--help=man")
    return printManual(manual, version);
  if (command == "--help=bash")
    return printCompletion(manual);
  if (command == "--help=markdown")
    return printMarkdown(manual);
  if (command.empty() || command == "--help" || command == "-h" || command == "help") {
    std::fputs(formatCommands(manual).c_str(), command.empty() ? stderr : stdout);
    return command.empty() ? exitRejected : exitDone;
  }
  for (const CommandEntry &entry : manual.commands)
    if (entry.name == command)
      try {
        return entry.run({arguments.begin() + 1, arguments.end()});
      } catch (const std::system_error &error) { // thrown by std::thread if a thread cannot be started
        return reportError(manual.tool, std::string("cannot start a thread: ") + error.what());
      }
  return reportError(manual.tool, "unknown command '" + command + "'" + hint(command) + "; " + manual.tool + " --help lists the commands");
}

int attune::runTool(const ToolManual &manual, const std::string &version, std::vector<std::string> arguments,
                    const std::function<std::string(const std::string &)> &hint) {
  int status = exitDone;
  auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (std::find(arguments.begin(), end, "--version") != end) {
    std::printf("%s %s\n", manual.tool.c_str(), version.c_str());
  } else {
    if (auto kept = std::remove(arguments.begin(), end, "--quiet"); kept != end) {
      setQuiet();
      arguments.erase(kept, end);
    }
    status = runToolCommand(manual, version, arguments, hint);
  }
  // Reports a full disk or a closed pipe as an error.
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    status = reportError(manual.tool, "cannot write to standard output");
  ranks::leave();
  return status;
}
