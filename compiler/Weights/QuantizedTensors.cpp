//===- QuantizedTensors.cpp - Folders with matrices of a few bits ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Weights/QuantizedTensors.h"

#include "compiler/Support/Strings.h"
#include "compiler/Weights/ListedTensors.h"

#include <algorithm>

using namespace attune;

namespace {

/// The provider that openQuantizedTensors returns.
class DequantizedTensors : public ListedTensors {
public:
  explicit DequantizedTensors(SafetensorsFolder opened) : folder(std::move(opened)) {}

  /// Finds the matrices, then lists them and the tensors that do not belong to one.
  Status open(const QuantizedFormat &format) {
    for (const std::string &name : folder.names()) {
      const TensorView &view = *folder.find(name);
      if (endsWith(name, ".act.scales"))
        return Status::error(folder.fileOf(name) + ": tensor '" + name + "': expected no scales of activations, which are not implemented");
      std::string module = moduleOf(view, format);
      if (module.empty())
        continue;
      Result<StoredMatrix> matrix = findStoredMatrix(folder, format, module, view);
      if (!matrix)
        return matrix.status();
      std::string weight = module + ".weight";
      list({weight, DType::F32, {matrix->rows, matrix->columns}});
      if (!matrices.emplace(std::move(weight), std::move(*matrix)).second)
        return twoForms(name, module + ".weight");
    }
    for (const std::string &name : folder.names()) {
      if (const TensorView &view = *folder.find(name); !isPart(name)) {
        if (matrices.count(name) != 0)
          return twoForms(name, name);
        if (format.method == QuantizedFormat::CompressedTensors && endsWith(name, ".weight_scale"))
          return Status::error(folder.fileOf(name) + ": tensor '" + name + "': expected quantized values beside it, found none");
        list({name, view.dtype, view.shape});
      }
    }
    return {};
  }

  std::vector<std::string> matrixNames() const {
    std::vector<std::string> result;
    for (const auto &entry : matrices)
      result.push_back(entry.first);
    return result;
  }

  std::string fileOf(std::string_view name) const override {
    auto matrix = matrices.find(name);
    return folder.fileOf(matrix == matrices.end() ? name : std::string_view(matrix->second.codes->name));
  }

  Status read(std::string_view name, int64_t begin, int64_t count, float *out) const override {
    if (auto spec = checkRead(name, begin, count); !spec)
      return spec.status();
    auto matrix = matrices.find(name);
    if (matrix == matrices.end()) {
      convertToF32(*folder.find(name), begin, count, out);
      return {};
    }
    const int64_t columns = matrix->second.columns;
    for (int64_t done = 0; done < count;) {
      const int64_t row = (begin + done) / columns, column = (begin + done) % columns;
      const int64_t length = std::min(columns - column, count - done);
      matrix->second.read(row, column, length, out + done);
      done += length;
    }
    return {};
  }

private:
  /// Returns the name of the module whose quantized values are |view|; "" if |view| is another tensor.
  static std::string moduleOf(const TensorView &view, const QuantizedFormat &format) {
    auto before = [&](std::string_view suffix) {
      return endsWith(view.name, suffix) ? view.name.substr(0, view.name.size() - suffix.size()) : std::string();
    };
    switch (format.method) {
    case QuantizedFormat::Gptq:
    case QuantizedFormat::Awq:
      return before(".qweight");
    case QuantizedFormat::CompressedTensors:
      if (std::string module = before(".weight_packed"); !module.empty())
        return module;
      return view.dtype == DType::I8 || view.dtype == DType::F8_E4M3 ? before(".weight") : "";
    case QuantizedFormat::BlockFloat8:
      return view.dtype == DType::F8_E4M3 ? before(".weight") : "";
    }
    return "";
  }

  /// Returns the error for the tensor |name|, a second form of the matrix |weight|.
  Status twoForms(const std::string &name, const std::string &weight) const {
    return Status::error(folder.fileOf(name) + ": tensor '" + name + "': expected one form of '" + weight + "', got two");
  }

  /// Returns true if the tensor |name| is a part of a quantized matrix, or has scales or zero points of the activations
  /// of a module with such a matrix. The latter are ignored, since activations are not quantized.
  bool isPart(const std::string &name) const {
    static constexpr std::string_view parts[] = {
        "qweight",      "qzeros",       "scales",           "g_idx",       "weight_packed",    "weight_shape", "weight_zero_point",
        "weight_g_idx", "weight_scale", "weight_scale_inv", "input_scale", "input_zero_point", "output_scale", "output_zero_point"};
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos)
      return false;
    auto matrix = matrices.find(name.substr(0, dot) + ".weight");
    if (matrix == matrices.end())
      return false;
    return name == matrix->second.codes->name || std::find(std::begin(parts), std::end(parts), name.substr(dot + 1)) != std::end(parts);
  }

  SafetensorsFolder folder;
  std::map<std::string, StoredMatrix, std::less<>> matrices;
};

} // namespace

Result<QuantizedTensors> attune::openQuantizedTensors(const std::string &folder, const QuantizedFormat &format) {
  Result<SafetensorsFolder> opened = SafetensorsFolder::open(folder);
  if (!opened)
    return opened.status();
  auto tensors = std::make_unique<DequantizedTensors>(std::move(*opened));
  if (Status status = tensors->open(format); status.failed())
    return status;
  std::vector<std::string> matrices = tensors->matrixNames();
  return QuantizedTensors{std::move(tensors), std::move(matrices)};
}
