//===- Rope.cpp - The keys of rotary embeddings ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/families/Rope.h"

#include <algorithm>
#include <cmath>

using namespace attune;

static constexpr double kRopeMost = 1e12;

/// Returns `factor` of |scaling|. If it is absent or null, returns |fallback| or, without one, records an error.
static double readFactor(ConfigReader &scaling, std::optional<double> fallback = std::nullopt) {
  if (!scaling.present("factor") && !fallback)
    scaling.fail("factor", "a number");
  return scaling.present("factor") ? scaling.number("factor", 1, 1e-6, kRopeMost) : fallback.value_or(1);
}

static void readLlama3(ConfigReader &scaling, double original, WeightParameters &parameters) {
  parameters.emplace_back("factor", readFactor(scaling));
  parameters.emplace_back("low_freq_factor", scaling.number("low_freq_factor", 1, 1e-6, kRopeMost));
  parameters.emplace_back("high_freq_factor", scaling.number("high_freq_factor", 4, 1e-6, kRopeMost));
  parameters.emplace_back("original_length", original);
}

/// Reads YaRN (Peng et al. 2023, "YaRN: Efficient Context Window Extension of Large Language Models"): pairs of
/// components before a ramp keep their frequencies, those after it have their frequencies divided by the factor, and
/// those on it have mixtures of both. Pairs are numbered from 0, the highest frequency, so the ends of the ramp are
/// numbers of pairs; with |fallback|.truncate they are rounded outward to integers. |fallback|.factor is the default of
/// `factor`.
static void readYarn(ConfigReader &scaling, double base, int64_t width, const RopeDefaults::Yarn &fallback, WeightParameters &parameters) {
  double factor = readFactor(scaling, fallback.factor), original = fallback.original;
  double fast = scaling.present("beta_fast") ? scaling.number("beta_fast", 32, 1e-6, kRopeMost) : 32;
  double slow = scaling.present("beta_slow") ? scaling.number("beta_slow", 1, 1e-6, kRopeMost) : 1;
  // Returns the number of the pair, as a fraction, that makes |rotations| full rotations within the original length.
  auto pairOf = [&](double rotations) { return double(width) * std::log(original / (rotations * 2 * M_PI)) / (2 * std::log(base)); };
  double low = pairOf(fast), high = pairOf(slow);
  if (fallback.truncate)
    low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, double(width - 1));
  parameters.emplace_back("factor", factor);
  parameters.emplace_back("ramp_begin", low);
  parameters.emplace_back("ramp_end", low == high ? high + 0.001 : high);
  auto scaleOf = [&](double scale) { return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1; };
  double attention = scaleOf(1);
  double scale = scaling.present("mscale") ? scaling.number("mscale", 0, -kRopeMost, kRopeMost) : 0;
  double allScale = scaling.present("mscale_all_dim") ? scaling.number("mscale_all_dim", 0, -kRopeMost, kRopeMost) : 0;
  if (scale != 0 && allScale != 0)
    attention = scaleOf(scale) / scaleOf(allScale);
  if (scaling.present("attention_factor"))
    attention = scaling.number("attention_factor", 1, -kRopeMost, kRopeMost);
  parameters.emplace_back("attention_factor", attention);
}

/// Reads the type `ntk`. The frequency of pair i is `(theta * factor)^(-2 i / width) / factor^(2 / width)`: that of the
/// base `theta * factor`, divided by a constant. So |rope| gets this base, and the constant as the factor of the type
/// `linear`.
static void readNtk(ConfigReader &scaling, double theta, RopeSpec &rope) {
  double factor = readFactor(scaling);
  scaling.reject("mixed_b", "frequencies with exponents of their own are not implemented");
  rope.parameters.front().second = theta * factor;
  rope.parameters.emplace_back("factor", std::pow(factor, 2 / double(rope.width)));
}

/// Reads LongRoPE (Ding et al. 2024, "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens"): each frequency
/// has two factors of its own, one for sequences of at most |original| tokens and one for longer ones. |positions| is
/// the number of positions of the model; divided by |original|, it is the default of `factor`.
static void readLongRope(ConfigReader &scaling, int64_t positions, int64_t original, RopeSpec &rope) {
  double factor = readFactor(scaling, double(positions) / double(original));
  double attention = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(double(original)));
  if (scaling.present("attention_factor"))
    attention = scaling.number("attention_factor", 1, -kRopeMost, kRopeMost);
  if (original == 1 && factor > 1 && !scaling.present("attention_factor"))
    scaling.fail("attention_factor", "a number, as its default divides by the logarithm of 'original_max_position_embeddings', which is 1");
  rope.longParameters = rope.parameters;
  auto add = [&](WeightParameters &parameters, const char *key) {
    parameters.emplace_back("factors", scaling.numbers(key, size_t(rope.width / 2), 1e-6, kRopeMost));
    parameters.emplace_back("attention_factor", attention);
  };
  add(rope.parameters, "short_factor");
  add(rope.longParameters, "long_factor");
  rope.shortLength = original;
}

bool attune::hasRopeScaling(const Config &config) { return !config.object("rope_scaling").keys().empty(); }

static bool hasTypes(const Config &parameters) { return parameters.find("full_attention") || parameters.find("sliding_attention"); }

/// Returns the object with the parameters of layers of |layerType|, or of all layers if it is null, as a configuration
/// of its own. In a family with types of layers `rope_scaling` applies to "full_attention" alone, and its keys take
/// precedence over those of this type in `rope_parameters`.
static Config findParameters(ConfigReader &reader, const Config &config, const char *layerType) {
  for (const char *key : {"rope_scaling", "rope_parameters"})
    if (reader.present(key) && !config.find(key)->is_object())
      reader.fail(key, "an object");
  const char *key = hasRopeScaling(config) ? "rope_scaling" : "rope_parameters";
  Config scaling = config.object(key);
  if (!layerType) {
    if (hasTypes(scaling))
      reader.fail(key, "one object for all layers");
    return scaling;
  }
  Config parameters = config.object("rope_parameters"), ofType = parameters.object(layerType);
  // transformers ignores parameters outside of the objects for types of layers; here they are an error.
  if (!hasTypes(parameters) && !parameters.keys().empty())
    reader.fail("rope_parameters", "an object with 'full_attention' and 'sliding_attention'");
  if (!hasRopeScaling(config) || std::string(layerType) != "full_attention")
    return ofType;
  for (const std::string &key : ofType.keys())
    scaling.inherit(key, ofType);
  // Without `rope_parameters` transformers begins with the parameters of the family's configuration class. They have
  // the `rope_type` "default", which takes precedence over the older key `type` of the file.
  if (parameters.keys().empty() && !scaling.find("rope_type"))
    scaling.set("rope_type", "default");
  return scaling;
}

RopeSpec attune::readRope(ConfigReader &reader, const Config &config, int64_t headSize, int64_t positions, const RopeDefaults &defaults,
                          const char *layerType) {
  const Config object = findParameters(reader, config, layerType);
  ConfigReader scaling(object);
  RopeSpec rope;
  bool hasTheta = defaults.thetaKey && reader.present(defaults.thetaKey);
  double theta = hasTheta ? reader.number(defaults.thetaKey, defaults.theta, 1, kRopeMost) : defaults.theta;
  if (scaling.present("rope_theta"))
    theta = scaling.number("rope_theta", theta, 1, kRopeMost);
  const char *typeKey = scaling.present("rope_type") ? "rope_type" : "type";
  bool isAbsent = defaults.absent && !hasRopeScaling(config) && !reader.present("rope_parameters");
  std::string type = scaling.present(typeKey) ? scaling.string(typeKey, "default") : isAbsent ? "yarn" : "default";
  // Null means whole heads, whatever the family's default.
  double part = reader.knows(defaults.partialKey) ? 1 : defaults.partialFactor;
  if (reader.present(defaults.partialKey))
    part = reader.number(defaults.partialKey, 1, 0, 1);
  if (scaling.present("partial_rotary_factor"))
    part = scaling.number("partial_rotary_factor", part, 0, 1);
  if (type == "default" && !defaults.partial)
    part = 1;
  rope.width = int64_t(double(headSize) * part);
  if (rope.width < 2 || rope.width % 2 != 0)
    reader.fail(reader.present(defaults.partialKey) ? defaults.partialKey : "hidden_size",
                "an even number of rotated components in heads of " + std::to_string(headSize));
  rope.parameters = {{"base", theta}};
  if (defaults.alpha && type == "dynamic" && scaling.present("alpha") && rope.width > 2)
    rope.parameters.front().second =
        theta * std::pow(scaling.number("alpha", 1, 1e-6, kRopeMost), double(rope.width) / double(rope.width - 2));
  if (!defaults.yarn && (type == "su" || type == "yarn"))
    type = "longrope";
  // In order of precedence: the key of the configuration itself, which is not read in families with types of layers;
  // the family's default; the key in |scaling|; |positions|.
  double original = double(scaling.integer("original_max_position_embeddings", positions, {1, int64_t(1) << 31}));
  if (defaults.originalPositions != 0)
    original = double(defaults.originalPositions);
  if (!layerType && reader.present("original_max_position_embeddings"))
    original = double(reader.integer("original_max_position_embeddings", positions, {1, int64_t(1) << 31}));
  RopeDefaults::Yarn yarn = isAbsent ? *defaults.absent : RopeDefaults::Yarn{double(positions) / original, original, true};
  // transformers does not read `truncate` in an object for one type of layers.
  if (!layerType && type == "yarn")
    yarn.truncate = scaling.flag("truncate", yarn.truncate);
  // Frequencies of the type "dynamic" change only for sequences longer than the model's positions, which the limit of
  // lengths excludes.
  if (type != "default" && type != "dynamic")
    rope.parameters.emplace_back("scaling", type == "ntk" ? "linear" : type);
  if (type == "linear")
    rope.parameters.emplace_back("factor", readFactor(scaling));
  else if (type == "llama3")
    readLlama3(scaling, original, rope.parameters);
  else if (type == "yarn" && defaults.yarn)
    readYarn(scaling, theta, rope.width, yarn, rope.parameters);
  else if (type == "ntk" && defaults.ntk)
    readNtk(scaling, theta, rope);
  else if (type == "longrope" && !layerType)
    readLongRope(scaling, positions, int64_t(original), rope);
  else if (type != "default" && type != "dynamic")
    scaling.fail(typeKey, std::string("one of default, dynamic, linear, llama3") + (defaults.yarn ? ", yarn" : "") +
                              (defaults.ntk ? ", ntk" : "") + (layerType ? "" : ", longrope") + (defaults.yarn ? "" : ", su, yarn"));
  reader.join(scaling);
  return rope;
}

WeightId attune::declareRope(TransformerSpec &spec, const std::string &name, const RopeSpec &rope, int64_t positions) {
  auto table = [&](const std::string &called, int64_t rows, const WeightParameters &parameters) {
    return spec.computed(called, {rows, rope.width}, "rotary", parameters);
  };
  if (rope.longParameters.empty() || rope.shortLength >= positions)
    return table(name, positions, rope.parameters);
  StackSpec &stack = spec.mainStack() == StackRole::Decoder ? *spec.decoder : *spec.encoder;
  stack.shortRotaryRows = rope.shortLength;
  WeightId shortTable = table(name + ".short", rope.shortLength, rope.parameters);
  return spec.concat(0, {shortTable, table(name + ".long", positions, rope.longParameters)});
}
