//===- QuantizationConfig.cpp - How a folder's weights are quantized ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/QuantizationConfig.h"

#include "llvm/ADT/StringRef.h"

using namespace attune;

static constexpr const char *settingsKey = "quantization_config";

/// The accepted sizes of groups and blocks, in elements; the largest is more than any model has features.
static constexpr attune::IntegerRange groupSizes = {1, 1 << 24};

/// Returns `group_size`, or |fallback| if it is absent; 0 if it is -1 or null, which means one group of all columns.
static int64_t readGroupSize(ConfigReader &reader, int64_t fallback) {
  if (!reader.present("group_size"))
    return reader.knows("group_size") ? 0 : fallback;
  const int64_t size = reader.integer("group_size", -1, {-1, groupSizes.max});
  if (size == 0)
    reader.fail("group_size", "the number of features with one scale, or -1");
  return size == -1 ? 0 : size;
}

/// The size of a group of GPTQ and AWQ in folders that do not say it, as in transformers.
static constexpr int64_t usualGroupSize = 128;

/// Records errors for settings of GPTQ and AWQ that are not implemented.
static void rejectSettings(ConfigReader &reader) {
  reader.reject("dynamic", "settings of single modules are not implemented");
  reader.reject("rotation", "rotated weights are not implemented");
  reader.reject("adapter", "adapters of quantized models are not implemented");
}

static void readGptq(ConfigReader &reader, QuantizedFormat &format) {
  static constexpr std::pair<const char *, bool> forms[] = {{"gptq", true}, {"gptq_v2", false}};
  format.method = QuantizedFormat::Gptq;
  const int64_t bits = reader.integer("bits", 4, {2, 8});
  if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
    reader.fail("bits", "2, 3, 4 or 8");
  format.groups = {{int(bits), readGroupSize(reader, usualGroupSize)}};
  // Newer files call the key `format`.
  const char *key = reader.present("checkpoint_format") || !reader.present("format") ? "checkpoint_format" : "format";
  const std::string name = reader.present(key) ? llvm::StringRef(reader.string(key)).lower() : "gptq";
  if (const auto *form = reader.choose(key, name, forms))
    format.zerosMinusOne = form->second;
  if (reader.present("pack_dtype") && reader.string("pack_dtype") != "int32")
    reader.fail("pack_dtype", "\"int32\"");
  reader.reject("is_marlin_format", "the form 'marlin' of files is not implemented");
  rejectSettings(reader);
}

static void readAwq(ConfigReader &reader, const Config &settings, QuantizedFormat &format) {
  format.method = QuantizedFormat::Awq;
  if (reader.integer("bits", 4, {1, 8}) != 4)
    reader.fail("bits", "4");
  format.groups = {{4, readGroupSize(reader, usualGroupSize)}};
  for (const char *key : {"version", "format"})
    if (settings.find(key) && llvm::StringRef(reader.string(key, "gemm")).lower() != "gemm")
      reader.fail(key, "\"gemm\" (other forms of files are not implemented)");
  if (!reader.flag("zero_point", true))
    reader.fail("zero_point", "true");
  rejectSettings(reader);
}

/// Reads one group of modules of compressed-tensors: adds its form to |result|, and its first error to |joined|. If the
/// configuration quantizes the activations of the group and |warned| is false, adds a warning that they are not
/// quantized, and sets |warned|.
static void readModules(const Config &modules, ConfigReader &joined, QuantizationConfig &result, bool &warned) {
  const Config weights = modules.object("weights");
  ConfigReader group(modules), reader(weights);
  if (!group.present("weights")) {
    group.fail("weights", "an object");
    return joined.join(group);
  }
  static constexpr std::pair<const char *, bool> types[] = {{"int", true}, {"float", false}};
  const int64_t bits = reader.integer("num_bits", 8, {1, 8});
  const auto *type = reader.choose("type", reader.string("type", "int"), types);
  if (type && !type->second && bits != 8)
    reader.fail("num_bits", "8, as 'type' is float");
  static constexpr std::pair<const char *, int> strategies[] = {{"tensor", 0}, {"channel", 0}, {"group", 1}, {"block", 2}};
  // The library compressed-tensors derives a missing `strategy`, the kind of scales, from `group_size`.
  const char *implied = reader.present("group_size") ? "group" : "tensor";
  const auto *strategy =
      reader.choose("strategy", reader.present("strategy") ? reader.string("strategy") : std::string(implied), strategies);
  QuantizedFormat::Groups groups = {int(bits), 0};
  if (strategy && strategy->second == 1) {
    groups.size = readGroupSize(reader, 0);
  } else if (strategy && strategy->second == 2) {
    std::pair<int64_t, int64_t> block = reader.integerPair("block_structure", 128, groupSizes);
    QuantizedFormat &format = result.format;
    if (format.blockRows > 0 && block != std::pair(format.blockRows, format.blockColumns))
      reader.fail("block_structure", "the same blocks in all groups of modules");
    std::tie(format.blockRows, format.blockColumns) = block;
  }
  result.format.groups.push_back(groups);
  if (group.present("input_activations") && !warned) {
    result.warnings.push_back(modules.file() + ": '" + modules.label("input_activations") +
                              "': activations are not quantized; the model is computed with the stored weights");
    warned = true;
  }
  joined.join(group);
  joined.join(reader);
}

static void readCompressedTensors(ConfigReader &reader, const Config &settings, QuantizationConfig &result) {
  static constexpr std::pair<const char *, int> forms[] = {
      {"pack-quantized", 0}, {"int-quantized", 0}, {"naive-quantized", 0}, {"float-quantized", 0}};
  result.format.method = QuantizedFormat::CompressedTensors;
  reader.choose("format", reader.string("format", "pack-quantized"), forms);
  reader.reject("transform_config", "rotated weights are not implemented");
  reader.reject("moe_sparsity_config", "experts that were removed are not implemented");
  if (reader.present("sparsity_config")) {
    const Config sparsity = settings.object("sparsity_config");
    ConfigReader nested(sparsity);
    if (nested.present("format") && nested.string("format") != "dense")
      nested.fail("format", "\"dense\" (sparse forms are not implemented)");
    reader.join(nested);
  }
  if (reader.present("kv_cache_scheme"))
    result.warnings.push_back(settings.file() + ": '" + settings.label("kv_cache_scheme") + "': caches are not quantized");
  const Config groups = settings.object("config_groups");
  bool warnedOfActivations = false;
  for (const std::string &name : groups.keys())
    readModules(groups.object(name), reader, result, warnedOfActivations);
  if (groups.keys().empty())
    reader.fail("config_groups", "an object with groups of modules");
}

static void readFloat8(ConfigReader &reader, QuantizedFormat &format) {
  format.method = QuantizedFormat::BlockFloat8;
  // A null `weight_block_size` stands for one scale for all elements of a matrix.
  if (reader.present("weight_block_size") || !reader.knows("weight_block_size"))
    std::tie(format.blockRows, format.blockColumns) = reader.integerPair("weight_block_size", 128, groupSizes);
  if (reader.present("fmt") && reader.string("fmt") != "e4m3")
    reader.fail("fmt", "\"e4m3\"");
}

/// Returns the part of a message that says how to make an unquantized copy of a model that |method| has quantized; ""
/// for methods without such advice.
static std::string adviseOnMethod(const std::string &method) {
  if (method == "mxfp4")
    return " (Mxfp4Config(dequantize=True) of transformers makes a copy in bf16)";
  if (method == "bitsandbytes")
    return " (dequantize() of transformers' models makes a copy in f16)";
  return "";
}

Result<std::optional<QuantizationConfig>> attune::readQuantizationConfig(const Config &config) {
  ConfigReader outer(config);
  const Json *value = config.find(settingsKey);
  if (!value || value->is_null() || (value->is_object() && value->empty()))
    return std::optional<QuantizationConfig>();
  if (!value->is_object()) {
    outer.fail(settingsKey, "an object");
    return outer.status();
  }
  const Config settings = config.object(settingsKey);
  ConfigReader reader(settings);
  QuantizationConfig result;
  const std::string method = reader.string("quant_method");
  if (method == "gptq")
    readGptq(reader, result.format);
  else if (method == "awq")
    readAwq(reader, settings, result.format);
  else if (method == "compressed-tensors")
    readCompressedTensors(reader, settings, result);
  else if (method == "fp8")
    readFloat8(reader, result.format);
  else
    reader.fail("quant_method", "one of gptq, awq, compressed-tensors, fp8" + adviseOnMethod(method));
  if (reader.status().failed())
    return reader.status();
  return std::optional<QuantizationConfig>(std::move(result));
}
