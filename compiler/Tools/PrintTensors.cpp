//===- PrintTensors.cpp - Tensors as text ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/PrintTensors.h"
#include "compiler/Tools/ToolRanks.h"

#include "compiler/Tools/Compare.h"
#include "compiler/Tools/EntryCall.h"

#include <algorithm>
#include <cstdio>

using namespace attune;

/// Number of elements shown at either end of an abbreviated dimension.
static constexpr int64_t edgeItems = 3;

namespace {
/// The text of one tensor. Elements are as wide as the widest one shown, so that columns are aligned.
class TensorText {
public:
  explicit TensorText(const TensorView &tensor) : tensor(tensor) {
    isAbbreviated = tensor.elements > (isFloat(tensor.dtype) ? 24 : 1000);
    visit(0, 0, [&](int64_t index) { width = std::max(width, element(index).size()); });
  }
  std::string format() const { return formatFrom(0, 0); }

private:
  std::string element(int64_t index) const {
    if (isInteger(tensor.dtype)) {
      int64_t value;
      convertToI64(tensor, index, 1, &value);
      return std::to_string(value);
    }
    float value;
    convertToF32(tensor, index, 1, &value);
    return numberText(static_cast<double>(value), 6);
  }
  /// Calls |show| for each position of dimension |axis| that is shown, and |skip| once in place of those that are not.
  template <typename Show, typename Skip>
  void forEach(size_t axis, Show show, Skip skip) const {
    int64_t size = tensor.shape[axis];
    bool skips = isAbbreviated && size > 2 * edgeItems;
    for (int64_t i = 0; i < size; ++i) {
      if (skips && i == edgeItems) {
        skip();
        i = size - edgeItems;
      }
      show(i);
    }
  }
  template <typename Show>
  void visit(size_t axis, int64_t index, Show show) const {
    if (axis == tensor.shape.size())
      return show(index);
    forEach(axis, [&](int64_t i) { visit(axis + 1, index * tensor.shape[axis] + i, show); }, [] {});
  }
  std::string formatFrom(size_t axis, int64_t index) const {
    if (axis == tensor.shape.size()) {
      std::string text = element(index);
      return std::string(width - text.size(), ' ') + text;
    }
    bool isRow = axis + 1 == tensor.shape.size();
    const std::string separator = isRow ? ", " : ",\n" + std::string(axis + 1, ' ');
    std::string text;
    auto add = [&](const std::string &item) { text += (text.empty() ? "" : separator) + item; };
    forEach(axis, [&](int64_t i) { add(formatFrom(axis + 1, index * tensor.shape[axis] + i)); }, [&] { add("..."); });
    return "[" + text + "]";
  }

  const TensorView &tensor;
  bool isAbbreviated;
  size_t width = 0;
};
} // namespace

std::string attune::formatTensor(const TensorView &tensor) {
  return tensor.name + " " + dtypeName(tensor.dtype) + " " + shapeText(tensor.shape) + "\n" + TensorText(tensor).format() + "\n";
}

Status attune::deliverTensors(const OutputTarget &target, const std::vector<OwnedTensor> &tensors) {
  // Rank 0 begins to write only when all ranks have reached this point without an error.
  if (Status status = ranks::agree({}); status.failed())
    return status;
  if (!target.file.empty() && ranks::isFirst())
    if (Status status = saveSafetensors(target.file, tensors); status.failed())
      return status;
  if (target.print || target.file.empty())
    for (const OwnedTensor &tensor : tensors)
      std::fputs(formatTensor(viewOf(tensor)).c_str(), stdout);
  return {};
}
