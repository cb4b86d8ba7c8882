//===- Roofline.cpp - Kernels against the machine's limits ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Roofline.h"

#include <algorithm>

using namespace attune;

using OrderedJson = nlohmann::ordered_json;

MachineRates attune::ratesFor(const attune_model_desc &desc, double peakGflops, double readBytesPerSecond) {
  // The compiler records --dtype in the options of an object only for another type than f32.
  bool isF32 = (std::string(" ") + desc.options).find(" --dtype=") == std::string::npos;
  return {isF32 ? peakGflops : 0, readBytesPerSecond};
}

std::optional<std::vector<attune_kernel_work>> attune::kernelWork(const attune_model_desc &desc, const attune_entry_desc &entry,
                                                                  const std::vector<int64_t> &dims) {
  if (!entry.kernel_work)
    return std::nullopt;
  std::vector<attune_kernel_work> work(desc.num_kernels);
  entry.kernel_work(dims.data(), work.data());
  return work;
}

double attune::weightBytesRead(const attune_model_desc &desc, const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
  std::optional<std::vector<attune_kernel_work>> kernels = kernelWork(desc, entry, dims);
  if (!kernels)
    return static_cast<double>(desc.weights_bytes);
  double total = 0;
  for (const attune_kernel_work &work : *kernels)
    total += static_cast<double>(work.weight_bytes);
  return total;
}

void attune::addWork(OrderedJson &row, const attune_kernel_work &work) {
  row["flops"] = work.flops;
  row["weight_bytes"] = work.weight_bytes;
  row["tensor_bytes"] = work.tensor_bytes;
}

void attune::addRoof(OrderedJson &row, const attune_kernel_work &work, double milliseconds, const MachineRates &machine) {
  double flops = static_cast<double>(work.flops), bytes = static_cast<double>(work.weight_bytes);
  if (milliseconds > 0 && flops > 0)
    row["gflops"] = flops / milliseconds / 1e6;
  double compute = machine.gflops > 0 ? flops / machine.gflops / 1e6 : 0;
  double memory = machine.readBytesPerSecond > 0 ? bytes / machine.readBytesPerSecond * 1e3 : 0;
  // A norm has weights, too, but its time is spent on tensors.
  bool hasRoof = flops > 0 || work.weight_bytes > work.tensor_bytes;
  if (!hasRoof || milliseconds <= 0 || std::max(compute, memory) <= 0)
    return;
  row["roof_ms"] = std::max(compute, memory);
  row["bound"] = compute >= memory ? "compute" : "memory";
  row["roof_fraction"] = std::max(compute, memory) / milliseconds;
}

OrderedJson attune::describeRoofline(const attune_model_desc &desc, const attune_entry_desc &entry, const std::vector<int64_t> &dims) {
  OrderedJson rows = OrderedJson::array();
  std::optional<std::vector<attune_kernel_work>> kernels = kernelWork(desc, entry, dims);
  for (uint32_t i = 0; kernels && i < desc.num_kernels; ++i) {
    const attune_kernel_work &work = (*kernels)[i];
    if (!work.calls)
      continue;
    OrderedJson row;
    row["name"] = desc.kernels[i].name;
    row["calls"] = work.calls;
    addWork(row, work);
    rows.push_back(row);
  }
  return rows;
}

Result<ProfileFile> ProfileFile::read(const std::string &path, const std::string &buildId) {
  Result<Json> json = readJsonFile(path);
  if (!json)
    return json.status();
  const Json *id = findJson(*json, "build_id"), *kernels = findJson(*json, "kernels");
  if (!id || !id->is_string() || !kernels || !kernels->is_array())
    return Status::error(path + ": expected the output of bench --profile --json");
  if (id->get<std::string>() != buildId)
    return Status::error(path + ": 'build_id': expected " + buildId + ", the profile is of another object, " + id->get<std::string>());
  ProfileFile profile;
  profile.path = path;
  profile.json = std::move(*json);
  return profile;
}

bool ProfileFile::isOf(const attune_entry_desc &entry) const {
  const Json *name = findJson(json, "entry");
  return name && name->is_string() && name->get<std::string>() == entry.name;
}

Result<std::vector<int64_t>> ProfileFile::dims(const attune_entry_desc &entry) const {
  std::vector<int64_t> result;
  for (uint32_t i = 0; i < entry.num_dims; ++i) {
    const Json *value = findJson(json, entry.dims[i].name);
    if (!value)
      return Status::error(path + ": expected '" + entry.dims[i].name + "'");
    int64_t max = entry.dims[i].max > 0 ? entry.dims[i].max : INT64_MAX;
    Result<int64_t> dim = jsonInteger(*value, path, entry.dims[i].name, 0, max);
    if (!dim)
      return dim.status();
    result.push_back(*dim);
  }
  return result;
}

Result<OrderedJson> ProfileFile::apply(OrderedJson &rows, const attune_model_desc &desc, const attune_entry_desc &entry) const {
  Result<std::vector<int64_t>> values = dims(entry);
  if (!values)
    return values.status();
  auto number = [&](const Json &object, const char *key) -> Result<double> {
    const Json *value = findJson(object, key);
    return value ? jsonNumber(*value, path, key) : Result<double>(Status::error(path + ": expected '" + key + "'"));
  };
  Result<double> gflops = number(json, "peak_gflops"), read = number(json, "read_bytes_per_s"), threads = number(json, "threads");
  for (const Result<double> *value : {&gflops, &read, &threads})
    if (!*value)
      return value->status();
  std::optional<std::vector<attune_kernel_work>> kernels = kernelWork(desc, entry, *values);
  auto isNamed = [](const Json &object, const std::string &name) {
    const Json *value = findJson(object, "name");
    return value && value->is_string() && value->get<std::string>() == name;
  };
  for (OrderedJson &row : rows) {
    std::string name = row["name"].get<std::string>();
    auto measured = std::find_if(json["kernels"].begin(), json["kernels"].end(), [&](const Json &kernel) { return isNamed(kernel, name); });
    if (measured == json["kernels"].end())
      continue;
    Result<double> milliseconds = number(*measured, "ms");
    if (!milliseconds)
      return milliseconds.status();
    row["ms"] = *milliseconds;
    for (uint32_t i = 0; kernels && i < desc.num_kernels; ++i)
      if (name == desc.kernels[i].name)
        addRoof(row, (*kernels)[i], *milliseconds, ratesFor(desc, *gflops, *read));
  }
  return OrderedJson{{"threads", static_cast<int64_t>(*threads)}, {"peak_gflops", *gflops}, {"read_bytes_per_s", *read}};
}
