//===- Dpr.cpp - DPR ----------------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// BERT as an encoder of questions or passages, whose result is the vector of the first token, or as a reader, which
// scores passages and the answers in them. Without a mask the encoders hide padding ids.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/BertBase.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;
using mlir::xfmr::PoolKind;

namespace {

struct DprKeys : BertKeys {
  /// The number of features of the result, 0 for as many as the layers have.
  int64_t projection;
  /// The path of the module that contains BERT's module `bert_model`, followed by a dot.
  std::string module;
};

} // namespace

static DprKeys readDprKeys(ConfigReader &reader, const std::string &module) {
  DprKeys keys;
  static_cast<BertKeys &>(keys) = readBertSizes(reader);
  keys.module = module;
  keys.projection = reader.integer("projection_dim", 0, {0, 1 << 24});
  keys.padding = reader.integerOrNull("pad_token_id", 0, {0, int64_t(1) << 31});
  rejectRelativePositions(reader);
  rejectPrunedHeads(reader);
  reader.reject("is_decoder", "attention to earlier tokens only is not implemented for this family");
  return keys;
}

static void declareDprModel(TransformerSpec &spec, const DprKeys &keys, const std::string &) {
  declareBertModel(spec, keys, keys.module + "bert_model.");
  llvm::erase_if(spec.inputs,
                 [](const InputSpec &input) { return input.role == InputRole::Positions || input.role == InputRole::HeadMask; });
}

static void declareEncoder(TransformerSpec &spec, const DprKeys &keys, const std::string &) {
  spec.encoder->hiddenId = keys.padding;
  for (InputSpec &input : spec.inputs)
    input.required |= input.role == InputRole::AttentionMask;
  std::vector<HeadStep> steps = {poolStep(PoolKind::First, keys.module + "pooler")};
  if (keys.projection != 0)
    steps.push_back(linearStep(spec.linear(keys.module + "encode_proj", keys.hidden, keys.projection), keys.module + "encode_proj"));
  spec.outputs.push_back({"pooler_output", std::move(steps)});
}

static void declareReader(TransformerSpec &spec, const DprKeys &keys, const std::string &) {
  llvm::erase_if(spec.inputs, [](const InputSpec &input) { return input.role == InputRole::TokenTypes; });
  const std::string relevance = "span_predictor.qa_classifier";
  declareStartAndEnd(spec, spec.linear("span_predictor.qa_outputs", keys.hidden, 2));
  spec.outputs.push_back({"relevance_logits",
                          {poolStep(PoolKind::First, relevance), linearStep(spec.linear(relevance, keys.hidden, 1), relevance)},
                          /*squeeze=*/true});
}

Result<TransformerSpec> attune::readDprSpec(const Config &config) {
  static const EncoderHeads<DprKeys> heads = {
      {"DPRQuestionEncoder", declareEncoder},
      {"DPRContextEncoder", declareEncoder},
      {"DPRReader", declareReader},
  };
  static constexpr std::pair<const char *, const char *> modules[] = {
      {"DPRQuestionEncoder", "question_encoder."}, {"DPRContextEncoder", "ctx_encoder."}, {"DPRReader", "span_predictor.encoder."}};
  ConfigReader reader(config);
  const auto *module = reader.choose("architectures", reader.architecture("DPRQuestionEncoder"), modules);
  if (module && module == std::end(modules) - 1 && reader.integer("projection_dim", 0, {0, 1 << 24}) != 0)
    reader.fail("projection_dim", "0, as the answers of a reader are scored by the features of its layers");
  if (reader.status().failed())
    return reader.status();
  auto read = [&](ConfigReader &keys) { return readDprKeys(keys, module->second); };
  return readBertLike(config, "dpr", "", heads, read, declareDprModel);
}
