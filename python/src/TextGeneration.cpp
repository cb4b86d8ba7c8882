//===- TextGeneration.cpp - Generation for Python -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TextGeneration.h"
#include "ModelSession.h"
#include "NumpyArrays.h"
#include "TextHandle.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace attune;
using namespace attune::python;

/// Returns false if |result|, the result of a Python callback, is False; else, also for None, true.
static bool goesOn(const nb::object &result) { return result.ptr() != Py_False; }

GenerationCall::GenerationCall(const CompiledModel &model, const std::string &settings, nb::object onToken)
    : fields(model.get()), listener(std::move(onToken)) {
  static const std::string origin = "generate";
  Result<Json> parsed = parseJson(settings, origin);
  if (!parsed || !parsed->is_object())
    throwInvalid(parsed ? origin + ": expected an object of settings" : parsed.message());
  // In the order of names(), in which max_new_tokens follows max_length, since max_length removes an earlier
  // max_new_tokens.
  for (const std::string &name : GenerationSettings::names())
    if (const Json *value = findJson(*parsed, name)) {
      if (Status status = values.set(name, *value, origin); status.failed())
        throwInvalid(status.message());
      lengthGiven |= !value->is_null() && (name == "max_length" || name == "max_new_tokens");
      parsed->erase(name);
    }
  if (const Json *value = findJson(*parsed, "reuse_cache")) {
    if (!value->is_boolean())
      throwInvalid(jsonTypeError(origin, "reuse_cache", "true or false", *value).message());
    fields->reuse_cache = value->get<bool>();
    parsed->erase("reuse_cache");
  }
  if (const Json *value = findJson(*parsed, "output_logits")) {
    if (!value->is_boolean())
      throwInvalid(jsonTypeError(origin, "output_logits", "true or false", *value).message());
    fields->want_step_logits = value->get<bool>();
    parsed->erase("output_logits");
  }
  // The names that are left are unknown. set fails for each, with a message that lists the known names; null would be
  // ignored, so 0 replaces it.
  for (const auto &[name, value] : parsed->items())
    if (Status status = values.set(name, value.is_null() ? Json(0) : value, origin); status.failed())
      throwInvalid(status.message());
  values.apply(*fields.operator->());
  fields.onToken([this](int64_t row, int64_t token, int64_t length) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0)
      nb::raise_python_error();
    return listener.is_none() || goesOn(listener(row, token, length));
  });
}

bool GenerationCall::limitsLength() const {
  // 20 is the default of max_length. As in transformers, the default does not count as a limit.
  constexpr int64_t kUnset = 20;
  return lengthGiven || fields.c().max_new_tokens > 0 || fields.c().max_length != kUnset;
}

PieceListener::Function python::makePieceFunction(nb::object callback) {
  if (callback.is_none())
    return {};
  return [callback = callback.ptr()](int64_t row, std::string_view piece) {
    nb::gil_scoped_acquire acquire;
    return goesOn(nb::handle(callback)(row, toText(piece.data(), piece.size())));
  };
}

/// Returns the result as a dictionary, see GenerationResult in _attune.pyi.
static nb::dict describe(const attune_generation &generation) {
  nb::dict result;
  int64_t sequences[] = {generation.rows, generation.length};
  result["sequences"] = copyArray(ATTUNE_I64, sequences, 2, generation.sequences);
  result["steps"] = generation.steps;
  result["reused_tokens"] = generation.reused_tokens;
  result["sequences_scores"] = nb::none();
  result["logits"] = nb::none();
  if (generation.scores)
    result["sequences_scores"] = copyArray(ATTUNE_F32, &generation.rows, 1, generation.scores);
  if (generation.step_logits) {
    int64_t logits[] = {generation.rows, generation.steps, generation.vocab_size};
    result["logits"] = copyArray(ATTUNE_F32, logits, 3, generation.step_logits);
  }
  return result;
}

/// Generates on |session|.
static nb::dict generateOn(ModelSession &session, GenerationCall &call, const TensorArguments &inputs) {
  attune_session *running = session.get();
  attune_generation *generation;
  {
    nb::gil_scoped_release release;
    check(attune_generate(running, &call.options().c(), inputs.data(), inputs.size(), &generation));
  }
  Generation owned(generation);
  call.options().rethrow();
  return describe(*generation);
}

/// Generates on a session that is made for this call.
static nb::dict generateOnce(const std::shared_ptr<CompiledModel> &model, nb::dict inputs, const std::string &settings, int64_t threads,
                             nb::object onToken) {
  GenerationCall call(*model, settings, std::move(onToken));
  if (!attune_model_entry(model->get().get(), "prefill"))
    throwInvalid("model '" + std::string(model->desc().name) + "' generates no text: it has no entry 'prefill'");
  TensorArguments arguments(Access::Input, model->desc(), nullptr);
  arguments.add(inputs);
  attune_dim_limit limits[ATTUNE_MAX_GENERATION_LIMITS];
  size_t numLimits;
  check(attune_generation_limits(model->get().get(), &call.options().c(), arguments.data(), arguments.size(), limits, &numLimits));
  Limits named;
  for (size_t i = 0; i < numLimits; ++i)
    named[limits[i].name] = limits[i].max;
  ModelSession session(model, named, threads);
  return generateOn(session, call, arguments);
}

/// Generates from |prompts|; returns (input, text, ids, score, finish) for each result, as in attune_generated_text.
static nb::list generateFromTexts(const CompiledModel &model, TextHandle &text, const std::vector<std::string> &prompts,
                                  const std::string &settings, nb::object onText, nb::object onToken, const std::string &sourceLanguage,
                                  const std::string &targetLanguage, bool addSpecialTokens, bool skipSpecialTokens, int64_t threads) {
  GenerationCall call(model, settings, std::move(onToken));
  TextSettings more;
  more.onText = makePieceFunction(onText);
  more.sourceLanguage = sourceLanguage;
  more.targetLanguage = targetLanguage;
  // As in the command line, there are at most 256 new tokens if neither the settings nor the model limit the length.
  more.newTokens = call.limitsLength() ? 0 : 256;
  more.threads = threads;
  more.addSpecialTokens = addSpecialTokens;
  more.keepSpecialTokens = !skipSpecialTokens;
  std::vector<GeneratedText> texts;
  {
    nb::gil_scoped_release release;
    texts = generateTexts(model.get(), text.file(), call.options(), prompts, more);
  }
  nb::list results;
  for (const GeneratedText &one : texts)
    results.append(nb::make_tuple(one.input, toText(one.text.data(), one.text.size()), one.ids, one.score, attune_finish_name(one.finish)));
  return results;
}

void python::bindGeneration(nb::module_ &module) {
  module.def("generate", &generateOnce, nb::arg("model"), nb::arg("inputs"), nb::arg("settings"), nb::arg("threads"),
             nb::arg("on_token").none());
  module.def(
      "generate_on",
      [](ModelSession &session, nb::dict inputs, const std::string &settings, nb::object onToken) {
        GenerationCall call(session.model(), settings, std::move(onToken));
        TensorArguments arguments(Access::Input, session.model().desc(), nullptr);
        arguments.add(inputs);
        return generateOn(session, call, arguments);
      },
      nb::arg("session"), nb::arg("inputs"), nb::arg("settings"), nb::arg("on_token").none());
  module.def("generate_texts", &generateFromTexts, nb::arg("model"), nb::arg("text"), nb::arg("prompts"), nb::arg("settings"),
             nb::arg("on_text").none(), nb::arg("on_token").none(), nb::arg("source_language"), nb::arg("target_language"),
             nb::arg("add_special_tokens"), nb::arg("skip_special_tokens"), nb::arg("threads"));
  module.def("setting_names", [] { return GenerationSettings::names(); });
}
