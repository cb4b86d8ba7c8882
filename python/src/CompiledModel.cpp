//===- CompiledModel.cpp - A compiled model for Python --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CompiledModel.h"

#include <cstring>
#include <filesystem>
#include <nanobind/stl/string.h>

using namespace attune;
using namespace attune::python;

/// Returns the status of a failure to load |path|.
static attune_status statusOfLoading(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return ATTUNE_NOT_FOUND;
  return std::filesystem::is_regular_file(path, ignored) ? ATTUNE_CORRUPT : ATTUNE_IO_ERROR;
}

CompiledModel::CompiledModel(const std::string &path, const std::string &weights, bool verify, int gpu) {
  Result<SharedObject> object = SharedObject::load(path);
  if (!object)
    throw Error(statusOfLoading(path), object.message());
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = weights.empty() ? nullptr : weights.c_str();
  options.verify_contents = verify;
  options.gpu = gpu;
  library = object->handle();
  model = std::make_unique<Model>(*object->descriptor(), options);
}

const attune_entry_desc &CompiledModel::entry(const char *name) const {
  if (const attune_entry_desc *found = attune_model_entry(model->get(), name))
    return *found;
  std::string known;
  for (uint32_t i = 0; i < desc().num_entries; ++i)
    known += (i ? ", " : "") + std::string(desc().entries[i].name);
  throwInvalid("model '" + std::string(desc().name) + "' has no entry '" + (name ? name : "") + "', its entries: " + known);
}

/// Returns |text| as a string of Python, "" for null.
static nb::str toString(const char *text) { return text ? toText(text, std::strlen(text)) : nb::str(""); }

/// Returns (name, dtype, shape, fill, is a group) of a tensor. In the shape, a size that a call decides is the name of
/// its dimension.
static nb::tuple describeTensor(const attune_entry_desc &entry, const attune_tensor_desc &tensor) {
  static constexpr const char *fills[] = {"required", "zeros", "ones", "arange", "tokens", "slots", "sources"};
  nb::list shape;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] >= 0)
      shape.append(tensor.shape[i]);
    else
      shape.append(toString(entry.dims[-tensor.shape[i] - 1].name));
  }
  const char *fill = tensor.fill < std::size(fills) ? fills[tensor.fill] : "session";
  return nb::make_tuple(toString(tensor.name), attune_dtype_name(static_cast<attune_dtype>(tensor.dtype)), nb::tuple(shape), fill,
                        tensor.group != 0);
}

/// Returns the description of an entry, see EntryDescription in _attune.pyi. Leaves out the inputs that only the
/// session sets.
static nb::dict describeEntry(const attune_entry_desc &entry) {
  nb::list inputs, outputs;
  nb::dict limits, result;
  for (uint32_t i = 0; i < entry.num_inputs; ++i)
    if (entry.inputs[i].fill < ATTUNE_FILL_PAST_LENGTHS)
      inputs.append(describeTensor(entry, entry.inputs[i]));
  for (uint32_t i = 0; i < entry.num_outputs; ++i)
    outputs.append(describeTensor(entry, entry.outputs[i]));
  for (uint32_t i = 0; i < entry.num_dims; ++i)
    limits[toString(entry.dims[i].name)] = entry.dims[i].max;
  result["name"] = toString(entry.name);
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  result["limits"] = limits;
  result["uses_cache"] = entry.cache_use != ATTUNE_CACHE_UNUSED;
  return result;
}

nb::dict CompiledModel::describe() const {
  const attune_model_desc &model = desc();
  nb::dict result;
  nb::list entries, kernels, labels;
  for (uint32_t i = 0; i < model.num_entries; ++i)
    entries.append(describeEntry(model.entries[i]));
  for (uint32_t i = 0; i < model.num_kernels; ++i)
    kernels.append(nb::make_tuple(toString(model.kernels[i].name), toString(model.kernels[i].backend), toString(model.kernels[i].op),
                                  toString(model.kernels[i].note)));
  for (uint32_t i = 0; i < model.num_labels; ++i)
    labels.append(toString(model.labels[i]));
  std::string id;
  for (uint8_t byte : model.build_id) {
    static constexpr char digits[] = "0123456789abcdef";
    id += {digits[byte >> 4], digits[byte & 15]};
  }
  result["name"] = toString(model.name);
  result["family"] = toString(model.family);
  result["architecture"] = toString(model.architecture);
  result["triple"] = toString(model.triple);
  result["cpu"] = toString(model.cpu);
  result["device"] = model.device == ATTUNE_DEVICE_CUDA ? "cuda" : "cpu";
  result["options"] = toString(model.options);
  result["build_id"] = id.c_str();
  result["weights_path"] = toString(attune_model_weights_path(get().get()));
  result["weights_bytes"] = model.weights_bytes;
  result["entries"] = entries;
  result["kernels"] = kernels;
  result["labels"] = labels;
  return result;
}

nb::str CompiledModel::manifest() const {
  size_t bytes;
  const char *text = attune_model_manifest(model->get(), &bytes);
  return toText(text, bytes);
}

void CompiledModel::verify() const {
  nb::gil_scoped_release release;
  check(attune_model_verify(model->get()));
}

void python::bindModel(nb::module_ &module) {
  nb::class_<CompiledModel>(module, "CompiledModel")
      .def(nb::init<const std::string &, const std::string &, bool, int>(), nb::arg("path"), nb::arg("weights"), nb::arg("verify"),
           nb::arg("gpu"))
      .def("describe", &CompiledModel::describe)
      .def("manifest", &CompiledModel::manifest)
      .def("verify", &CompiledModel::verify);
}
