//===- MergeAdapters.cpp - LoRA adapters in a model's tensors -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An adapter adds scale * (x A^T) B^T to a projection x W^T, which makes it the projection by W + scale * B A:
//
//        in                    rank        in
//     +-------+               +--+      +-------+
//     |       |               |  |      |   A   | rank
// out |   W   |  +  scale  *  |B | out  +-------+
//     |       |               |  |
//     +-------+               +--+
//
// A file may store W as `[in, out]` (GPT-2). The table W of an embedding is `[rows, features]`, and A belongs to the
// rows. In both cases the term that is added is the transposed product, A^T B^T. In all cases it is
// `left [rows of the file, rank] * right [rank, columns of the file]`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/MergeAdapters.h"
#include "compiler/Import/WeightCatalog.h"
#include "compiler/Weights/AdaptedTensors.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>
#include <filesystem>
#include <locale>
#include <set>
#include <sstream>

using namespace attune;

AdapterRequest attune::parseAdapter(const std::string &text) {
  std::error_code ignored;
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || std::filesystem::exists(text, ignored))
    return {text};
  std::istringstream stream(text.substr(colon + 1));
  stream.imbue(std::locale::classic());
  double scale = 1;
  if (!(stream >> std::noskipws >> scale) || stream.peek() != std::char_traits<char>::eof())
    return {text};
  return {text.substr(0, colon), scale};
}

/// Returns the matrix |view| as floats, transposed if |transposed|.
static std::vector<float> readMatrix(const TensorView &view, bool transposed) {
  std::vector<float> values(view.elements);
  convertToF32(view, 0, view.elements, values.data());
  if (!transposed)
    return values;
  int64_t rows = view.shape[0], columns = view.elements / rows;
  std::vector<float> result(values.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[j * rows + i] = values[i * columns + j];
  return result;
}

namespace {

/// Merges adapters into the tensors of one model.
class Merger {
public:
  Merger(const TransformerSpec &spec, const TensorProvider &tensors) : spec(spec), catalog(spec, tensors) {
    for (const WeightSpec &weight : spec.weights) {
      if (weight.kind == WeightSpec::Transpose && spec.weights[weight.operands[0]].kind == WeightSpec::Tensor)
        transposed.insert(&spec.weights[weight.operands[0]]);
      if (weight.kind == WeightSpec::Tensor)
        for (const std::string &name : catalog.namesOf(weight))
          byName.emplace(name, &weight);
    }
  }

  Status add(const LoraAdapter &adapter, double scale) {
    for (auto &entry : replacements)
      entry.second.count = 0;
    for (const auto &[name, part] : adapter.parts()) {
      if (part.replacement)
        if (Status status = replace(adapter, name, *part.replacement); status.failed())
          return status;
      if (part.b)
        if (Status status = addTerm(adapter, name, part, scale); status.failed())
          return status;
    }
    // Modules that share a tensor must share its replacement.
    for (const auto &[parameter, replaced] : replacements)
      if (replaced.count > 0 && !parameter->aliases.empty() && replaced.count < parameter->aliases.size() + 1)
        return sharedTensor(adapter, *replaced.first, *parameter);
    return {};
  }

  std::map<std::string, TensorChange, std::less<>> changes;

private:
  /// The first tensor that replaces a parameter, and the number of its replacements in the present adapter: modules
  /// that share a parameter may store it several times.
  struct Replacement {
    const TensorView *first = nullptr;
    size_t count = 0;
  };

  /// Returns the parameter of the model with the name |name|. |view| is the adapter's tensor for it, for messages.
  Result<const WeightSpec *> find(const LoraAdapter &adapter, const std::string &name, const TensorView &view) const {
    auto found = byName.find(name);
    if (found != byName.end())
      return found->second;
    return Status::error(adapter.file() + ": tensor '" + view.name + "': expected one for a tensor of " + spec.architecture +
                         ", which has no '" + name + "'" +
                         (adapter.baseModel().empty() ? "" : "; the adapter was made for '" + adapter.baseModel() + "'"));
  }

  static Status wrongShape(const LoraAdapter &adapter, const TensorView &view, const std::vector<int64_t> &expected,
                           const std::string &name) {
    return Status::error(adapter.file() + ": tensor '" + view.name + "': expected shape " + shapeText(expected) + " for '" + name +
                         "' of the model, got " + shapeText(view.shape));
  }

  /// Returns the error that a change of |parameter| would be lost, because the files lack the tensor or have others in
  /// its place.
  static Status lostChange(const LoraAdapter &adapter, const TensorView &view, const WeightSpec &parameter) {
    return Status::error(adapter.file() + ": tensor '" + view.name + "': expected one for a tensor of the model's files, which lack '" +
                         parameter.name + "'");
  }

  /// Returns the name of |parameter| in the files, or its own name if they lack it.
  std::string nameInFiles(const WeightSpec &parameter) const {
    std::vector<std::string> names = catalog.namesInFiles(parameter);
    return names.empty() ? parameter.name : names.front();
  }

  Status replace(const LoraAdapter &adapter, const std::string &name, const TensorView &view) {
    Result<const WeightSpec *> parameter = find(adapter, name, view);
    if (!parameter)
      return parameter.status();
    if (view.shape != (*parameter)->shape)
      return wrongShape(adapter, view, (*parameter)->shape, (*parameter)->name);
    if ((*parameter)->isStandIn && !catalog.has(**parameter))
      return lostChange(adapter, view, **parameter);
    TensorChange &change = changes[nameInFiles(**parameter)];
    Replacement &known = replacements[*parameter];
    if (!known.first) {
      change.replacement = view;
      change.file = adapter.file();
      known.first = &view;
    } else if (change.file != adapter.file() || known.first->dtype != view.dtype ||
               std::memcmp(known.first->data, view.data, view.bytes) != 0) {
      return Status::error(adapter.file() + ": tensor '" + view.name + "': expected one tensor for '" + (*parameter)->name + "', got '" +
                           known.first->name + "' " +
                           (change.file == adapter.file()
                                ? "with other values, too; \"tie_word_embeddings\": false in config.json separates them"
                                : "of " + change.file + ", too"));
    }
    ++known.count;
    return {};
  }

  Status addTerm(const LoraAdapter &adapter, const std::string &name, const AdapterPart &part, double scale) {
    Result<const WeightSpec *> parameter = find(adapter, name, *part.b);
    if (!parameter)
      return parameter.status();
    if (!(*parameter)->aliases.empty())
      return sharedTensor(adapter, *part.b, **parameter);
    if (!catalog.has(**parameter) && !replacements.count(*parameter))
      return lostChange(adapter, *part.b, **parameter);
    const std::vector<int64_t> &shape = (*parameter)->shape;
    LowRankTerm term;
    term.scale = part.scale * scale;
    term.origin = "'" + adapter.file() + "' with the scale " + Json(scale).dump();
    if (!part.a) {
      if (part.b->shape != shape)
        return wrongShape(adapter, *part.b, shape, (*parameter)->name);
      term.rank = 1;
      term.columns = part.b->elements;
      term.left = {1};
      term.right = readMatrix(*part.b, false);
    } else {
      if (shape.size() != 2)
        return Status::error(adapter.file() + ": tensor '" + part.a->name + "': expected factors of a matrix, '" + (*parameter)->name +
                             "' has shape " + shapeText(shape));
      bool turned = part.embedding || transposed.count(*parameter);
      const TensorView &left = turned ? *part.a : *part.b, &right = turned ? *part.b : *part.a;
      term.rank = part.a->shape[0];
      term.columns = shape[1];
      std::vector<int64_t> in = {term.rank, shape[turned ? 0 : 1]}, out = {shape[turned ? 1 : 0], term.rank};
      if (part.a->shape != in)
        return wrongShape(adapter, *part.a, in, (*parameter)->name);
      if (part.b->shape != out)
        return wrongShape(adapter, *part.b, out, (*parameter)->name);
      term.left = readMatrix(left, turned);
      term.right = readMatrix(right, turned);
    }
    changes[nameInFiles(**parameter)].terms.push_back(std::move(term));
    return {};
  }

  static Status sharedTensor(const LoraAdapter &adapter, const TensorView &view, const WeightSpec &parameter) {
    return Status::error(adapter.file() + ": tensor '" + view.name + "': expected one for a tensor of a single module, '" + parameter.name +
                         "' is also '" + parameter.aliases.front() + "'");
  }

  const TransformerSpec &spec;
  WeightCatalog catalog;
  std::map<std::string, const WeightSpec *> byName;
  /// The parameters that the files store as `[in, out]`.
  std::set<const WeightSpec *> transposed;
  std::map<const WeightSpec *, Replacement> replacements;
};

} // namespace

Result<std::unique_ptr<TensorProvider>> attune::mergeAdapters(const TransformerSpec &spec, std::unique_ptr<TensorProvider> tensors,
                                                              const std::vector<AdapterRequest> &adapters) {
  if (adapters.empty())
    return tensors;
  auto opened = std::make_shared<std::vector<LoraAdapter>>();
  Merger merger(spec, *tensors);
  for (const AdapterRequest &request : adapters) {
    Result<LoraAdapter> adapter = LoraAdapter::open(request.folder);
    if (!adapter)
      return adapter.status();
    opened->push_back(std::move(*adapter));
    if (Status status = merger.add(opened->back(), request.scale); status.failed())
      return status;
  }
  return adaptTensors(std::move(tensors), std::move(merger.changes), std::move(opened));
}
