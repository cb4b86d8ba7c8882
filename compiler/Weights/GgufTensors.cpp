//===- GgufTensors.cpp - The tensors of a GGUF file -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GGUF files store the rows of Llama's query and key projections in another order than the reference model. The order
// of the file is for rotary embeddings that rotate pairs of neighboring components; the reference model rotates pairs
// with one component from each half of a head. A head of eight rows is stored as
//
//     row of the file        0  1  2  3  4  5  6  7
//     row of the reference   0  4  1  5  2  6  3  7
//===----------------------------------------------------------------------===//
#include "compiler/Weights/GgufTensors.h"

#include "compiler/Support/DType.h"
#include "compiler/Weights/ListedTensors.h"

#include <algorithm>

using namespace attune;

namespace {

/// A tensor of the reference model, and the place of its elements in the file.
struct SourceView {
  const GgufTensor *tensor;
  GgufSource source;
  /// The sizes of the reference model's tensor as a matrix: |columns| is the last dimension, and |rows| the product of
  /// the others. A vector is one row; if source.pairedHeads is not 0, it is one column, whose elements are in another
  /// order like the rows of a matrix.
  int64_t rows = 1, columns = 1;
  const uint8_t *data = nullptr;

  void read(int64_t row, int64_t column, int64_t count, float *out) const {
    if (source.transposed) {
      for (int64_t i = 0; i < count; ++i)
        dequantizeGguf(tensor->type, data, (column + i) * rows + row, 1, out + i);
    } else {
      dequantizeGguf(tensor->type, data, storedRow(row) * columns + column, count, out);
    }
    if (source.summand != 0)
      std::for_each(out, out + count, [&](float &value) { value += source.summand; });
  }

private:
  /// Returns the row of the file that is row |row| of the reference model.
  int64_t storedRow(int64_t row) const {
    if (source.pairedHeads == 0)
      return row;
    const int64_t size = rows / source.pairedHeads, half = size / 2, inHead = row % size;
    return row - inHead + inHead % half * 2 + inHead / half;
  }
};

class GgufProvider : public ListedTensors {
public:
  explicit GgufProvider(std::shared_ptr<const GgufFile> file) : file(std::move(file)) {}

  Status add(const std::string &name, const GgufSource &source) {
    auto found = file->tensors().find(source.name);
    const std::string where = file->path() + ": tensor '" + source.name + "': expected ";
    if (found == file->tensors().end())
      return Status::error(where + "in the file, which lacks it");
    SourceView view{&found->second, source, 1, 1, found->second.data};
    std::vector<int64_t> shape = found->second.shape;
    if (source.index >= 0) {
      if (shape.size() != 3 || source.index >= shape[0])
        return Status::error(where + "a stack of more than " + std::to_string(source.index) + " matrices, got shape " + shapeText(shape));
      shape.erase(shape.begin());
      const int64_t blocks = shape[0] * shape[1] / ggufBlockElements(view.tensor->type);
      view.data += source.index * blocks * ggufBlockBytes(view.tensor->type);
    }
    if (source.isRow && shape.size() == 1)
      shape.insert(shape.begin(), 1);
    if (source.transposed && shape.size() != 2)
      return Status::error(where + "a matrix, got shape " + shapeText(shape));
    if (source.transposed)
      std::swap(shape[0], shape[1]);
    view.columns = shape.back();
    view.rows = elementCount(shape).value_or(0) / view.columns;
    if (source.pairedHeads > 0 && shape.size() == 1)
      std::swap(view.rows, view.columns);
    if (source.pairedHeads > 0 && view.rows % (2 * source.pairedHeads) != 0)
      return Status::error(where + "rows of " + std::to_string(source.pairedHeads) + " heads of even size, got shape " + shapeText(shape));
    list({name, DType::F32, shape});
    views.emplace(name, std::move(view));
    return {};
  }

  std::string fileOf(std::string_view) const override { return file->path(); }

  Status read(std::string_view name, int64_t begin, int64_t count, float *out) const override {
    if (auto spec = checkRead(name, begin, count); !spec)
      return spec.status();
    const SourceView &view = views.find(name)->second;
    for (int64_t done = 0; done < count;) {
      const int64_t row = (begin + done) / view.columns, column = (begin + done) % view.columns;
      const int64_t length = std::min(view.columns - column, count - done);
      view.read(row, column, length, out + done);
      done += length;
    }
    return {};
  }

private:
  std::shared_ptr<const GgufFile> file;
  std::map<std::string, SourceView, std::less<>> views;
};

} // namespace

Result<std::unique_ptr<TensorProvider>> attune::openGgufTensors(std::shared_ptr<const GgufFile> file,
                                                                const std::map<std::string, GgufSource> &sources) {
  auto provider = std::make_unique<GgufProvider>(std::move(file));
  for (const auto &[name, source] : sources)
    if (Status status = provider->add(name, source); status.failed())
      return status;
  return std::unique_ptr<TensorProvider>(std::move(provider));
}
