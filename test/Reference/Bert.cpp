//===- Bert.cpp - The BERT family in plain C++ -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Reference/Bert.h"

#include <cmath>

namespace attune::reference {

namespace {

/// One forward pass; collects the outputs on its way.
class Forward {
public:
  Forward(const BertConfig &config, const Weights &weights, const BertInputs &in)
      : config(config), weights(weights), in(in), tokens(in.batch * in.length) {}

  std::vector<Output> run() {
    Array x = embed();
    hidden.push_back(x);
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      x = encode(layer, x);
      hidden.push_back(x);
    }
    head(x);
    for (size_t i = 0; i < hidden.size(); ++i)
      perToken("hidden_states." + std::to_string(i), hidden[i]);
    for (size_t i = 0; i < attentions.size(); ++i)
      outputs.push_back({"attentions." + std::to_string(i), attentions[i], true});
    return outputs;
  }

private:
  Array dense(const std::string &name, const Array &x) { return linear(x, weights.get(name + ".weight"), weights.get(name + ".bias")); }
  Array norm(const std::string &name, const Array &x) {
    return layerNorm(x, weights.get(name + ".weight"), weights.get(name + ".bias"), config.epsilon);
  }

  /// Returns the input of the first layer: LayerNorm(words + positions + types).
  Array embed() {
    Array places = weights.get("embeddings.position_embeddings.weight"), types = weights.get("embeddings.token_type_embeddings.weight");
    Array words = in.ids.empty() ? in.embeddings : weights.get("embeddings.word_embeddings.weight");
    int64_t width = places.dim(1);
    Array x({tokens, width});
    for (int64_t t = 0; t < tokens; ++t) {
      const double *word = words.row(in.ids.empty() ? t : lookup("input_ids", in.ids[t], words));
      const double *place = places.row(lookup("position_ids", in.places[t % in.places.size()], places));
      const double *type = types.row(lookup("token_type_ids", in.types[t], types));
      for (int64_t i = 0; i < width; ++i)
        x.row(t)[i] = word[i] + place[i] + type[i];
    }
    return norm("embeddings.LayerNorm", x);
  }
  int64_t lookup(const char *input, int64_t id, const Array &table) {
    if (id < 0 || id >= table.dim(0))
      fail(std::string("input '") + input + "': expected ids below " + std::to_string(table.dim(0)) + ", got " + std::to_string(id));
    return id;
  }

  /// Returns the output of a post-norm layer: y = norm(x + attention(x)), then norm(y + ffn(y)).
  Array encode(int64_t layer, const Array &x) {
    std::string name = "encoder.layer." + std::to_string(layer) + ".";
    Array context = attend(layer, dense(name + "attention.self.query", x), dense(name + "attention.self.key", x),
                           dense(name + "attention.self.value", x));
    Array y = norm(name + "attention.output.LayerNorm", add(dense(name + "attention.output.dense", context), x));
    Array inner = activate(dense(name + "intermediate.dense", y), config.activation);
    return norm(name + "output.LayerNorm", add(dense(name + "output.dense", inner), y));
  }

  /// Returns (softmax(q k^T / sqrt(D) + mask) * head mask) v and appends the probabilities, times the head mask, to
  /// |attentions|.
  Array attend(int64_t layer, const Array &q, const Array &k, const Array &v) {
    int64_t width = q.dim(1), size = width / config.heads, length = in.length;
    Array context({tokens, width}), probabilities({in.batch, config.heads, length, length});
    for (int64_t b = 0; b < in.batch; ++b)
      for (int64_t h = 0; h < config.heads; ++h)
        for (int64_t i = 0; i < length; ++i) {
          double *p = probabilities.data.data() + ((b * config.heads + h) * length + i) * length;
          for (int64_t j = 0; j < length; ++j)
            p[j] = score(q.row(b * length + i) + h * size, k.row(b * length + j) + h * size, size) + scoreMask(b, i, j);
          softmax(p, length);
          for (int64_t j = 0; j < length; ++j) {
            if (!in.headMask.data.empty())
              p[j] *= in.headMask.data[layer * config.heads + h];
            for (int64_t d = 0; d < size; ++d)
              context.row(b * length + i)[h * size + d] += p[j] * v.row(b * length + j)[h * size + d];
          }
        }
    attentions.push_back(std::move(probabilities));
    return context;
  }
  static double score(const double *q, const double *k, int64_t size) {
    double sum = 0;
    for (int64_t d = 0; d < size; ++d)
      sum += q[d] * k[d];
    return sum / std::sqrt(double(size));
  }
  double scoreMask(int64_t b, int64_t i, int64_t j) const {
    int64_t rows = in.scoreMask.dim(1);
    return in.scoreMask.data[(b * rows + (rows == 1 ? 0 : i)) * in.length + j];
  }

  Array firstTokens(const Array &x) {
    Array first({in.batch, x.dim(1)});
    for (int64_t b = 0; b < in.batch; ++b)
      std::copy_n(x.row(b * in.length), x.dim(1), first.row(b));
    return first;
  }
  /// Returns tanh(dense(first token of each sequence)).
  Array pool(const Array &x) { return activate(dense("pooler.dense", firstTokens(x)), "tanh"); }

  /// Computes the head of the architecture from the last hidden states |x| and appends its outputs.
  void head(const Array &x) {
    if (config.architecture == "BertModel" || config.architecture == "RobertaModel") {
      perToken("last_hidden_state", x);
      outputs.push_back({"pooler_output", pool(x), false});
    } else if (config.architecture == "BertForSequenceClassification") {
      outputs.push_back({"logits", dense("classifier", pool(x)), false});
    } else if (config.architecture == "RobertaForSequenceClassification") {
      Array y = activate(dense("classifier.dense", firstTokens(x)), "tanh");
      outputs.push_back({"logits", dense("classifier.out_proj", y), false});
    } else if (config.architecture == "BertForTokenClassification" || config.architecture == "RobertaForTokenClassification") {
      perToken("logits", dense("classifier", x));
    } else if (config.architecture == "BertForQuestionAnswering" || config.architecture == "RobertaForQuestionAnswering") {
      Array both = dense("qa_outputs", x);
      for (int side : {0, 1}) {
        Array one({in.batch, in.length});
        for (int64_t t = 0; t < tokens; ++t)
          one.data[t] = both.row(t)[side];
        outputs.push_back({side ? "end_logits" : "start_logits", one, true});
      }
    } else if (config.architecture == "RobertaForMaskedLM") {
      Array y = norm("lm_head.layer_norm", activate(dense("lm_head.dense", x), "gelu"));
      Array decoder = weights.get(config.tiedEmbeddings ? "embeddings.word_embeddings.weight" : "lm_head.decoder.weight");
      perToken("logits", linear(y, decoder, weights.get("lm_head.bias")));
    } else if (config.architecture == "BertForMaskedLM") {
      const std::string name = "cls.predictions.";
      Array y = activate(dense(name + "transform.dense", x), config.activation);
      y = norm(name + "transform.LayerNorm", y);
      Array decoder = weights.get(config.tiedEmbeddings ? "embeddings.word_embeddings.weight" : name + "decoder.weight");
      perToken("logits", linear(y, decoder, weights.get(name + "bias")));
    } else {
      fail("architecture '" + config.architecture + "' is not in the reference");
    }
  }

  void perToken(const std::string &name, Array x) {
    x.shape = {in.batch, in.length, x.shape.back()};
    outputs.push_back({name, std::move(x), true});
  }

  const BertConfig &config;
  const Weights &weights;
  const BertInputs &in;
  int64_t tokens;
  std::vector<Array> hidden, attentions;
  std::vector<Output> outputs;
};

} // namespace

std::vector<Output> runBert(const BertConfig &config, const Weights &weights, const BertInputs &inputs) {
  return Forward(config, weights, inputs).run();
}

} // namespace attune::reference
