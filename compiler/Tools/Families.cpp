//===- Families.cpp - The command families --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"
#include "compiler/Tools/CompilerCommands.h"

#include <cstdio>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

static OrderedJson describeFamily(const Family &family) {
  ConfigTrace trace = traceFamily(family, /*everyClass=*/true);
  OrderedJson keys = OrderedJson::array(), refused = OrderedJson::array();
  for (const TracedKey &key : trace.keys)
    keys.push_back({{"key", key.name}, {"default", key.fallback}, {"values", key.expected}});
  for (const auto &[key, reason] : trace.refused)
    refused.push_back({{"key", key}, {"reason", reason}});
  return {{"model_type", family.first}, {"architectures", trace.classes}, {"keys", keys}, {"refused", refused}};
}

static std::string textOf(const OrderedJson &value) { return value.get<std::string>(); }

/// Prints the classes of |family|, a result of describeFamily, and, if |whole|, the keys of config.json that the family
/// reads and those that it refuses.
static void printFamily(const OrderedJson &family, bool whole) {
  std::string classes;
  for (const OrderedJson &name : family["architectures"])
    classes += (classes.empty() ? "" : " ") + textOf(name);
  std::printf("%s\n  %s\n", textOf(family["model_type"]).c_str(), wrapText(classes, 2).c_str());
  if (!whole)
    return;
  std::printf("keys, their defaults and values\n");
  for (const OrderedJson &key : family["keys"]) {
    std::string line = textOf(key["key"]) + (textOf(key["default"]).empty() ? "" : " = " + textOf(key["default"]));
    std::printf("  %s\n", wrapText(line + (textOf(key["values"]).empty() ? "" : ", " + textOf(key["values"])), 4).c_str());
  }
  if (!family["refused"].empty())
    std::printf("keys that must be absent or off\n");
  for (const OrderedJson &key : family["refused"])
    std::printf("  %s\n", wrapText(textOf(key["key"]) + ": " + textOf(key["reason"]), 4).c_str());
}

int attune::runFamiliesCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  bool json = false;
  FlagTable flags;
  flags.addSwitch("json", json, "print one JSON array");
  std::string only;
  if (std::optional<int> status = parseModelArguments(
          host, flags, arguments, only, "families [FAMILY] [flags]",
          "Lists the families of models that can be compiled, by the model_type of their config.json, with the classes that architectures "
          "may name; of one FAMILY also the keys that it reads, their defaults, and the keys that it refuses."))
    return *status;
  OrderedJson list = OrderedJson::array();
  std::string known;
  for (const Family &family : modelFamilies()) {
    known += (known.empty() ? "" : ", ") + std::string(family.first);
    if (only.empty() || only == family.first)
      list.push_back(describeFamily(family));
  }
  if (list.empty())
    return reportError(host.tool, "expected one of " + known + ", got '" + only + "'");
  if (json)
    std::printf("%s\n", list.dump(1).c_str());
  else
    for (const OrderedJson &family : list)
      printFamily(family, !only.empty());
  return exitDone;
}
