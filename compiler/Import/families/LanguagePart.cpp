//===- LanguagePart.cpp - The language models of models of images and text ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Models that put vectors of images between those of words. Without images they compute what the family of their
// `text_config` computes. Only this language model is read here, from the files of the whole model, in which its
// tensors have other names.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Families.h"
#include "compiler/Support/Strings.h"

using namespace attune;

namespace {

/// A model of images and text.
struct Composite {
  const char *type, *architecture;
  /// The `model_type` of the language model, for files whose `text_config` does not say it or names a type of images
  /// and text.
  const char *text;
};

} // namespace

/// Returns the configuration of the language model: the object `text_config`, or, as in older files of some families,
/// the whole file.
static Config findText(ConfigReader &reader, const Config &config, const Composite &composite) {
  bool isNested = reader.present("text_config");
  if (isNested && !config.find("text_config")->is_object())
    reader.fail("text_config", "an object");
  Config text = isNested ? config.object("text_config") : config;
  const Json *type = isNested ? text.find("model_type") : nullptr;
  std::string name = type && type->is_string() ? type->get<std::string>() : composite.text;
  // Types with "_vl" have positions of three dimensions. Without images these equal positions of one dimension, so
  // |composite|.text takes the place of such a type.
  if (const size_t end = name.find("_vl"); end != std::string::npos)
    name = composite.text;
  text.set("model_type", name);
  text.set("architectures", nullptr);
  for (const char *key : {"tie_word_embeddings", "pad_token_id"})
    text.inherit(key, config);
  for (const char *key : {"rope_scaling", "rope_parameters"}) {
    const Json *rope = text.find(key);
    if (!rope || !rope->is_object() || !rope->contains("mrope_section"))
      continue;
    Json plain = *rope;
    plain.erase("mrope_section");
    for (const char *type : {"type", "rope_type"})
      if (plain.contains(type) && plain[type] == "mrope")
        plain.erase(type);
    text.set(key, std::move(plain));
  }
  return text;
}

/// Adds the names that the tensors of the language model have in files of models of images and text.
static void addCompositeNames(TransformerSpec &spec) {
  for (WeightSpec &weight : spec.weights) {
    if (weight.kind != WeightSpec::Tensor)
      continue;
    std::vector<std::string> names = weight.aliases;
    names.insert(names.begin(), weight.name);
    for (const std::string &name : names) {
      weight.aliases.push_back("language_model." + name);
      if (startsWith(name, spec.basePrefix))
        weight.aliases.push_back("model.language_model." + name.substr(spec.basePrefix.size()));
    }
  }
}

static Result<TransformerSpec> readLanguagePart(const Config &config, const Composite &composite) {
  ConfigReader reader(config);
  const std::pair<const char *, int> architectures[] = {{composite.architecture, 0}};
  auto choose = [&] { reader.choose("architectures", reader.architecture(composite.architecture), architectures); };
  choose();
  Config text = findText(reader, config, composite);
  if (reader.status().failed())
    return reader.status();
  // For each `model_type` of a language model, its class with logits of words.
  static constexpr std::pair<const char *, const char *> classes[] = {{"gemma3_text", "Gemma3ForCausalLM"},
                                                                      {"llama", "LlamaForCausalLM"},
                                                                      {"mistral", "MistralForCausalLM"},
                                                                      {"qwen2", "Qwen2ForCausalLM"},
                                                                      {"qwen3", "Qwen3ForCausalLM"}};
  ConfigReader textReader(text);
  const auto *known = textReader.choose("model_type", textReader.string("model_type"), classes);
  if (!known)
    return textReader.status();
  text.set("architectures", Json::array({known->second}));
  Result<TransformerSpec> spec = readTransformerSpec(text);
  if (config.trace())
    choose(); // replaces the classes of the language model in the trace by those of this family
  if (!spec)
    return spec;
  addCompositeNames(*spec);
  spec->family = composite.type;
  spec->architecture = composite.architecture;
  spec->warning = config.file() + ": only the language model of " + composite.architecture + " is compiled; images are not implemented";
  return spec;
}

Result<TransformerSpec> attune::readGemma3CompositeSpec(const Config &config) {
  return readLanguagePart(config, {"gemma3", "Gemma3ForConditionalGeneration", "gemma3_text"});
}

Result<TransformerSpec> attune::readMistral3Spec(const Config &config) {
  return readLanguagePart(config, {"mistral3", "Mistral3ForConditionalGeneration", "mistral"});
}

Result<TransformerSpec> attune::readLlavaSpec(const Config &config) {
  return readLanguagePart(config, {"llava", "LlavaForConditionalGeneration", "llama"});
}

Result<TransformerSpec> attune::readLlavaNextSpec(const Config &config) {
  return readLanguagePart(config, {"llava_next", "LlavaNextForConditionalGeneration", "llama"});
}

Result<TransformerSpec> attune::readQwen2VlSpec(const Config &config) {
  return readLanguagePart(config, {"qwen2_vl", "Qwen2VLForConditionalGeneration", "qwen2"});
}

Result<TransformerSpec> attune::readQwen25VlSpec(const Config &config) {
  return readLanguagePart(config, {"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", "qwen2"});
}
