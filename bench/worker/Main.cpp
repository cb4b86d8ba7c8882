//===- Main.cpp - attune-bench-worker ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Started by the commands of bench/, once for each side of a comparison.
//===----------------------------------------------------------------------===//
#include "bench/worker/Worker.h"
#include "compiler/Tools/Flags.h"

#include <cstdio>
#include <map>

using namespace attune;
using namespace attune::bench;

static int fail(const std::string &message) {
  std::fprintf(stderr, "attune-bench-worker: error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  Request request;
  FlagTable flags;
  flags.addString("model", "FILE", request.model, "OUT.so for ours, a model for onnxruntime");
  flags.addString("input", "FILE", request.input, "input tensors, safetensors");
  flags.addString("library", "FILE", request.library, "libonnxruntime.so");
  flags.addString("disable", "LIST", request.disable, "graph optimisations that onnxruntime shall leave out");
  flags.addSwitch("in-place", request.inPlace, "onnxruntime: what the model calls present_X is the memory of past_X");
  flags.addInteger("threads", "N", request.threads, 1, 4096, "threads, of each session");
  flags.addInteger("sessions", "N", request.sessions, 1, 4096, "how many, for `sessions`");
  flags.addInteger("beams", "N", request.beams, 1, 4096, "beams, for `ours-generate`");
  flags.addInteger("new-tokens", "N", request.newTokens, 1, 1 << 20, "ids to generate, for `ours-generate`, or to feed, for `ours-step`");
  std::vector<std::string> positional;
  if (Status status = flags.parse({argv + 1, argv + argc}, positional); status.failed())
    return fail(status.message());
  if (flags.helpRequested() || positional.size() != 1) {
    std::fprintf(flags.helpRequested() ? stdout : stderr,
                 "usage: attune-bench-worker ours|ours-step|ours-prefill|ours-generate|onnxruntime|sessions|machine [flags]\n\n%s",
                 flags.helpText().c_str());
    return flags.helpRequested() ? 0 : 1;
  }
  if (positional[0] == "machine") {
    serveMachine(request.threads);
    return 0;
  }
  if (positional[0] == "sessions") {
    Result<std::vector<EntryCall>> calls = makeSessions(request);
    if (!calls)
      return fail(calls.message());
    serveSessions(*calls);
    return 0;
  }
  using Make = Result<std::unique_ptr<Subject>> (*)(const Request &);
  static const std::map<std::string, Make> subjects = {
      {"ours", makeOurs}, {"ours-step", makeOursStep}, {"ours-prefill", makeOursPrefill},
      {"ours-generate", makeOursGenerate}, {"onnxruntime", makeOnnxRuntime}};
  auto make = subjects.find(positional[0]);
  if (make == subjects.end())
    return fail("expected ours, ours-step, ours-prefill, ours-generate, onnxruntime, sessions or machine, got '" + positional[0] + "'");
  Result<std::unique_ptr<Subject>> subject = make->second(request);
  if (!subject)
    return fail(subject.message());
  serve(**subject);
  return 0;
}
