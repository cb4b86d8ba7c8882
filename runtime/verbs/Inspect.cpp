//===- Inspect.cpp - The verb inspect --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds one JSON value that describes the artefact, then prints it as JSON or as text: both say the same.
//===----------------------------------------------------------------------===//
#include "attune/generate.h"
#include "runtime/verbs/Compare.h"
#include "runtime/verbs/Dims.h"
#include "runtime/verbs/PackedWeights.h"
#include "runtime/verbs/Roofline.h"
#include "runtime/verbs/Verbs.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

namespace {
struct InspectOptions {
  DimFlags dims;
  int64_t threads = 0;
  std::string profile;
  bool verify = false;
  bool json = false;
};
} // namespace

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

/// What a session on an H100 has: two blocks for each of 132 multiprocessors.
static constexpr int64_t gpuWorkers = 264;

static Result<OrderedJson> describeEntry(const attune_model_desc &desc, const attune_entry_desc &entry, const InspectOptions &options,
                                         const ProfileFile *profile) {
  OrderedJson result;
  result["name"] = entry.name;
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

/// How the model generates unless it is told otherwise.
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
  if (options.unsupported)
    result["unsupported"] = options.unsupported;
  return result;
}

/// The code for GPUs, and what of it entries launch.
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

/// The manifest's own columns, in a fixed order.
static OrderedJson describeManifest(const std::vector<Json> &tensors) {
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

static Result<OrderedJson> describeModel(const Artefact &artefact, const InspectOptions &options) {
  const attune_model_desc &desc = artefact.desc();
  OrderedJson result;
  result["file"] = artefact.label();
  result["name"] = desc.name;
  result["family"] = desc.family;
  result["architecture"] = desc.architecture;
  result["device"] = desc.device == ATTUNE_DEVICE_CUDA ? "cuda" : "cpu";
  result["triple"] = desc.triple;
  result["cpu"] = desc.cpu;
  result["cpu_features"] = desc.cpu_features;
  result["options"] = desc.options;
  result["build_id"] = buildIdText(desc.build_id);
  result["weights_file"] = attune_model_weights_path(artefact.model());
  result["weights_bytes"] = desc.weights_bytes;
  if (options.verify)
    result["verified"] = true;
  std::optional<ProfileFile> profile;
  if (!options.profile.empty()) {
    Result<ProfileFile> read = ProfileFile::read(options.profile, buildIdText(desc.build_id));
    if (!read)
      return read.status();
    profile = std::move(*read);
  }
  if (desc.generation)
    result["generation"] = describeGeneration(artefact.model());
  result["entries"] = OrderedJson::array();
  for (uint32_t i = 0; i < desc.num_entries; ++i) {
    Result<OrderedJson> entry = describeEntry(desc, desc.entries[i], options, profile ? &*profile : nullptr);
    if (!entry)
      return entry.status();
    result["entries"].push_back(*entry);
  }
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
  const char *manifest = attune_model_manifest(artefact.model(), &bytes);
  Result<std::vector<Json>> tensors = parseManifest({manifest, bytes}, attune_model_weights_path(artefact.model()));
  if (!tensors)
    return tensors.status();
  result["weights"] = describeManifest(*tensors);
  return result;
}

static Result<OrderedJson> inspectWeights(const std::string &path, const InspectOptions &options) {
  Result<PackedWeights> weights = PackedWeights::open(path);
  if (!weights)
    return weights.status();
  OrderedJson result;
  result["file"] = path;
  result["build_id"] = buildIdText(weights->header().build_id);
  result["file_bytes"] = weights->header().file_bytes;
  result["weights_bytes"] = weights->header().data_bytes;
  if (options.verify) {
    if (Status status = weights->verify(); status.failed())
      return status;
    result["verified"] = true;
  }
  result["weights"] = describeManifest(weights->tensors());
  return result;
}

static Result<OrderedJson> inspectModel(const VerbHost &host, const std::string &model, const InspectOptions &options) {
  if (!model.empty() && PackedWeights::isPackedWeights(model))
    return inspectWeights(model, options);
  Result<Artefact> artefact = host.openModel(model, {});
  if (!artefact)
    return artefact.status();
  if (options.verify && attune_model_verify(artefact->model()) != ATTUNE_OK)
    return Status::error(artefact->label() + ": " + attune_last_error());
  return describeModel(*artefact, options);
}

static std::string plain(const OrderedJson &value) {
  if (value.is_number_float())
    return numberText(value.get<double>(), 5);
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// An array of objects as an aligned table; the columns are the first row's keys.
static void printTable(const std::string &title, const OrderedJson &rows, const std::string &indent) {
  std::printf("%s%s:\n", indent.c_str(), title.c_str());
  std::vector<std::vector<std::string>> lines;
  std::vector<size_t> widths;
  for (const OrderedJson &row : rows) {
    std::vector<std::string> cells;
    for (const auto &[key, value] : row.items()) {
      bool bare = key == "name" || key == "dtype" || key == "shape" || value.is_string();
      cells.push_back(bare ? plain(value) : key + " " + plain(value));
      if (cells.size() > widths.size())
        widths.push_back(0);
      widths[cells.size() - 1] = std::max(widths[cells.size() - 1], cells.back().size());
    }
    lines.push_back(std::move(cells));
  }
  for (const std::vector<std::string> &cells : lines) {
    std::string line = indent + " ";
    for (size_t i = 0; i < cells.size(); ++i)
      line += " " + cells[i] + (i + 1 < cells.size() ? std::string(widths[i] - cells[i].size() + 1, ' ') : "");
    std::printf("%s\n", line.c_str());
  }
}

/// Scalars as "key  value", arrays as tables, entries one level deeper.
static void printText(const OrderedJson &object, const std::string &indent) {
  for (const auto &[key, value] : object.items()) {
    if (key == "entries") {
      for (const OrderedJson &entry : value) {
        std::printf("%sentry:\n", indent.c_str());
        printText(entry, indent + "  ");
      }
    } else if (value.is_array()) {
      printTable(key, value, indent);
    } else if (value.is_object()) {
      std::string line;
      for (const auto &[name, number] : value.items())
        line += (line.empty() ? "" : ", ") + name + " " + plain(number);
      std::printf("%s%-16s %s\n", indent.c_str(), key.c_str(), line.c_str());
    } else {
      std::printf("%s%-16s %s\n", indent.c_str(), key.c_str(), plain(value).c_str());
    }
  }
}

int attune::runVerbInspect(const VerbHost &host, const std::vector<std::string> &arguments) {
  InspectOptions options;
  FlagTable flags;
  flags.addSwitch("verify", options.verify, "read all weights and compare their hash");
  flags.addSwitch("json", options.json, "print one JSON object");
  flags.addString("profile", "FILE", options.profile, "what bench --profile --json wrote: adds times and shares of the roof");
  options.dims.addTo(flags);
  addThreadsFlag(flags, options.threads);
  if (host.addFlags)
    host.addFlags(flags);
  std::vector<std::string> positional;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, positional, "inspect " + host.modelHelp + "|OUT.weights [flags]",
                         "Shows signature, limits, sizes (workspace for the dimensions given), kernels and their backends, "
                         "and the weights."))
    return *status;
  Result<std::string> model = singleModel(positional);
  Result<OrderedJson> result = model ? inspectModel(host, *model, options) : Result<OrderedJson>(model.status());
  if (!result)
    return reportError(host.tool, result.message());
  if (options.json)
    std::printf("%s\n", result->dump(1, ' ', false, Json::error_handler_t::replace).c_str());
  else
    printText(*result, "");
  return exitDone;
}
