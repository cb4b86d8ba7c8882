//===- ConfigTrace.cpp - The keys that a reader asks for ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/ConfigTrace.h"
#include "compiler/Support/Strings.h"

#include <algorithm>

using namespace attune;

void ConfigTrace::note(const std::string &name, const std::string &fallback, const std::string &expected) {
  auto known = std::find_if(keys.begin(), keys.end(), [&](const TracedKey &key) { return key.name == name; });
  if (known == keys.end()) {
    keys.push_back({name, fallback, expected});
    return;
  }
  if (known->fallback.empty())
    known->fallback = fallback;
  if (known->expected.empty() || startsWith(expected, "one of"))
    known->expected = expected.empty() ? known->expected : expected;
}

void ConfigTrace::noteRefused(const std::string &name, const std::string &reason) {
  if (std::none_of(refused.begin(), refused.end(), [&](const auto &entry) { return entry.first == name; }))
    refused.emplace_back(name, reason);
}
