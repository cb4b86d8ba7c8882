//===- generate.hpp - C++17 wrapper of text generation ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header only, as runtime.hpp is.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GENERATE_HPP
#define ATTUNE_GENERATE_HPP

#include "attune/generate.h"
#include "attune/runtime.hpp"

#include <exception>
#include <functional>

namespace attune {

/// The options of a generation: `options->num_beams = 4`. The caller owns the lists that the fields point to. Cannot be
/// copied or moved.
class GenerationOptions {
public:
  /// Sets the options to the settings of |model|.
  explicit GenerationOptions(const Model &model) { attune_generation_options_init(model.get(), &fields); }
  GenerationOptions(const GenerationOptions &) = delete;
  GenerationOptions &operator=(const GenerationOptions &) = delete;

  attune_generation_options *operator->() { return &fields; }
  const attune_generation_options &c() const { return fields; }

  /// Calls |callback|(row, token, length so far) for each new token, with beams (row of the input, -1, length) for each
  /// step. |callback| returns false to end the generation there. An exception ends it, too; generate rethrows it.
  void onToken(std::function<bool(int64_t row, int64_t token, int64_t length)> callback) {
    listener = std::move(callback);
    fields.on_token = listener ? callListener : nullptr;
    fields.user = this;
  }
  /// Throws the exception that the callback has thrown since the last call of this function, if there is one.
  void rethrow() {
    if (thrown)
      std::rethrow_exception(std::exchange(thrown, nullptr));
  }

private:
  static int callListener(void *user, int64_t row, int64_t token, int64_t length) {
    auto *self = static_cast<GenerationOptions *>(user);
    try {
      return self->listener(row, token, length) ? 0 : 1;
    } catch (...) {
      self->thrown = std::current_exception();
      return 1;
    }
  }

  attune_generation_options fields;
  std::function<bool(int64_t, int64_t, int64_t)> listener;
  std::exception_ptr thrown;
};

/// Chooses ids by logits for programs that call the entries of a model themselves; keeps the scratch memory of
/// attune_sample. |options| must outlive it.
class Sampler {
public:
  explicit Sampler(const GenerationOptions &options) : options(options) {}
  /// Returns the id chosen by |logits| [vocabSize] for this row and step, see attune_sample.
  int64_t operator()(const float *logits, int64_t vocabSize, int64_t row, int64_t step) {
    scratch.resize(attune_sample_scratch_bytes(vocabSize) / sizeof(int64_t) + 1);
    int64_t id;
    check(attune_sample(&options.c(), logits, vocabSize, row, step, scratch.data(), scratch.size() * sizeof(int64_t), &id));
    return id;
  }

private:
  const GenerationOptions &options;
  std::vector<int64_t> scratch;
};

/// The result of a generation.
class Generation {
public:
  explicit Generation(attune_generation *generation) : handle(generation) {}
  const attune_generation *operator->() const { return handle.get(); }
  /// Returns the ids of |row|, which is below (*this)->rows, padding included.
  std::vector<int64_t> row(int64_t row) const {
    const int64_t *begin = handle->sequences + row * handle->length;
    return {begin, begin + handle->length};
  }

private:
  struct Free {
    void operator()(attune_generation *generation) const { attune_generation_free(generation); }
  };
  std::unique_ptr<attune_generation, Free> handle;
};

/// Returns |tensors| as tensors of the C API, which are valid as long as |tensors|.
inline std::vector<attune_tensor> generationInputs(const std::vector<Tensor> &tensors) {
  std::vector<attune_tensor> result;
  for (const Tensor &tensor : tensors)
    result.push_back(tensor.c());
  return result;
}

/// Makes a session that is just large enough for generate with the same arguments; threads = 0 uses all CPUs of the
/// affinity mask.
inline Session generationSession(const Model &model, const GenerationOptions &options, const std::vector<Tensor> &inputs,
                                 int64_t threads = 0) {
  std::vector<attune_tensor> tensors = generationInputs(inputs);
  attune_dim_limit limits[ATTUNE_MAX_GENERATION_LIMITS];
  attune_session_options sessionOptions;
  attune_session_options_init(&sessionOptions);
  check(attune_generation_limits(model.get(), &options.c(), tensors.data(), tensors.size(), limits, &sessionOptions.num_limits));
  sessionOptions.limits = limits;
  sessionOptions.num_threads = threads;
  return Session(model, sessionOptions);
}

/// Generates from |inputs|, see attune_generate.
inline Generation generate(Session &session, GenerationOptions &options, const std::vector<Tensor> &inputs) {
  std::vector<attune_tensor> tensors = generationInputs(inputs);
  attune_generation *generation = nullptr;
  attune_status status = attune_generate(session.get(), &options.c(), tensors.data(), tensors.size(), &generation);
  Generation result(generation);
  options.rethrow(); // before the status, so that the next call does not throw it
  check(status);
  return result;
}

} // namespace attune

#endif // ATTUNE_GENERATE_HPP
