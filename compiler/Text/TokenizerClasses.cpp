//===- TokenizerClasses.cpp - Choosing a tokenizer class ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// transformers has a tokenizer class for most types of models (`model_type` of config.json), and folders name classes,
// too: `tokenizer_class` of tokenizer_config.json or of config.json. The choice depends on the type and on these names.
//===----------------------------------------------------------------------===//

#include "compiler/Text/TokenizerClasses.h"
#include "compiler/Support/Strings.h"

#include <cstring>
#include <filesystem>
#include <sstream>

using namespace attune;
using namespace attune::text;

namespace {

constexpr auto kWordPiece = ModelKind::WordPiece;
constexpr auto kBpe = ModelKind::Bpe;
constexpr auto kUnigram = ModelKind::Unigram;
constexpr const char *kVocabJson = "vocab.json", *kMerges = "merges.txt", *kSentencePiece = "sentencepiece.bpe.model";

/// The class that takes tokenizer.json whole, or a SentencePiece model as it is.
const TokenizerClass kWhole = {"TokenizersBackend", std::nullopt, "tokenizer.model", nullptr, nullptr};

const TokenizerClass kClasses[] = {
    kWhole,
    {"BertTokenizer", kWordPiece, "vocab.txt", nullptr, buildBert, false, /*givesTypes=*/true},
    {"DistilBertTokenizer", kWordPiece, "vocab.txt", nullptr, buildBert},
    {"ConvBertTokenizer", kWordPiece, "vocab.txt", nullptr, buildBert, false, /*givesTypes=*/true},
    {"DPRContextEncoderTokenizer", kWordPiece, "vocab.txt", nullptr, buildDpr, false, /*givesTypes=*/true},
    {"DPRQuestionEncoderTokenizer", kWordPiece, "vocab.txt", nullptr, buildDpr, false, /*givesTypes=*/true},
    {"DPRReaderTokenizer", kWordPiece, "vocab.txt", nullptr, buildDpr},
    {"MPNetTokenizer", kWordPiece, "vocab.txt", nullptr, buildMPNet},
    {"FunnelTokenizer", kWordPiece, "vocab.txt", nullptr, buildFunnel},
    {"SplinterTokenizer", kWordPiece, "vocab.txt", nullptr, buildSplinter},
    {"GPT2Tokenizer", kBpe, kVocabJson, kMerges, buildGpt2},
    {"CodeGenTokenizer", kBpe, kVocabJson, kMerges, buildCodeGen},
    {"RobertaTokenizer", kBpe, kVocabJson, kMerges, buildRoberta},
    {"DebertaTokenizer", kBpe, kVocabJson, kMerges, buildDeberta, false, /*givesTypes=*/true},
    {"GPTNeoXTokenizer", kBpe, kVocabJson, kMerges, buildGptNeoX},
    {"Qwen2Tokenizer", kBpe, kVocabJson, kMerges, buildQwen2},
    {"Qwen3_5Tokenizer", kBpe, nullptr, nullptr, buildQwen35},
    {"CohereTokenizer", kBpe, kVocabJson, kMerges, buildCohere, /*padsLeft=*/true},
    {"BlenderbotTokenizer", kBpe, kVocabJson, kMerges, buildBlenderbot},
    {"CLIPTokenizer", kBpe, kVocabJson, kMerges, buildClip},
    {"LlamaTokenizer", kBpe, "tokenizer.model", nullptr, buildLlama, /*padsLeft=*/true},
    {"CodeLlamaTokenizer", kBpe, "tokenizer.model", nullptr, buildCodeLlama, /*padsLeft=*/true},
    {"GemmaTokenizer", kBpe, nullptr, nullptr, buildGemma, /*padsLeft=*/true},
    {"NllbTokenizer", kBpe, kSentencePiece, nullptr, buildNllb},
    {"ReformerTokenizer", kBpe, "spiece.model", nullptr, buildReformer},
    {"OpenAIGPTTokenizer", kBpe, kVocabJson, kMerges, buildOpenAiGpt},
    {"HerbertTokenizer", kBpe, kVocabJson, kMerges, buildHerbert},
    {"T5Tokenizer", kUnigram, "spiece.model", nullptr, buildT5},
    {"AlbertTokenizer", kUnigram, "spiece.model", nullptr, buildAlbert},
    {"XLMRobertaTokenizer", kUnigram, kSentencePiece, nullptr, buildXlmRoberta},
    {"CamembertTokenizer", kUnigram, kSentencePiece, nullptr, buildCamembert},
    {"DebertaV2Tokenizer", kUnigram, "spm.model", nullptr, buildDebertaV2, false, /*givesTypes=*/true},
    {"MBartTokenizer", kUnigram, kSentencePiece, nullptr, buildMBart},
    {"MBart50Tokenizer", kUnigram, kSentencePiece, nullptr, buildMBart50},
    {"PegasusTokenizer", kUnigram, "spiece.model", nullptr, buildPegasus},
    {"BarthezTokenizer", kUnigram, kSentencePiece, nullptr, buildBarthez},
    {"BigBirdTokenizer", kUnigram, "spiece.model", nullptr, buildBigBird},
    {"RemBertTokenizer", kUnigram, "sentencepiece.model", nullptr, buildRemBert},
    {"XLNetTokenizer", kUnigram, "spiece.model", nullptr, buildXlNet, /*padsLeft=*/true},
    {"XGLMTokenizer", kUnigram, nullptr, nullptr, buildXglm},
    {"MarianTokenizer", std::nullopt, nullptr, nullptr, buildMarian, false, false, /*inPython=*/true},
    {"M2M100Tokenizer", std::nullopt, nullptr, nullptr, buildM2M100, false, false, /*inPython=*/true},
    {"EsmTokenizer", std::nullopt, nullptr, nullptr, buildEsm, false, false, /*inPython=*/true},
    {"BertGenerationTokenizer", std::nullopt, nullptr, nullptr, buildBertGeneration, false, false, /*inPython=*/true},
    {"BartphoTokenizer", std::nullopt, nullptr, nullptr, buildBartpho, false, false, /*inPython=*/true},
    {"PhobertTokenizer", std::nullopt, nullptr, nullptr, buildPhobert, false, false, /*inPython=*/true},
    {"BertweetTokenizer", std::nullopt, nullptr, nullptr, buildBertweet, false, false, /*inPython=*/true},
    {"BlenderbotSmallTokenizer", std::nullopt, nullptr, nullptr, buildBlenderbotSmall, false, false, /*inPython=*/true},
    {"ByT5Tokenizer", std::nullopt, nullptr, nullptr, buildByT5, false, false, /*inPython=*/true, /*needsNoFile=*/true},
};

/// Other names of classes, and the names in kClasses for which they stand.
const std::pair<const char *, const char *> kAliases[] = {
    {"PreTrainedTokenizer", "TokenizersBackend"}, {"PreTrainedTokenizerFast", "TokenizersBackend"},
    {"PythonBackend", "TokenizersBackend"},       {"BloomTokenizer", "TokenizersBackend"},
    {"ParakeetTokenizer", "TokenizersBackend"},   {"ElectraTokenizer", "BertTokenizer"},
    {"LayoutLMTokenizer", "BertTokenizer"},       {"LxmertTokenizer", "BertTokenizer"},
    {"MobileBertTokenizer", "BertTokenizer"},     {"SqueezeBertTokenizer", "BertTokenizer"},
    {"BartTokenizer", "RobertaTokenizer"},        {"LEDTokenizer", "RobertaTokenizer"},
    {"LongformerTokenizer", "RobertaTokenizer"},  {"MvpTokenizer", "RobertaTokenizer"},
    {"FNetTokenizer", "AlbertTokenizer"},
};

/// Classes of transformers that are not implemented here, separated by spaces. A name that is neither here nor in the
/// tables above is unknown to transformers and stands for kWhole.
constexpr const char *kOthers =
    "BertJapaneseTokenizer BertTokenizerLegacy BioGptTokenizer "
    "CTRLTokenizer CanineTokenizer CharacterTokenizer ClvpTokenizer CpmAntTokenizer CpmTokenizer "
    "DiaTokenizer EsmcTokenizer FSMTTokenizer FastSpeech2ConformerTokenizer FlaubertTokenizer GPTNeoXJapaneseTokenizer "
    "GPTSw3Tokenizer LasrTokenizer LayoutLMv2Tokenizer LayoutLMv3Tokenizer LayoutXLMTokenizer LukeTokenizer "
    "MLukeTokenizer MarkupLMTokenizer MecabTokenizer MgpstrTokenizer MistralCommonBackend MyT5Tokenizer NougatTokenizer "
    "PLBartTokenizer PerceiverTokenizer Pop2PianoTokenizer ProphetNetTokenizer RagTokenizer RoCBertTokenizer "
    "RoFormerTokenizer SeamlessM4TTokenizer Siglip2Tokenizer SiglipTokenizer Speech2TextTokenizer SpeechT5Tokenizer TapasTokenizer "
    "Tipsv2Tokenizer UdopTokenizer VideoPrismTokenizer VitsTokenizer Wav2Vec2CTCTokenizer Wav2Vec2PhonemeCTCTokenizer WhisperTokenizer "
    "XLMTokenizer";

/// Classes, each with the types of models that use it, separated by spaces.
constexpr std::pair<const char *, const char *> kModelTypes[] = {
    {"AlbertTokenizer", "albert yoso"},
    {"BartTokenizer", "florence2"},
    {"BarthezTokenizer", "barthez"},
    {"BartphoTokenizer", "bartpho"},
    {"BertGenerationTokenizer", "bert-generation"},
    {"BertJapaneseTokenizer", "bert-japanese"},
    {"BertTokenizer", "align bark bert blip bros chinese_clip convbert distilbert electra ernie flava git grounding-dino layoutlm "
                      "megatron-bert mm-grounding-dino nezha nomic_bert qdqbert realm retribert squeezebert tvp vilt visual_bert"},
    {"BertweetTokenizer", "bertweet"},
    {"BigBirdTokenizer", "big_bird"},
    {"BioGptTokenizer", "biogpt"},
    {"BlenderbotSmallTokenizer", "blenderbot-small"},
    {"BlenderbotTokenizer", "blenderbot"},
    {"ByT5Tokenizer", "byt5"},
    {"CLIPTokenizer", "aimv2 clip clipseg groupvit omdet-turbo oneformer owlv2 owlvit sam3 sam3_video xclip"},
    {"CTRLTokenizer", "ctrl"},
    {"CamembertTokenizer", "camembert"},
    {"CanineTokenizer", "canine"},
    {"ClvpTokenizer", "clvp"},
    {"CodeLlamaTokenizer", "code_llama"},
    {"CohereTokenizer", "aya_vision cohere cohere2"},
    {"CpmAntTokenizer", "cpmant"},
    {"CpmTokenizer", "cpm"},
    {"DPRQuestionEncoderTokenizer", "dpr"},
    {"DebertaTokenizer", "deberta"},
    {"DebertaV2Tokenizer", "deberta-v2"},
    {"DiaTokenizer", "dia"},
    {"EsmTokenizer", "esm"},
    {"EsmcTokenizer", "esmc esmfold2"},
    {"FNetTokenizer", "fnet"},
    {"FSMTTokenizer", "fsmt"},
    {"FlaubertTokenizer", "flaubert"},
    {"FunnelTokenizer", "funnel"},
    {"GPT2Tokenizer", "blip-2 codegen dbrx emu3 gpt2 gpt_neo gptj hyperclovax_vision_v2 instructblip instructblipvideo "
                      "jais2 opt phi starcoder2"},
    {"GPTNeoXJapaneseTokenizer", "gpt_neox_japanese"},
    {"GPTNeoXTokenizer", "falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv xlstm"},
    {"GPTSw3Tokenizer", "gpt-sw3"},
    {"GemmaTokenizer", "diffusion_gemma gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 t5gemma zaya"},
    {"HerbertTokenizer", "herbert"},
    {"LEDTokenizer", "led"},
    {"LasrTokenizer", "lasr_ctc lasr_encoder"},
    {"LayoutLMv2Tokenizer", "layoutlmv2"},
    {"LayoutLMv3Tokenizer", "layoutlmv3"},
    {"LayoutXLMTokenizer", "layoutxlm"},
    {"LlamaTokenizer", "idefics idefics2"},
    {"LukeTokenizer", "luke"},
    {"LxmertTokenizer", "lxmert"},
    {"M2M100Tokenizer", "m2m_100"},
    {"MBart50Tokenizer", "mbart50"},
    {"MBartTokenizer", "mbart"},
    {"MLukeTokenizer", "mluke"},
    {"MPNetTokenizer", "mpnet"},
    {"MarianTokenizer", "marian"},
    {"MarkupLMTokenizer", "markuplm"},
    {"MgpstrTokenizer", "mgp-str"},
    {"MobileBertTokenizer", "mobilebert"},
    {"MvpTokenizer", "mvp"},
    {"MyT5Tokenizer", "myt5"},
    {"NllbTokenizer", "nllb nllb-moe"},
    {"NougatTokenizer", "nougat pp_formulanet"},
    {"OpenAIGPTTokenizer", "openai-gpt"},
    {"PLBartTokenizer", "plbart"},
    {"ParakeetTokenizer", "granite_speech5_ctc nemotron3_5_asr nemotron_asr_streaming parakeet_ctc parakeet_rnnt parakeet_tdt"},
    {"PegasusTokenizer", "pegasus"},
    {"PerceiverTokenizer", "perceiver"},
    {"PhobertTokenizer", "phobert"},
    {"ProphetNetTokenizer", "prophetnet"},
    {"Qwen2Tokenizer", "audioflamingo3 colqwen2 cosmos3_omni dots3_note fun_asr_nano hunyuan_vl internvl lighton_ocr "
                       "moss_transcribe_diarize ovis2 qianfan_ocr qwen2 qwen2_5_omni qwen2_5_vl qwen2_audio qwen2_moe qwen2_vl qwen3 "
                       "qwen3_asr qwen3_moe qwen3_next qwen3_omni_moe qwen3_vl qwen3_vl_moe vibevoice"},
    {"Qwen3_5Tokenizer", "qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen4_exp"},
    {"RagTokenizer", "rag"},
    {"ReformerTokenizer", "reformer"},
    {"RemBertTokenizer", "rembert"},
    {"RoCBertTokenizer", "roc_bert"},
    {"RoFormerTokenizer", "roformer"},
    {"RobertaTokenizer", "bart bridgetower clap data2vec-text ibert lilt longformer mega mra roberta roberta-prelayernorm"},
    {"SeamlessM4TTokenizer", "seamless_m4t seamless_m4t_v2"},
    {"Siglip2Tokenizer", "siglip2"},
    {"SiglipTokenizer", "siglip"},
    {"Speech2TextTokenizer", "speech_to_text"},
    {"SpeechT5Tokenizer", "speecht5"},
    {"SplinterTokenizer", "splinter"},
    {"T5Tokenizer", "mt5 musicgen musicgen_melody switch_transformers t5"},
    {"TapasTokenizer", "tapas"},
    {"Tipsv2Tokenizer", "tipsv2"},
    {"TokenizersBackend",
     "EvollaModel arctic aria beam bigbird_pegasus camembertv2-base canary chatlm cohere_asr ernie4_5 ernie4_5_moe flex_olmo fuyu glm glm4 "
     "glm4_moe glm4_moe_lite glm4v glm4v_moe glm_image glmasr got_ocr2 gpt_bigcode gradium_phonon_tts granite granitemoe granitemoehybrid "
     "granitemoeshared h2ovl_chat hyperclovax hyperclovax_vlm internlm2 internlm3 iquestcoder jamba kimi_k25 kimi_linear kosmos-2 llava "
     "llava_next mimo_v2_flash minicpm3 minicpm_ocr minicpmv minicpmv4_6 minicpmv4_7 minimax_m2 ministral ministral3 mistral mistral3 "
     "mistral_large4 mixtral modernbert modernbert-decoder molmo molmo2 nemo_speechlm nemotron nvfp4 nystromformer olmo2 olmo3 olmo_hybrid "
     "opencua openvla paddleocr_vl pegasus_x persimmon phi3 phi3_v phimoe pix2struct pixtral pocket_tts smolvlm stablelm step3_vl umt5 "
     "vipllava voxtral voxtral_realtime xlm-roberta-xl"},
    {"UdopTokenizer", "udop"},
    {"VideoPrismTokenizer", "videoprism"},
    {"VitsTokenizer", "vits"},
    {"Wav2Vec2CTCTokenizer", "data2vec-audio hubert unispeech unispeech-sat wav2vec2 wav2vec2-bert wav2vec2-conformer"},
    {"Wav2Vec2PhonemeCTCTokenizer", "wav2vec2_phoneme"},
    {"WhisperTokenizer", "whisper"},
    {"XGLMTokenizer", "xglm"},
    {"XLMRobertaTokenizer", "gte jina_embeddings_v3 metaclip_2 trocr xlm-roberta xmod"},
    {"XLMTokenizer", "xlm"},
    {"XLNetTokenizer", "xlnet"},
};

/// Types of models whose folders may name a wrong class, separated by spaces. The class in kModelTypes counts instead
/// of the named one.
constexpr const char *kMisnamedTypes =
    "arctic camembertv2-base chatlm cohere_asr ernie4_5 ernie4_5_moe fuyu h2ovl_chat hyperclovax hyperclovax_vision_v2 hyperclovax_vlm "
    "internlm2 internlm3 iquestcoder jamba llava llava_next minicpm3 minicpmv minimax_m2 modernbert modernbert-decoder molmo molmo2 "
    "nemotron nvfp4 opencua openvla paddleocr_vl phi3 phi3_v phimoe qwen2 qwen3_5 qwen3_5_moe "
    "qwen3_5_moe_text qwen4_exp siglip2 smolvlm step3_vl "
    "vipllava";

bool listed(const char *list, const std::string &word) {
  std::istringstream stream(list);
  for (std::string entry; stream >> entry;)
    if (entry == word)
      return true;
  return false;
}

/// Returns |name| without "Fast" at its end.
std::string withoutFast(const std::string &name) {
  return name != "Fast" && endsWith(name, "Fast") ? name.substr(0, name.size() - 4) : name;
}

/// Returns the name of the class that kModelTypes has for the type |modelType|, "" if it has none.
std::string classOfType(const std::string &modelType) {
  for (auto [name, types] : kModelTypes)
    if (listed(types, modelType))
      return name;
  return {};
}

/// Returns the name in kClasses or kOthers of the class that |name| stands for, "" if transformers has no such class.
std::string resolveName(const std::string &name) {
  for (auto [alias, target] : kAliases)
    if (name == alias || name == alias + std::string("Fast"))
      return target;
  for (const std::string &form : {name, withoutFast(name)}) {
    for (const TokenizerClass &type : kClasses)
      if (form == type.name)
        return form;
    if (listed(kOthers, form))
      return form;
  }
  return {};
}

/// Returns the name of the class for a folder that names neither a class nor a type of model with a class, by the files
/// in the folder.
std::string guessName(const TokenizerArguments &arguments) {
  auto exists = [&](const char *name) {
    std::error_code error;
    return std::filesystem::is_regular_file(arguments.folder + "/" + name, error);
  };
  if (!arguments.tokenizerFile.empty())
    return kWhole.name;
  return exists("vocab.txt") ? "BertTokenizer" : exists("vocab.json") && exists("merges.txt") ? "GPT2Tokenizer" : kWhole.name;
}

/// Returns true if |value|, a component of tokenizer.json, is a ByteLevel or contains one.
bool hasByteLevel(const Json &value) {
  if (value.is_object() && value.contains("type") && value["type"] == "ByteLevel")
    return true;
  if (!value.is_object() && !value.is_array())
    return false;
  for (const Json &member : value)
    if (hasByteLevel(member))
      return true;
  return false;
}

/// The settings that decide the class: `tokenizer_class` of tokenizer_config.json and of config.json, and `model_type`
/// of config.json; "" if not given.
struct Names {
  std::string settings, config, modelType;
  bool hasCode = false; ///< tokenizer_config.json has `auto_map`, which names Python code of the folder
};

std::string chooseName(const TokenizerArguments &arguments, const Names &names) {
  const std::string given = names.settings.empty() ? names.config : names.settings, registered = classOfType(names.modelType);
  const bool misnamed = listed(kMisnamedTypes, names.modelType);
  if (!names.hasCode && withoutFast(given) == "LlamaTokenizer" && !misnamed)
    for (const char *key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"})
      if (const Json *value = findJson(arguments.tokenizer, key); value && hasByteLevel(*value))
        return kWhole.name;
  if (!names.hasCode && !given.empty() && !registered.empty() && registered != withoutFast(given)) {
    if (registered != kWhole.name)
      if (std::string name = resolveName(misnamed ? registered : given); !name.empty())
        return name;
    return kWhole.name;
  }
  if (!given.empty()) {
    std::string name = resolveName(given);
    return name.empty() ? kWhole.name : name;
  }
  return registered.empty() ? guessName(arguments) : resolveName(registered);
}

} // namespace

const TokenizerClass *attune::text::findTokenizerClass(const std::string &name) {
  for (const TokenizerClass &type : kClasses)
    if (name == type.name)
      return &type;
  return nullptr;
}

Result<const TokenizerClass *> attune::text::chooseTokenizerClass(const TokenizerArguments &arguments) {
  Names names;
  ATTUNE_RETURN_IF_FAILED(arguments.read("tokenizer_class", names.settings));
  names.hasCode = arguments.find("auto_map") != nullptr;
  std::error_code error;
  const std::string path = arguments.folder + "/config.json";
  if (std::filesystem::is_regular_file(path, error)) {
    Result<Json> config = readJsonFile(path);
    if (!config)
      return config.status();
    for (auto [key, place] : {std::pair("model_type", &names.modelType), std::pair("tokenizer_class", &names.config)})
      if (const Json *value = findJson(*config, key); value && value->is_string())
        *place = value->get<std::string>();
  }
  const std::string name = chooseName(arguments, names);
  if (const TokenizerClass *type = findTokenizerClass(name))
    return type;
  const bool fromSettings = !names.settings.empty() && resolveName(names.settings) == name;
  return Status::error((fromSettings ? arguments.configFile : path) + ": the tokenizer class " + name + " is not supported");
}
