//===- Worker.cpp - llama.cpp or ik_llama.cpp as one side of a comparison ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Built by bench/llama/setup with the header and the library of either project; ATTUNE_BENCH_IK chooses the names of
// ik_llama.cpp.
//
//   quantize FROM TO TYPE [--keep-embedding]     writes a GGUF file with weights of TYPE, such as q4_0
//   time FILE PAST TOKENS --threads=N            answers the commands of bench/worker/Worker.h
//   logits FILE IDS --threads=N                  IDS is a file of 32-bit ids; answers lines "window BEGIN COUNT PATH" by
//                                                writing the logits of these ids, read as one text, to PATH
//
// A timed call appends |TOKENS| tokens to |PAST| others, whose keys and values are in the cache, and computes the logits
// of the last one. Weights are repacked for the CPU when they are loaded.
//===----------------------------------------------------------------------===//
#include "llama.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

static int fail(const std::string &message) {
  std::fprintf(stderr, "llama-worker: error: %s\n", message.c_str());
  return 1;
}

/// Prints errors and drops all other messages.
static void print(ggml_log_level level, const char *text, void *) {
  if (level == GGML_LOG_LEVEL_ERROR)
    std::fputs(text, stderr);
}

namespace {
/// A type to which llama.cpp quantizes weights, by the name in a request. If |isMixture|, it stores some matrices with
/// more bits.
struct WeightType {
  const char *name;
  llama_ftype type;
  bool isMixture;
};
} // namespace

static const WeightType kTypes[] = {
    {"q8_0", LLAMA_FTYPE_MOSTLY_Q8_0, false},     {"q6_K", LLAMA_FTYPE_MOSTLY_Q6_K, false},     {"q5_0", LLAMA_FTYPE_MOSTLY_Q5_0, false},
    {"q5_1", LLAMA_FTYPE_MOSTLY_Q5_1, false},     {"q4_0", LLAMA_FTYPE_MOSTLY_Q4_0, false},     {"q4_1", LLAMA_FTYPE_MOSTLY_Q4_1, false},
    {"iq4_nl", LLAMA_FTYPE_MOSTLY_IQ4_NL, false}, {"q5_K_M", LLAMA_FTYPE_MOSTLY_Q5_K_M, true},  {"q4_K_M", LLAMA_FTYPE_MOSTLY_Q4_K_M, true},
    {"q4_K_S", LLAMA_FTYPE_MOSTLY_Q4_K_S, true},  {"q3_K_M", LLAMA_FTYPE_MOSTLY_Q3_K_M, true},
};

/// Quantizes |from|. The embedding gets the type of the matrices, or stays f32.
static int quantize(const char *from, const char *to, const std::string &name, bool keepEmbedding) {
  llama_model_quantize_params params = llama_model_quantize_default_params();
  const WeightType *found = nullptr;
  std::string known;
  for (const WeightType &type : kTypes) {
    known += std::string(known.empty() ? "" : ", ") + type.name;
    if (name == type.name)
      found = &type;
  }
  if (!found)
    return fail("expected a type of weights (" + known + "), got '" + name + "'");
  params.ftype = found->type;
  // The head has the same type as the other matrices, except in a mixture.
  params.pure = !found->isMixture;
  params.allow_requantize = true;
  if (keepEmbedding)
    params.token_embedding_type = GGML_TYPE_F32;
  return llama_model_quantize(from, to, &params) == 0 ? 0 : fail(std::string(to) + ": cannot be written");
}

namespace {
/// The most tokens of a batch.
constexpr int32_t kBatch = 512;

class Model {
public:
  /// Loads |file| and reads a prompt of |past| tokens.
  bool open(const char *file, int32_t past, int32_t tokens, int32_t threads) {
    llama_model_params options = llama_model_default_params();
#ifdef ATTUNE_BENCH_IK
    options.use_mmap = false;
    options.repack_tensors = true;
#endif
    llama_model *model = llama_model_load_from_file(file, options);
    if (!model)
      return false;
    llama_context_params wanted = llama_context_default_params();
    wanted.n_ctx = static_cast<uint32_t>((past + tokens + 255) / 256 * 256);
    wanted.n_batch = wanted.n_ubatch = kBatch;
    wanted.n_threads = wanted.n_threads_batch = threads;
    context = llama_init_from_model(model, wanted);
    if (!context)
      return false;
    words = llama_vocab_n_tokens(llama_model_get_vocab(model));
    this->past = past;
    // The same ids as bench/support/models.py makes for Attune.
    for (int32_t i = 0; i < past + tokens; ++i)
      ids.push_back((i * 7919 + 13) % words);
    return past == 0 || append(0, past);
  }

  bool run() {
    forget(past);
    return append(past, static_cast<int32_t>(ids.size()));
  }

  /// Reads |text| from the first token on and appends the logits of all tokens to |file|.
  bool writeLogits(const std::vector<llama_token> &text, std::FILE *file) {
    forget(0);
    ids = text;
    size_t size = outputSize();
    for (int32_t first = 0, end = static_cast<int32_t>(ids.size()); first < end; first += kBatch) {
      int32_t next = std::min(end, first + kBatch);
      if (!append(first, next, /*all=*/true))
        return false;
      for (int32_t i = 0; i < next - first; ++i)
        if (std::fwrite(llama_get_logits_ith(context, i), sizeof(float), size, file) != size)
          return false;
    }
    return true;
  }

  const float *output() const { return llama_get_logits_ith(context, -1); }
  size_t outputSize() const { return static_cast<size_t>(words); }

private:
  /// Drops the keys and values of all tokens from |first| on.
  void forget(int32_t first) {
#ifdef ATTUNE_BENCH_IK
    llama_kv_cache_seq_rm(context, 0, first, -1);
#else
    llama_memory_seq_rm(llama_get_memory(context), 0, first, -1);
#endif
  }

  /// Appends the tokens |begin| to |end| - 1, in batches, and computes the logits of the last one or of |all|.
  bool append(int32_t begin, int32_t end, bool all = false) {
    for (int32_t first = begin; first < end; first += kBatch) {
      int32_t count = std::min(kBatch, end - first);
      llama_batch batch = llama_batch_init(count, 0, 1);
      batch.n_tokens = count;
      for (int32_t i = 0; i < count; ++i) {
        batch.token[i] = ids[static_cast<size_t>(first + i)];
        batch.pos[i] = first + i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = all || first + i + 1 == end;
      }
      int32_t status = llama_decode(context, batch);
      llama_batch_free(batch);
      if (status != 0)
        return false;
    }
    llama_synchronize(context);
    return true;
  }

  llama_context *context = nullptr;
  std::vector<llama_token> ids;
  int32_t past = 0, words = 0;
};
} // namespace

static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Answers `run SECONDS`: one call untimed, then at least two timed.
static bool timeCalls(Model &model, double seconds) {
  std::vector<double> times;
  if (!model.run())
    return false;
  for (Clock::time_point start = Clock::now(); times.size() < 2 || since(start) < seconds;) {
    Clock::time_point begin = Clock::now();
    if (!model.run())
      return false;
    times.push_back(since(begin) * 1e3);
  }
  std::printf("{\"ms\": [");
  for (size_t i = 0; i < times.size(); ++i)
    std::printf("%s%.6f", i ? ", " : "", times[i]);
  std::printf("]}\n");
  return true;
}

static bool saveOutput(Model &model, const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool written = file && std::fwrite(model.output(), sizeof(float), model.outputSize(), file) == model.outputSize();
  if ((file && std::fclose(file) != 0) || !written)
    return false;
  std::printf("{\"elements\": %zu}\n", model.outputSize());
  return true;
}

/// Answers `window BEGIN COUNT PATH` for the ids |text|.
static bool saveWindow(Model &model, const std::vector<llama_token> &text, const std::string &line) {
  std::istringstream words(line);
  std::string command, path;
  size_t begin = 0, count = 0;
  if (!(words >> command >> begin >> count >> path) || command != "window" || begin > text.size() || count > text.size() - begin)
    return false;
  std::FILE *file = std::fopen(path.c_str(), "wb");
  auto first = text.begin() + static_cast<std::ptrdiff_t>(begin);
  bool written = file && model.writeLogits({first, first + static_cast<std::ptrdiff_t>(count)}, file);
  if ((file && std::fclose(file) != 0) || !written)
    return false;
  std::printf("{\"elements\": %zu}\n", count * model.outputSize());
  return true;
}

/// Returns the 32-bit ids in the file |path|.
static std::vector<llama_token> readIds(const char *path) {
  std::vector<llama_token> ids;
  std::FILE *file = std::fopen(path, "rb");
  for (llama_token id; file && std::fread(&id, sizeof(id), 1, file) == 1;)
    ids.push_back(id);
  if (file)
    std::fclose(file);
  return ids;
}

int main(int argc, char **argv) {
  llama_log_set(print, nullptr);
  llama_backend_init();
  std::string command = argc > 1 ? argv[1] : "", last = argv[argc - 1];
  bool keepEmbedding = last == "--keep-embedding";
  if (command == "quantize" && argc == 5 + keepEmbedding)
    return quantize(argv[2], argv[3], argv[4], keepEmbedding);
  bool timed = command == "time" && argc == 6;
  if (!timed && (command != "logits" || argc != 5))
    return fail("usage: llama-worker quantize FROM TO TYPE [--keep-embedding] | time FILE PAST TOKENS --threads=N | "
                "logits FILE IDS --threads=N");
  int32_t threads = std::atoi(last.c_str() + last.find('=') + 1);
  Model model;
  if (!(timed ? model.open(argv[2], std::atoi(argv[3]), std::atoi(argv[4]), threads) : model.open(argv[2], 0, kBatch, threads)))
    return fail(std::string(argv[2]) + ": cannot be loaded");
  std::vector<llama_token> text;
  if (!timed)
    text = readIds(argv[3]);
  for (std::string line; std::getline(std::cin, line); std::fflush(stdout)) {
    size_t space = line.find(' ');
    std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    bool done = !timed                         ? saveWindow(model, text, line)
                : line.substr(0, space) == "run" ? timeCalls(model, std::atof(rest.c_str()))
                                                 : saveOutput(model, rest);
    if (!done)
      std::printf("{\"error\": \"the call failed\"}\n");
  }
  return 0;
}
