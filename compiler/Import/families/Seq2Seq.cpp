//===- Seq2Seq.cpp - Shared parts of encoder-decoder families -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Seq2Seq.h"

using namespace attune;

void attune::declareSeq2SeqInputs(TransformerSpec &spec, int64_t sourceVocab, int64_t targetVocab) {
  constexpr StackRole encoder = StackRole::Encoder, decoder = StackRole::Decoder;
  spec.inputs = {{"input_ids", InputRole::TokenIds, sourceVocab},
                 {"inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false},
                 {"encoder_outputs", InputRole::EncoderResult, 0, /*standard=*/false},
                 {"attention_mask", InputRole::AttentionMask},
                 {"decoder_input_ids", InputRole::TokenIds, targetVocab, /*standard=*/true, decoder},
                 {"decoder_inputs_embeds", InputRole::TokenVectors, 0, /*standard=*/false, decoder},
                 {"decoder_attention_mask", InputRole::AttentionMask, 0, /*standard=*/true, decoder},
                 {"head_mask", InputRole::HeadMask, 0, /*standard=*/false, encoder},
                 {"decoder_head_mask", InputRole::HeadMask, 0, /*standard=*/false, decoder},
                 {"cross_attn_head_mask", InputRole::CrossHeadMask, 0, /*standard=*/false, decoder}};
}

void attune::declareSeq2SeqOutputs(TransformerSpec &spec, const std::string &name, std::vector<HeadStep> steps) {
  spec.outputs.push_back({name, std::move(steps)});
  declareEncoderOutput(spec);
}

void attune::declareEncoderOutput(TransformerSpec &spec) {
  spec.outputs.push_back({"encoder_last_hidden_state", {}, /*squeeze=*/false, StackRole::Encoder});
}

void attune::declareEosClassification(TransformerSpec &spec, int64_t hidden, int64_t labels, int64_t end, double dropout) {
  const std::string path = "classification_head";
  LinearSpec dense = spec.linear(path + ".dense", hidden, hidden), output = spec.classifier(path + ".out_proj", hidden, labels);
  declareSeq2SeqOutputs(spec, "logits",
                        {lastEosStep(end, path), dropoutStep(dropout, path + ".dropout"), linearStep(dense, path + ".dense"),
                         activationStep(mlir::xfmr::Activation::Tanh, path), linearStep(output, path + ".out_proj")});
}
