//===- Settings.cpp - How the fake driver behaves ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Settings.h"

#include <cstdlib>
#include <cstring>

using namespace attune::fake;

/// Applies the setting |word|, such as "random=3". Aborts if no setting has this name.
static void apply(Settings &settings, const std::string &word) {
  size_t equals = word.find('=');
  std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
  auto number = [&] { return std::strtoull(value.c_str(), nullptr, 10); };
  if (key == "lazy")
    settings.lazy = true;
  else if (key == "random")
    settings.random = true, settings.seed = static_cast<uint32_t>(number());
  else if (key == "watch")
    settings.watch = number() != 0;
  else if (key == "arch")
    settings.arch = static_cast<uint32_t>(number());
  else if (key == "devices")
    settings.devices = static_cast<uint32_t>(number());
  else if (key == "memory")
    settings.memory = number();
  else if (key == "log")
    settings.log = std::fopen(value.c_str(), "w");
  else if (key == "fail") {
    size_t call = value.find(':'), code = value.find(':', call + 1);
    settings.failing = value.substr(0, call);
    settings.failingCall = static_cast<uint32_t>(std::atoi(value.c_str() + call + 1));
    settings.failingCode = std::atoi(value.c_str() + code + 1);
  } else {
    std::fprintf(stderr, "ATTUNE_FAKE_CUDA: unknown word '%s'\n", word.c_str());
    std::abort();
  }
}

const Settings &Settings::get() {
  static const Settings settings = [] {
    Settings made;
    const char *text = std::getenv("ATTUNE_FAKE_CUDA");
    for (std::string rest = text ? text : ""; !rest.empty();) {
      size_t comma = rest.find(',');
      apply(made, rest.substr(0, comma));
      rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    return made;
  }();
  return settings;
}
