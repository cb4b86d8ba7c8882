//===- Call.cpp - Configuration and inputs of a BERT call ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks: an integer mask m [B, S] or [B, S, S] adds (1 - m) * -FLT_MAX to the scores, a float mask is added unchanged;
// a head mask is [A] for all layers or [L, A].
//===----------------------------------------------------------------------===//

#include "test/Reference/Bert.h"

#include <cfloat>
#include <numeric>

namespace attune::reference {

BertConfig readConfig(const std::string &folder) {
  std::string path = folder + "/config.json";
  Result<Json> json = readJsonFile(path);
  if (!json)
    fail(json.message());
  BertConfig config;
  auto text = [&](const char *key, std::string &value) {
    if (const Json *found = findJson(*json, key); found && found->is_string())
      value = found->get<std::string>();
  };
  auto number = [&](const char *key, auto &value) {
    if (const Json *found = findJson(*json, key); found && (found->is_number() || found->is_boolean()))
      value = found->get<std::decay_t<decltype(value)>>();
  };
  std::string positions = "absolute";
  text("model_type", config.family);
  number("pad_token_id", config.padding);
  text("hidden_act", config.activation);
  text("position_embedding_type", positions);
  number("num_hidden_layers", config.layers);
  number("num_attention_heads", config.heads);
  number("layer_norm_eps", config.epsilon);
  number("tie_word_embeddings", config.tiedEmbeddings);
  if (const Json *names = findJson(*json, "architectures"); names && names->is_array() && !names->empty() && names->front().is_string())
    config.architecture = names->front().get<std::string>();
  if (positions != "absolute")
    fail(path + ": 'position_embedding_type': expected absolute, got " + positions);
  if (!knownActivation(config.activation))
    fail(path + ": 'hidden_act': unknown function " + config.activation);
  return config;
}

static std::vector<int64_t> integers(const TensorView &view) {
  if (!isInteger(view.dtype))
    fail("input '" + view.name + "': expected integers, got " + dtypeName(view.dtype));
  std::vector<int64_t> values(view.elements);
  convertToI64(view, 0, view.elements, values.data());
  return values;
}

static void readMask(const TensorView &view, BertInputs &in) {
  int64_t rows = view.shape.size() == 3 ? in.length : 1;
  if (view.elements != in.batch * rows * in.length)
    fail("input 'attention_mask': shape " + shapeText(view.shape) + " does not fit the ids");
  if (isFloat(view.dtype)) {
    in.scoreMask = toArray(view);
  } else {
    std::vector<int64_t> visible = integers(view);
    in.scoreMask.data.resize(visible.size());
    for (size_t i = 0; i < visible.size(); ++i)
      in.scoreMask.data[i] = (1.0 - double(visible[i])) * -double(FLT_MAX);
    if (rows == 1)
      for (int64_t v : visible)
        in.padding.push_back(v == 0);
  }
  in.scoreMask.shape = {in.batch, rows, in.length};
}

static void readHeadMask(const TensorView &view, const BertConfig &config, BertInputs &in) {
  in.headMask = toArray(view);
  if (view.shape == std::vector<int64_t>{config.heads}) {
    std::vector<double> one = in.headMask.data;
    for (int64_t layer = 1; layer < config.layers; ++layer)
      in.headMask.data.insert(in.headMask.data.end(), one.begin(), one.end());
  } else if (view.shape != std::vector<int64_t>{config.layers, config.heads}) {
    fail("input 'head_mask': shape " + shapeText(view.shape) + " does not fit the model");
  }
}

/// Returns RoBERTa's positions of all tokens. In each sequence, tokens whose id is not |padding| are counted from
/// |padding| + 1 on, and padding has the position |padding|. If a call has embeddings instead of ids, all tokens are
/// counted.
static std::vector<int64_t> countPlaces(const BertInputs &in, int64_t padding) {
  std::vector<int64_t> places;
  for (int64_t t = 0, count = 0; t < in.batch * in.length; ++t) {
    if (t % in.length == 0)
      count = 0;
    bool isToken = in.ids.empty() || in.ids[t] != padding;
    count += isToken;
    places.push_back(isToken ? padding + count : padding);
  }
  return places;
}

BertInputs readInputs(const std::string &path, const BertConfig &config) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    fail(file.message());
  BertInputs in;
  if (const TensorView *embeddings = file->find("inputs_embeds")) {
    in.batch = embeddings->shape[0];
    in.length = embeddings->shape[1];
    in.embeddings = toArray(*embeddings);
  } else if (const TensorView *ids = file->find("input_ids")) {
    in.batch = ids->shape[0];
    in.length = ids->shape[1];
    in.ids = integers(*ids);
  } else {
    fail(path + ": neither 'input_ids' nor 'inputs_embeds'");
  }
  in.types.assign(in.batch * in.length, 0);
  if (const TensorView *types = file->find("token_type_ids"))
    in.types = integers(*types);
  in.places.resize(in.length);
  std::iota(in.places.begin(), in.places.end(), 0);
  if (config.family == "roberta")
    in.places = countPlaces(in, config.padding);
  if (const TensorView *places = file->find("position_ids"))
    in.places = integers(*places);
  in.scoreMask = Array({in.batch, 1, in.length});
  if (const TensorView *mask = file->find("attention_mask"))
    readMask(*mask, in);
  if (const TensorView *mask = file->find("head_mask"))
    readHeadMask(*mask, config, in);
  return in;
}

} // namespace attune::reference
