//===- ChatSessionTest.cpp - Test of the C++ class ChatSession --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-chat-session MODEL.so MODEL.text SEED MESSAGE MESSAGE...: sends the messages with sampling, at most 9
// tokens a reply, prints each reply on a line and checks that the pieces that the callback gets join to the reply. Then
// checks that a callback ends a reply by an exception or by returning false, and that `reset` forgets the conversation.
//===----------------------------------------------------------------------===//
#include "attune/text_generation.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>

static int failures = 0;

static void expect(bool condition, const char *what) {
  if (!condition) {
    std::fprintf(stderr, "attune-test-chat-session: expected %s\n", what);
    ++failures;
  }
}

int main(int argc, char **argv) {
  if (argc < 6)
    return 2;
  const std::vector<std::string> messages(argv + 4, argv + argc);
  try {
    void *library = dlopen(argv[1], RTLD_NOW);
    const void *descriptor = library ? dlsym(library, "attune_model") : nullptr;
    if (!descriptor)
      throw std::runtime_error(dlerror());
    attune::Model model(*static_cast<const attune_model_desc *>(descriptor));
    attune::TextFile text(argv[2]);
    attune::GenerationOptions options(model);
    options->do_sample = 1;
    options->seed = std::strtoull(argv[3], nullptr, 10);
    options->max_new_tokens = 9;

    enum { Collect, Stop, Throw } action = Collect;
    std::string pieces;
    attune::ChatSettings settings;
    settings.onText = [&](int64_t row, std::string_view piece) {
      expect(row == 0, "row 0");
      pieces += piece;
      if (action == Throw)
        throw std::runtime_error("of the callback");
      return action == Collect;
    };
    std::string reply;
    {
      attune::ChatSession session(model, text, options, settings);
      for (const std::string &message : messages) {
        pieces.clear();
        reply = session.send(message);
        std::printf("%s\n", reply.c_str());
        expect(pieces == reply, "pieces that join to the reply");
        expect(session.last().bytes == reply.size(), "the size of the last reply");
      }
      expect(session.last().reused_tokens > 0, "tokens in the cache");
    }

    options->do_sample = 0; // a reply that is sampled depends on the number of replies before it
    attune::ChatSession session(model, text, options, settings);
    reply = session.send(messages[0]);
    expect(reply.size() > 1, "a reply of several characters");
    const int64_t tokens = session.last().prompt_tokens;
    expect(session.send(messages[1]) != reply && session.last().prompt_tokens > tokens, "a prompt with the first message");
    session.reset();
    expect(session.send(messages[0]) == reply && session.last().prompt_tokens == tokens, "the first reply again after reset");

    session.reset();
    action = Throw;
    pieces.clear();
    try {
      session.send(messages[0]);
      expect(false, "the exception of the callback");
    } catch (const std::runtime_error &error) {
      expect(std::string(error.what()) == "of the callback", "the exception of the callback, not another");
    }
    expect(!pieces.empty() && reply.rfind(pieces, 0) == 0, "the first piece before the exception");

    session.reset();
    action = Stop;
    const std::string stopped = session.send(messages[0]);
    expect(stopped.size() < reply.size() && reply.rfind(stopped, 0) == 0, "a reply that false ends early");

    session.reset();
    action = Collect;
    expect(session.send(messages[0]) == reply, "the first reply again after an exception");

    try {
      settings.system = "abc\xff";
      attune::ChatSession refused(model, text, options, settings);
      expect(false, "an error for a system message that is not UTF-8");
    } catch (const attune::Error &error) {
      expect(std::string(error.what()).find("system is not UTF-8") != std::string::npos, "an error that names the system message");
    }
    try {
      session.send("\xff");
      expect(false, "an error for bytes that are not UTF-8");
    } catch (const attune::Error &error) {
      expect(std::string(error.what()).find("UTF-8") != std::string::npos, "an error that names UTF-8");
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "attune-test-chat-session: error: %s\n", error.what());
    return 1;
  }
  return failures ? 1 : 0;
}
