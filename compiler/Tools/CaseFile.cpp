//===- CaseFile.cpp - Golden case folders ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads case.json and the inputs beside it.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/CaseFile.h"
#include "compiler/Support/Strings.h"

#include <filesystem>

using namespace attune;

/// Largest generated input accepted, in elements: a case must not fill the memory.
static constexpr int64_t maxGeneratedElements = int64_t(1) << 30;

/// Returns the member |key| of |object| as a finite number; |fallback| if |object| has no such member. Errors name
/// |file| and |where|, the path of |object| in it.
static Result<double> optionalNumber(const Json &object, const char *key, double fallback, const std::string &file,
                                     const std::string &where) {
  const Json *value = findJson(object, key);
  if (!value)
    return fallback;
  return jsonNumber(*value, file, where + "." + key);
}

static Result<std::vector<int64_t>> requiredShape(const Json &object, const std::string &file, const std::string &where) {
  const Json *shape = findJson(object, "shape");
  if (!shape)
    return Status::error(file + ": '" + where + "': expected key 'shape', which is missing");
  Result<std::vector<int64_t>> result = jsonIntegers(*shape, file, where + ".shape", 0);
  if (result && !elementCount(*result))
    return Status::error(file + ": '" + where + ".shape': expected less than 2^62 elements, got " + shapeText(*result));
  return result;
}

Status CaseFile::readOutput(const std::string &name, const Json &entry) {
  const std::string where = "outputs." + name;
  if (!entry.is_object())
    return jsonTypeError(path, where, "an object", entry);
  CaseOutput output;
  output.name = name;
  const Json *dtype = findJson(entry, "dtype");
  std::optional<DType> parsed = dtype && dtype->is_string() ? parseDType(dtype->get_ref<const std::string &>()) : std::nullopt;
  if (!parsed)
    return jsonTypeError(path, where + ".dtype", "F32 or I64", dtype ? *dtype : Json());
  output.dtype = *parsed;
  Result<std::vector<int64_t>> shape = requiredShape(entry, path, where);
  if (!shape)
    return shape.status();
  output.shape = *shape;

  const Json *stats = findJson(entry, "stats");
  struct {
    const Json *object;
    const char *key;
    double *target;
  } numbers[] = {{&entry, "atol", &output.tolerance.atol},
                 {&entry, "rtol", &output.tolerance.rtol},
                 {&entry, "max_abs", &output.maxAbs},
                 {&entry, "stats_rtol", &output.statsTolerance}};
  for (auto &number : numbers) {
    Result<double> value = optionalNumber(*number.object, number.key, 0, path, where);
    if (!value)
      return value.status();
    *number.target = *value;
  }
  if (stats) {
    TensorStats values;
    for (auto [key, target] : {std::pair("mean", &values.mean), std::pair("abs_mean", &values.absMean), std::pair("l2", &values.l2)}) {
      Result<double> value = optionalNumber(*stats, key, 0, path, where + ".stats");
      if (!value)
        return value.status();
      *target = *value;
    }
    output.stats = values;
  }
  outputs.push_back(std::move(output));
  return {};
}

Status CaseFile::readGeneratedInput(const std::string &name, const Json &entry) {
  const std::string where = "generated_inputs." + name;
  GeneratedInput input;
  input.spec.name = name;
  Result<std::vector<int64_t>> shape = requiredShape(entry, path, where);
  if (!shape)
    return shape.status();
  if (*elementCount(*shape) > maxGeneratedElements)
    return Status::error(path + ": '" + where + ".shape': expected at most 2^30 elements, got " + shapeText(*shape));
  input.spec.shape = *shape;
  const Json *seed = findJson(entry, "seed");
  Result<int64_t> seedValue = jsonInteger(seed ? *seed : Json(), path, where + ".seed");
  if (!seedValue)
    return seedValue.status();
  input.seed = *seedValue;
  Result<double> offset = optionalNumber(entry, "offset", 0, path, where), halfWidth = optionalNumber(entry, "half_width", 1, path, where);
  if (!offset || !halfWidth)
    return offset ? halfWidth.status() : offset.status();
  input.rule = {*offset, *halfWidth};
  generatedInputs.push_back(std::move(input));
  return {};
}

/// Converts {"0": [1], "1": [0, 2]} to "0:1;1:0,2".
static Result<std::string> pruneHeadsText(const Json &heads, const std::string &file) {
  if (!heads.is_object())
    return jsonTypeError(file, "call.prune_heads", "an object of layer to heads", heads);
  std::string text;
  for (const auto &[layer, list] : heads.items()) {
    Result<std::vector<int64_t>> numbers = jsonIntegers(list, file, "call.prune_heads." + layer, 0);
    if (!numbers)
      return numbers.status();
    if (numbers->empty())
      continue;
    text += (text.empty() ? "" : ";") + layer + ":";
    for (size_t i = 0; i < numbers->size(); ++i)
      text += (i ? "," : "") + std::to_string((*numbers)[i]);
  }
  return text;
}

Status CaseFile::readCall(const Json &call) {
  const Json *name = findJson(call, "function");
  Result<std::string> text = jsonString(name ? *name : Json(), path, "call.function");
  if (!text)
    return text.status();
  function = *text;
  if (const Json *arguments = findJson(call, "kwargs"))
    kwargs = *arguments;
  if (const Json *heads = findJson(call, "prune_heads")) {
    Result<std::string> pruned = pruneHeadsText(*heads, path);
    if (!pruned)
      return pruned.status();
    pruneHeads = *pruned;
  }
  if (const Json *list = findJson(call, "steps")) {
    Result<std::vector<int64_t>> sizes = jsonIntegers(*list, path, "call.steps", 1);
    if (!sizes)
      return sizes.status();
    steps = *sizes;
  }
  return {};
}

/// Returns true if |list|, the value of call.outputs, has |name| or the group of |name|, or if |list| is null or no
/// array.
static bool isExpected(const Json *list, const std::string &name) {
  if (!list || !list->is_array())
    return true;
  for (const Json &entry : *list)
    if (entry.is_string()) {
      const std::string &listed = entry.get_ref<const std::string &>();
      if (name == listed || startsWith(name, listed + "."))
        return true;
    }
  return false;
}

Result<CaseFile> CaseFile::read(const std::string &path) {
  Result<Json> root = readJsonFile(path);
  if (!root)
    return root.status();
  CaseFile file;
  file.path = path;
  const Json *call = findJson(*root, "call"), *outputs = findJson(*root, "outputs");
  if (!call || !call->is_object())
    return jsonTypeError(path, "call", "an object", call ? *call : Json());
  if (!outputs || !outputs->is_object())
    return jsonTypeError(path, "outputs", "an object", outputs ? *outputs : Json());
  if (Status status = file.readCall(*call); status.failed())
    return status;
  for (const auto &[name, entry] : outputs->items())
    if (isExpected(findJson(*call, "outputs"), name))
      if (Status status = file.readOutput(name, entry); status.failed())
        return status;
  if (const Json *generated = findJson(*root, "generated_inputs"))
    for (const auto &[name, entry] : generated->items())
      if (Status status = file.readGeneratedInput(name, entry); status.failed())
        return status;
  if (const Json *weights = findJson(*root, "weights")) {
    if (const Json *list = findJson(*weights, "adapters")) {
      if (!list->is_array())
        return jsonTypeError(path, "weights.adapters", "an array of folders", *list);
      for (const Json &entry : *list) {
        Result<std::string> adapter = jsonString(entry, path, "weights.adapters");
        if (!adapter)
          return adapter.status();
        file.adapters.push_back(std::move(*adapter));
      }
    }
    if (const Json *source = findJson(*weights, "source"); source && *source == "generated") {
      const Json *seed = findJson(*weights, "seed");
      Result<int64_t> value = jsonInteger(seed ? *seed : Json(), path, "weights.seed");
      if (!value)
        return value.status();
      file.weightsSeed = *value;
    }
  }
  return file;
}

Result<std::vector<OwnedTensor>> attune::loadCaseInputs(const CaseFile &caseFile, const std::string &folder) {
  std::vector<OwnedTensor> inputs;
  std::string stored = (std::filesystem::path(folder) / "inputs.safetensors").string();
  std::error_code ignored;
  if (caseFile.generatedInputs.empty() || std::filesystem::exists(stored, ignored)) {
    Result<std::vector<OwnedTensor>> loaded = loadSafetensors(stored);
    if (!loaded)
      return loaded.status();
    inputs = std::move(*loaded);
  }
  for (const GeneratedInput &generated : caseFile.generatedInputs) {
    int64_t count = *elementCount(generated.spec.shape);
    OwnedTensor tensor{generated.spec, std::vector<uint8_t>(static_cast<size_t>(count) * 4)};
    generateValues("input:" + generated.spec.name, generated.seed, generated.rule, 0, count, reinterpret_cast<float *>(tensor.data.data()));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}
