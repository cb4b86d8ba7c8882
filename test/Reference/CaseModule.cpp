//===- CaseModule.cpp - Cases as IR and tensors ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Reference/CaseModule.h"

#include <cstring>

namespace attune::reference {

template <typename T>
static OwnedTensor tensorOf(const std::string &name, DType dtype, const std::vector<int64_t> &shape, const std::vector<T> &values) {
  OwnedTensor tensor{{name, dtype, shape}, std::vector<uint8_t>(values.size() * sizeof(T))};
  if (!values.empty())
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

static bool isNumber(const std::string &dim) { return dim[0] >= '0' && dim[0] <= '9'; }

std::string CaseModule::type(const std::vector<std::string> &dims, const char *element) {
  std::string text = "tensor<";
  for (const std::string &dim : dims)
    text += (isNumber(dim) ? dim : "?") + "x";
  return text + element + ">";
}

static std::string dimsAttribute(const std::vector<std::string> &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + dims[i];
  return text + "]";
}

std::string CaseModule::argument(const std::string &name, const std::vector<std::string> &dims, const char *element) {
  arguments += (arguments.empty() ? "" : ",\n    ") + ("%" + name + ": " + type(dims, element)) + " {xfmr.input = #xfmr.input<\"" + name +
               "\", " + dimsAttribute(dims) + ">}";
  return "%" + name;
}

void CaseModule::limit(const std::vector<std::string> &dims, const std::vector<int64_t> &shape) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (!isNumber(dims[i]))
      limits[dims[i]] = shape[i];
}

std::string CaseModule::input(const std::string &name, const std::vector<std::string> &dims, const std::vector<int64_t> &shape,
                              const std::vector<float> &values) {
  inputs.push_back(tensorOf(name, DType::F32, shape, values));
  limit(dims, shape);
  return argument(name, dims, "f32");
}

std::string CaseModule::input(const std::string &name, const std::vector<std::string> &dims, const std::vector<int64_t> &shape,
                              const std::vector<int64_t> &values) {
  inputs.push_back(tensorOf(name, DType::I64, shape, values));
  limit(dims, shape);
  return argument(name, dims, "i64");
}

void CaseModule::output(const std::string &name, const std::string &value, const std::vector<std::string> &dims,
                        const std::vector<int64_t> &shape, const std::vector<double> &values) {
  expected.push_back(tensorOf(name, DType::F32, shape, std::vector<float>(values.begin(), values.end())));
  results += (results.empty() ? "" : ", ") + value;
  resultTypes += (resultTypes.empty() ? "" : ", ") + type(dims, "f32");
  resultAttributes += (resultAttributes.empty() ? "" : ",\n    ") + type(dims, "f32") + " {xfmr.output = #xfmr.output<\"" + name + "\", " +
                      dimsAttribute(dims) + ">}";
}

std::string CaseModule::weight(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &values) {
  std::vector<std::string> dims;
  for (int64_t size : shape)
    dims.push_back(std::to_string(size));
  std::string tensor = type(dims, "f32"), value = fresh();
  weights += "xfmr.weight @" + name + " : " + tensor + " = #xfmr.tensor<\"" + name + "\" : " + tensor + ">\n";
  tensors.push_back(tensorOf(name, DType::F32, shape, values));
  line(value + " = xfmr.weight_ref @" + name + " : " + tensor);
  return value;
}

Status CaseModule::write(const std::string &folder) const {
  std::string text = "module attributes {xfmr.model = #xfmr.model<family = \"cases\", architecture = \"Case\", limits = {";
  for (const auto &[name, size] : limits)
    text += (name == limits.begin()->first ? "" : ", ") + name + " = " + std::to_string(size) + " : i64";
  text += "}>} {\n" + weights + "func.func @forward(" + arguments + ")\n    -> (" + resultAttributes +
          ") attributes {xfmr.entry = #xfmr.entry<\"forward\">} {\n" + body + "  return " + results + " : " + resultTypes + "\n}\n}\n";
  Result<OutputFile> file = OutputFile::create(folder + "/model.mlir");
  if (!file)
    return file.status();
  if (Status status = file->write(text.data(), text.size()); status.failed())
    return status;
  if (Status status = file->commit(); status.failed())
    return status;
  if (Status status = saveSafetensors(folder + "/weights.safetensors", tensors); status.failed())
    return status;
  if (Status status = saveSafetensors(folder + "/in.safetensors", inputs); status.failed())
    return status;
  return saveSafetensors(folder + "/expected.safetensors", expected);
}

} // namespace attune::reference
