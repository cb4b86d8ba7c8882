//===- Describe.cpp - Description of an artifact --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Describe.h"
#include "compiler/Tools/BenchCall.h"
#include "attune/generate.h"
#include "compiler/Tools/PackedWeights.h"
#include "compiler/Tools/Roofline.h"

#include <iterator>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

static const char *fillName(uint32_t fill) {
  static const char *names[] = {"required", "zeros", "ones", "arange", "tokens", "slots", "sources", "past_lengths", "source_lengths"};
  return fill < std::size(names) ? names[fill] : "unknown";
}

static OrderedJson describeTensor(const attune_entry_desc &entry, const attune_tensor_desc &tensor, bool input) {
  OrderedJson result;
  result["name"] = tensor.name;
  result["dtype"] = attune_dtype_name(static_cast<attune_dtype>(tensor.dtype));
  result["shape"] = signatureText(entry, tensor);
  if (input) {
    result["default"] = fillName(tensor.fill);
    if (tensor.max_value > 0)
      result["max_value"] = tensor.max_value - 1;
  } else if (tensor.group) {
    result["group"] = true;
  }
  return result;
}

/// Number of workers of a session on an H100: two blocks for each of 132 multiprocessors.
static constexpr int64_t gpuWorkers = 264;

static Result<OrderedJson> describeEntry(const attune_model_desc &desc, const attune_entry_desc &entry, const DescribeOptions &options,
                                         const ProfileFile *profile) {
  OrderedJson result;
  result["name"] = entry.name;
  if (entry.cache_use != ATTUNE_CACHE_UNUSED)
    result["caches"] = cacheUseName(entry.cache_use);
  OrderedJson limits = OrderedJson::object(), given = OrderedJson::object();
  profile = profile && profile->isOf(entry) ? profile : nullptr;
  Result<std::vector<int64_t>> dims = profile ? profile->dims(entry) : options.dims.resolve(entry, /*strict=*/false);
  if (!dims)
    return dims.status();
  for (uint32_t i = 0; i < entry.num_dims; ++i) {
    limits[entry.dims[i].name] = entry.dims[i].max > 0 ? OrderedJson(entry.dims[i].max) : OrderedJson("unlimited");
    given[entry.dims[i].name] = (*dims)[i];
  }
  result["limits"] = limits;
  result["inputs"] = OrderedJson::array();
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    result["inputs"].push_back(describeTensor(entry, entry.inputs[i], true));
  result["outputs"] = OrderedJson::array();
  for (uint32_t i = 0; i < entry.num_outputs; ++i)
    result["outputs"].push_back(describeTensor(entry, entry.outputs[i], false));
  int64_t workers = options.threads > 0 ? options.threads : desc.device == ATTUNE_DEVICE_CUDA ? gpuWorkers : attune_available_cpus();
  result["dims"] = given;
  result["workers"] = workers;
  result["workspace_bytes"] = entry.workspace_bytes(dims->data(), workers);
  result["flops"] = entry.flops(dims->data(), workers);
  if (entry.gathers && entry.gather_bytes) {
    // The numbers are those of one rank: the calls of all_gather that the rank makes, and the bytes that it receives
    // from the others.
    result["gathers"] = entry.gathers(dims->data(), 0);
    result["gather_bytes"] = entry.gather_bytes(dims->data(), 0);
    result["gather_bytes_per_token"] = static_cast<double>(entry.gather_bytes(dims->data(), 0)) / tokensOf(entry, *dims);
  }
  OrderedJson roofline = describeRoofline(desc, entry, *dims);
  if (profile) {
    Result<OrderedJson> machine = profile->apply(roofline, desc, entry);
    if (!machine)
      return machine.status();
    result["measured"] = *machine;
  }
  result["roofline"] = roofline;
  return result;
}

/// Describes the model's default generation settings.
static OrderedJson describeGeneration(const attune_model *model) {
  attune_generation_options options;
  attune_generation_options_init(model, &options);
  OrderedJson result;
  if (options.max_new_tokens > 0)
    result["max_new_tokens"] = options.max_new_tokens;
  else
    result["max_length"] = options.max_length;
  result["num_beams"] = options.num_beams;
  result["do_sample"] = options.do_sample != 0;
  result["eos_token_id"] = std::vector<int64_t>(options.eos_token_ids, options.eos_token_ids + options.num_eos_token_ids);
  for (auto [name, id] : {std::pair("pad_token_id", options.pad_token_id), std::pair("bos_token_id", options.bos_token_id),
                          std::pair("decoder_start_token_id", options.decoder_start_token_id)})
    if (id >= 0)
      result[name] = id;
  for (size_t i = 0; i < options.num_stop_strings; ++i)
    result["stop_strings"].push_back(options.stop_strings[i]);
  if (options.unsupported)
    result["unsupported"] = options.unsupported;
  return result;
}

/// Adds the images of the code for GPUs, and the device functions in them, to |result|.
static void describeDevice(const attune_model_desc &desc, OrderedJson &result) {
  for (uint32_t i = 0; i < desc.num_images; ++i) {
    const attune_gpu_image &image = desc.images[i];
    result["images"].push_back({{"name", "sm_" + std::to_string(image.arch) + (image.arch_specific ? "a" : "")},
                                {"kind", image.kind == ATTUNE_IMAGE_CUBIN ? "cubin" : "ptx"},
                                {"bytes", image.bytes}});
  }
  for (uint32_t i = 0; i < desc.num_functions; ++i) {
    const attune_gpu_function &function = desc.functions[i];
    result["functions"].push_back(
        {{"name", function.symbol}, {"kernel", desc.kernels[function.kernel].name}, {"shared_bytes", function.shared_bytes}});
  }
}

OrderedJson attune::describeManifest(const std::vector<Json> &tensors) {
  OrderedJson result = OrderedJson::array();
  for (const Json &tensor : tensors) {
    OrderedJson row;
    for (const char *key : {"name", "dtype", "shape", "layout", "offset", "bytes", "source"})
      if (const Json *value = findJson(tensor, key))
        row[key] = value->is_array() ? OrderedJson(describeJson(*value)) : OrderedJson(*value);
    result.push_back(row);
  }
  return result;
}

Result<OrderedJson> attune::describeModel(const Artifact &artifact, const DescribeOptions &options) {
  const attune_model_desc &desc = artifact.desc();
  OrderedJson result;
  result["file"] = artifact.label();
  result["name"] = desc.name;
  result["family"] = desc.family;
  result["architecture"] = desc.architecture;
  result["device"] = desc.device == ATTUNE_DEVICE_CUDA ? "cuda" : "cpu";
  result["triple"] = desc.triple;
  result["cpu"] = desc.cpu;
  result["cpu_features"] = desc.cpu_features;
  result["options"] = desc.options;
  result["build_id"] = buildIdText(desc.build_id);
  result["weights_file"] = attune_model_weights_path(artifact.model());
  result["weights_bytes"] = desc.weights_bytes;
  if (desc.num_ranks > 1)
    result["ranks"] = desc.num_ranks;
  if (options.verified)
    result["verified"] = true;
  std::optional<ProfileFile> profile;
  if (!options.profile.empty()) {
    Result<ProfileFile> read = ProfileFile::read(options.profile, buildIdText(desc.build_id));
    if (!read)
      return read.status();
    profile = std::move(*read);
  }
  if (desc.generation)
    result["generation"] = describeGeneration(artifact.model());
  if (desc.num_labels)
    result["labels"] = std::vector<std::string>(desc.labels, desc.labels + desc.num_labels);
  result["entries"] = OrderedJson::array();
  for (uint32_t i = 0; i < desc.num_entries; ++i) {
    Result<OrderedJson> entry = describeEntry(desc, desc.entries[i], options, profile ? &*profile : nullptr);
    if (!entry)
      return entry.status();
    result["entries"].push_back(*entry);
  }
  if (desc.num_caches)
    result["caches"] = describeCaches(desc);
  result["kernels"] = OrderedJson::array();
  for (uint32_t i = 0; i < desc.num_kernels; ++i) {
    OrderedJson row;
    row["name"] = desc.kernels[i].name;
    row["backend"] = desc.kernels[i].backend;
    row["op"] = desc.kernels[i].op;
    if (desc.kernels[i].note && *desc.kernels[i].note)
      row["note"] = desc.kernels[i].note;
    result["kernels"].push_back(row);
  }
  describeDevice(desc, result);
  size_t bytes = 0;
  const char *manifest = attune_model_manifest(artifact.model(), &bytes);
  Result<std::vector<Json>> tensors = parseManifest({manifest, bytes}, attune_model_weights_path(artifact.model()));
  if (!tensors)
    return tensors.status();
  result["weights"] = describeManifest(*tensors);
  return result;
}
