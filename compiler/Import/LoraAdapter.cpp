//===- LoraAdapter.cpp - A LoRA adapter as PEFT writes it -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/LoraAdapter.h"
#include "compiler/Import/Config.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

using namespace attune;
using llvm::StringRef;

/// Keys that `open` does not read, since they do not change what a trained adapter computes. The names of the tensors
/// in the file, not these keys, decide which modules are adapted.
static constexpr StringRef ignoredKeys[] = {
    "auto_mapping",      "corda_config",   "ensure_weight_tying", "eva_config",          "exclude_modules",
    "fan_in_fan_out",    "inference_mode", "layers_pattern",      "layers_to_transform", "loftq_config",
    "lora_dropout",      "lora_ga_config", "megatron_core",       "modules_to_save",     "peft_version",
    "qalora_group_size", "revision",       "runtime_config",      "target_modules",      "task_type",
};

/// Keys that must be absent or off, with the reason.
static constexpr std::pair<const char *, const char *> refusedKeys[] = {
    {"alora_invocation_tokens", "adapters that begin at a token are not implemented"},
    {"layer_replication", "repeated layers are not implemented"},
    {"megatron_config", "divided layers are not implemented"},
    {"target_parameters", "adapters of single parameters are not implemented"},
    {"trainable_token_indices", "single trained rows of an embedding are not implemented"},
    {"use_dora", "magnitudes of DoRA are not implemented"},
    {"use_qalora", "grouped inputs are not implemented"},
};

/// Refuses values of `init_lora_weights` with which PEFT changes the weights of the base model, too: the adapter then
/// belongs to weights that no file has.
static void checkStart(ConfigReader &reader, const Config &config) {
  const Json *start = config.find("init_lora_weights");
  if (!start || start->is_null() || start->is_boolean())
    return;
  static constexpr std::pair<const char *, int> known[] = {{"eva", 0}, {"gaussian", 0}, {"orthogonal", 0}, {"true", 0}, {"false", 0}};
  reader.choose("init_lora_weights", reader.string("init_lora_weights"), known);
}

namespace {

/// A setting that is a number, with other numbers for some modules: `r`, for example, which `rank_pattern` replaces for
/// the modules that it names.
class PatternedNumber {
public:
  PatternedNumber(ConfigReader &reader, const Config &config, const char *key, double fallback, const char *patternKey)
      : value(reader.number(key, fallback, 0, 1e9)), patternKey(patternKey) {
    const Config patterns = config.object(patternKey);
    ConfigReader values(patterns);
    for (const std::string &pattern : patterns.keys()) {
      // As in PEFT, a pattern matches the end of a module's path.
      const std::optional<std::string> translated = translate(pattern);
      llvm::Regex regex("^(.*\\.)?(" + translated.value_or("") + ")$");
      std::string problem;
      if (translated && !regex.isValid(problem))
        reader.fail(patternKey, "a regular expression in the place of '" + pattern + "' (" + problem + ")");
      if (!translated)
        reader.fail(patternKey, "regular expressions without look-around, classes other than \\d and \\w, and escaped '[', ']', '^' or '-' "
                                "in brackets, as '" +
                                    pattern + "' has");
      others.push_back({pattern, std::move(regex), values.number(pattern.c_str(), 0, 0, 1e9)});
    }
    reader.join(values);
  }

  /// Returns the value for the module |path|, that of the matching pattern, or the number for all modules if none
  /// matches. Fails if several match with different numbers: PEFT takes the first of them in the file, but the order in
  /// the file is not kept here.
  Result<double> of(const std::string &path) const {
    const Other *found = nullptr;
    for (const Other &other : others) {
      if (!other.regex.match(path))
        continue;
      if (found && found->number != other.number)
        return Status::error("'" + patternKey + "': expected one number for '" + path + "', but '" + found->pattern + "' and '" +
                             other.pattern + "' match it with different ones");
      found = &other;
    }
    return found ? found->number : value;
  }

private:
  /// Translates a Python pattern to the syntax of POSIX. Returns nullopt if POSIX has no equal for a part of the
  /// pattern, or gives the part another meaning.
  static std::optional<std::string> translate(StringRef pattern) {
    std::string text;
    while (!pattern.empty()) {
      char first = pattern.front(), next = pattern.size() > 1 ? pattern[1] : '\0';
      if (first == '[') {
        std::optional<std::string> set = translateSet(pattern);
        if (!set)
          return std::nullopt;
        text += *set;
        continue;
      }
      bool repeatsTwice = next != '\0' && StringRef("*+?}").contains(first) && StringRef("?+").contains(next);
      if (repeatsTwice || (first == '(' && next == '?'))
        return std::nullopt;
      if (first != '\\') {
        text += first;
        pattern = pattern.drop_front();
        continue;
      }
      StringRef members = membersOf(next);
      if (members.empty() && llvm::isAlnum(next))
        return std::nullopt;
      text += members.empty() ? pattern.take_front(2).str() : ("[" + members + "]").str();
      pattern = pattern.drop_front(std::min<size_t>(2, pattern.size()));
    }
    return text;
  }
  /// Translates the set of characters in brackets with which |pattern| begins, and removes it from |pattern|. In POSIX
  /// a backslash in brackets is a character like others.
  static std::optional<std::string> translateSet(StringRef &pattern) {
    pattern.consume_front("[");
    std::string text = pattern.consume_front("^") ? "[^" : "[";
    if (pattern.consume_front("]"))
      text += ']';
    for (; !pattern.starts_with("]"); pattern = pattern.drop_front()) {
      if (pattern.empty())
        return std::nullopt;
      if (pattern.consume_front("\\")) {
        StringRef members = pattern.empty() ? "" : membersOf(pattern.front());
        // POSIX has no escapes in brackets, so a character with a meaning there would have to move among the members.
        if (members.empty() && (pattern.empty() || llvm::isAlnum(pattern.front()) || StringRef("[]^-").contains(pattern.front())))
          return std::nullopt;
        text += members.empty() ? pattern.take_front() : members;
      } else if (pattern.starts_with("[:") || pattern.starts_with("[.") || pattern.starts_with("[=")) {
        return std::nullopt;
      } else {
        text += pattern.front();
      }
    }
    pattern.consume_front("]");
    return text + "]";
  }
  /// Returns the characters of the class `\d` or `\w`, whose letter is |name|, as POSIX writes them in brackets; "" for
  /// other letters.
  static StringRef membersOf(char name) { return name == 'd' ? "0-9" : name == 'w' ? "A-Za-z0-9_" : ""; }

  /// A pattern, and the value of the setting for the modules that it matches.
  struct Other {
    std::string pattern;
    llvm::Regex regex;
    double number;
  };
  double value;
  std::string patternKey;
  std::vector<Other> others;
};

} // namespace

/// Returns the error that a tensor is not as expected.
static Status wrongTensor(const std::string &file, const std::string &name, const std::string &expected) {
  return Status::error(file + ": tensor '" + name + "': expected " + expected);
}

Status LoraAdapter::addTensor(const TensorView &view) {
  StringRef name = view.name;
  if (!isFloat(view.dtype))
    return wrongTensor(file(), view.name, std::string(kFloatNames) + ", got " + dtypeName(view.dtype));
  if (!name.consume_front("base_model.model."))
    return wrongTensor(file(), view.name, "a name that begins with 'base_model.model.'");
  // Leaves out the parts of the path that are PEFT's names for a module inside its wrappers.
  std::string path;
  for (StringRef rest = name; !rest.empty();) {
    auto [part, next] = rest.split('.');
    if (part != "base_layer" && part != "modules_to_save")
      path += (path.empty() ? "" : ".") + part.str();
    rest = next;
  }
  StringRef module = path;
  const TensorView *AdapterPart::*member = &AdapterPart::replacement;
  bool embedding = false;
  std::string target = path;
  if (module.consume_back(".lora_A.weight"))
    member = &AdapterPart::a;
  else if (module.consume_back(".lora_B.weight"))
    member = &AdapterPart::b;
  else if (module.consume_back(".lora_embedding_A"))
    member = &AdapterPart::a, embedding = true;
  else if (module.consume_back(".lora_embedding_B"))
    member = &AdapterPart::b, embedding = true;
  else if (module.consume_back(".lora_B.bias"))
    member = &AdapterPart::b, target = module.str() + ".bias";
  else if (StringRef(path).contains("lora_"))
    return wrongTensor(file(), view.name,
                       "a name that ends with lora_A.weight, lora_B.weight, lora_B.bias, lora_embedding_A or lora_embedding_B");
  if (member != &AdapterPart::replacement && target == path)
    target = module.str() + ".weight";
  AdapterPart &part = byName[target];
  if (part.*member)
    return wrongTensor(file(), view.name, "one tensor for this place, got '" + (part.*member)->name + "', too");
  part.*member = &view;
  part.embedding |= embedding;
  return {};
}

Result<LoraAdapter> LoraAdapter::open(const std::string &folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    return Status::error(folder + ": expected an adapter folder with " + configName + ", " +
                         (std::filesystem::exists(folder, ignored) ? "got a file" : "found nothing"));
  Result<Config> config = Config::open(folder, configName);
  if (!config)
    return config.status();
  ConfigReader reader(*config);
  static constexpr std::pair<const char *, int> types[] = {{"LORA", 0}};
  reader.choose("peft_type", reader.string("peft_type"), types);
  PatternedNumber rank(reader, *config, "r", 8, "rank_pattern"), alpha(reader, *config, "lora_alpha", 8, "alpha_pattern");
  bool rootOfRank = reader.flag("use_rslora", false);
  static constexpr std::pair<const char *, int> biases[] = {{"none", 0}, {"all", 0}, {"lora_only", 0}};
  reader.choose("bias", reader.string("bias", "none"), biases);
  reader.flag("lora_bias", false);
  checkStart(reader, *config);
  for (const auto &[key, reason] : refusedKeys)
    reader.reject(key, reason);
  static constexpr StringRef read[] = {"peft_type",  "r",    "rank_pattern", "lora_alpha",        "alpha_pattern",
                                       "use_rslora", "bias", "lora_bias",    "init_lora_weights", "base_model_name_or_path"};
  for (const std::string &key : config->keys())
    if (!llvm::is_contained(read, key) && !llvm::is_contained(ignoredKeys, key))
      reader.reject(key.c_str(), "the key is not known");
  std::string base = reader.present("base_model_name_or_path") ? reader.string("base_model_name_or_path") : "";
  if (reader.status().failed())
    return reader.status();

  const std::filesystem::path path = std::filesystem::path(folder) / tensorsName;
  if (!std::filesystem::exists(path, ignored) && std::filesystem::exists(std::filesystem::path(folder) / "adapter_model.bin", ignored))
    return Status::error(folder + ": expected " + tensorsName +
                         ", found only adapter_model.bin; convert it, as save_pretrained of PEFT writes it");
  Result<SafetensorsFile> file = SafetensorsFile::open(path.string());
  if (!file)
    return file.status();
  LoraAdapter adapter(std::move(*file));
  adapter.base = std::move(base);
  for (const auto &entry : adapter.tensors.tensors())
    if (Status status = adapter.addTensor(entry.second); status.failed())
      return status;
  if (adapter.byName.empty())
    return Status::error(adapter.file() + ": expected tensors of an adapter, found none");
  for (auto &[name, part] : adapter.byName) {
    bool isBias = part.b && StringRef(part.b->name).ends_with(".lora_B.bias");
    if (part.b && !part.a && !isBias)
      return wrongTensor(adapter.file(), part.b->name, "the other factor beside it, lora_A or lora_embedding_A, which is missing");
    if (part.a && !part.b)
      return wrongTensor(adapter.file(), part.a->name, "the other factor beside it, lora_B or lora_embedding_B, which is missing");
    if (!part.b)
      continue;
    const std::string module = name.substr(0, name.rfind('.'));
    Result<double> moduleRank = rank.of(module), moduleAlpha = alpha.of(module);
    for (const Result<double> *number : {&moduleRank, &moduleAlpha})
      if (!*number)
        return Status::error(config->file() + ": " + number->message());
    double size = *moduleRank, scaled = *moduleAlpha;
    if (size < 1 || size != std::floor(size))
      return Status::error(config->file() + ": 'r': expected an integer of at least 1 for '" + module + "', got " + Json(size).dump());
    if (part.a && (part.a->shape.empty() || part.a->shape[0] != int64_t(size)))
      return wrongTensor(adapter.file(), part.a->name,
                         "rank " + std::to_string(int64_t(size)) + " of " + configName + ", got shape " + shapeText(part.a->shape));
    part.scale = scaled / (rootOfRank ? std::sqrt(size) : size);
  }
  return adapter;
}
