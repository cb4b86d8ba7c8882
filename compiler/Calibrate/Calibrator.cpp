//===- Calibrator.cpp - Calibration of quantized weights ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Calibrate/Calibrator.h"
#include "compiler/Calibrate/ErrorCompensation.h"
#include "compiler/Plain/PlainModel.h"
#include "compiler/Plain/Reference/Linear.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/Transforms/CacheValues.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cstring>
#include <memory>

using namespace mlir;
using namespace attune;

/// The most bytes of moments and weights in memory at a time, unless one projection needs more.
static constexpr int64_t kMomentBytes = int64_t(1) << 30;
/// The most token ids of a call of the model; longer texts are cut into several calls. The plain path keeps all tensors
/// of a call in memory, and the time of its attention grows with the square of the number of ids.
static constexpr size_t kCallIds = 128;
/// A projection that reads fewer tokens than this in all texts together is not calibrated.
static constexpr int64_t kLeastInputs = 32;
/// The entries that can read a text from its first id on, in order of preference. `prefill` is last, because it
/// computes the model's head only for the last id.
static constexpr llvm::StringLiteral kEntries[] = {"forward", "embed", "extend", "prefill"};
/// The attribute with which a clone of the module marks each projection to calibrate; its value is the format of the
/// weights.
static constexpr llvm::StringLiteral kMark = "calibrated";

/// Returns the matrix |buffer| as rows of f32 whose elements are contiguous. Copies the matrix to |storage| if it is
/// stored otherwise.
static Rows<const float> denseRows(const PlainBuffer &buffer, std::vector<float> &storage) {
  int64_t rows = buffer.size(0), columns = buffer.size(1);
  if (buffer.kind == ElementKind::F32 && buffer.strides[1] == 1)
    return {reinterpret_cast<const float *>(buffer.data), rows, buffer.strides[0]};
  storage = reference::Matrix<float>(buffer).values;
  return {storage.data(), rows, columns};
}

namespace {

/// A projection: its weights, [rows, columns], and the moments of the inputs seen so far.
struct Projection {
  std::vector<float> weights;
  int64_t rows = 0, columns = 0;
  InputMoments moments;

  Projection(Rows<const float> matrix, int64_t columns) : rows(matrix.count), columns(columns), moments(columns) {
    for (int64_t row = 0; row < rows; ++row)
      weights.insert(weights.end(), matrix.row(row), matrix.row(row) + columns);
  }
  static int64_t bytes(int64_t rows, int64_t columns) { return InputMoments::bytes(columns) + rows * columns * int64_t(sizeof(float)); }
};

/// Executes a model and quantizes its projections.
class Calibration {
public:
  /// |formats| are the formats of the marked projections, each once. |callIds| is the largest number of ids of a call
  /// of the model.
  Calibration(ArrayRef<xfmr::WeightFormat> formats, size_t callIds, const CalibrationText &text, const CalibrationProgress &progress)
      : callIds(callIds), text(text), progress(progress), rows(formats.begin(), formats.end()) {}

  Status run(ModuleOp module, const TensorProvider &tensors);
  std::vector<CalibratedRows> takeRows() { return std::move(rows); }

private:
  /// Identifies a projection in a format: the hash of the weights, the position of the format in |rows|, and the number
  /// of columns, since matrices of different shapes may have the same elements, such as zeros only, and so the same
  /// hash.
  using Key = std::pair<CalibratedRows::Key, std::pair<size_t, int64_t>>;

  /// If |call| executes a projection in f32, computes it and returns true; otherwise returns false. If the projection
  /// is marked and the present pass over the texts collects its moments, adds the inputs to them.
  bool project(OpCall &call);
  void observe(xfmr::WeightFormat format, Rows<const float> inputs, Rows<const float> weights, int64_t depth);
  /// Returns the request of a call of |entry| that reads |ids|. Omits other inputs that have a default; sets an
  /// attention mask that has none to ones. Fails if |entry| requires any other input.
  Result<PlainRequest> makeRequest(const PlainEntry &entry, const std::vector<int64_t> &ids) const;
  Status readText(PlainModel &model, const PlainEntry &entry);
  Status quantizeProjections();
  Status advance() {
    // The number of passes over the texts is known only after the first pass has seen all projections.
    int64_t passes = std::max<int64_t>(passesDone + 1, llvm::divideCeil(std::max<int64_t>(allBytes, 1), kMomentBytes));
    ++partsDone;
    return progress(partsDone, std::max<uint64_t>(partsDone, passes * calls + known.size()));
  }

  size_t callIds;
  const CalibrationText &text;
  const CalibrationProgress &progress;
  /// The rows quantized so far, for each format.
  std::vector<CalibratedRows> rows;
  llvm::MapVector<Key, std::unique_ptr<Projection>> current;
  /// All marked projections seen so far. The value is true if the projection is done: quantized, or left as it is, for
  /// example because it read too few tokens.
  llvm::DenseMap<Key, bool> known;
  int64_t currentBytes = 0, allBytes = 0, passesDone = 0;
  uint64_t partsDone = 0, calls = 0;
  bool isComplete = false;
};

} // namespace

void Calibration::observe(xfmr::WeightFormat format, Rows<const float> inputs, Rows<const float> weights, int64_t depth) {
  std::vector<float> dense;
  const float *data = weights.data;
  if (weights.pitch != depth) {
    for (int64_t row = 0; row < weights.count; ++row)
      dense.insert(dense.end(), weights.row(row), weights.row(row) + depth);
    data = dense.data();
  }
  auto ofFormat = llvm::find_if(rows, [&](const CalibratedRows &chosen) { return chosen.getFormat() == format; });
  Key key = {CalibratedRows::keyOf({data, static_cast<size_t>(weights.count * depth)}), {ofFormat - rows.begin(), depth}};
  int64_t bytes = Projection::bytes(weights.count, depth);
  auto [found, isNew] = known.try_emplace(key, false);
  if (isNew)
    allBytes += bytes;
  if (found->second)
    return;
  auto projection = current.find(key);
  if (projection == current.end()) {
    // Once a projection is left for the next pass, this pass takes no further ones: they may have been executed before
    // in this pass, and their moments would lack those inputs.
    if (!isComplete || (currentBytes + bytes > kMomentBytes && !current.empty())) {
      isComplete = false;
      return;
    }
    currentBytes += bytes;
    projection = current.insert({key, std::make_unique<Projection>(Rows<const float>{data, weights.count, depth}, depth)}).first;
  }
  projection->second->moments.add(inputs);
}

bool Calibration::project(OpCall &call) {
  auto op = dyn_cast<xfmr::LinearOp>(call.op);
  if (!op || call.wide)
    return false;
  reference::Context<float> context(call);
  std::vector<float> inputStorage, weightStorage;
  PlainBuffer input = context.in(op.getInput()), weight = context.in(op.getWeight()), bias = context.in(op.getBias());
  PlainBuffer multiplier = context.in(op.getMultiplier()), residual = context.in(op.getResidual());
  Rows<const float> x = denseRows(input, inputStorage), w = denseRows(weight, weightStorage);
  int64_t depth = weight.size(1);
  if (auto format = op->getAttrOfType<xfmr::WeightFormatAttr>(kMark); format && x.count > 0)
    observe(format.getValue(), x, w, depth);
  PlainBuffer result = context.out({x.count, w.count});
  Rows<float> y = {reinterpret_cast<float *>(result.data), x.count, w.count};
  multiplyRows(x, w, depth, y);
  for (int64_t t = 0; t < x.count; ++t)
    for (int64_t n = 0; n < w.count; ++n) {
      float &value = y.row(t)[n];
      value = reference::activate(op.getActivation(), bias.present() ? value + bias.get<float>({n}) : value);
      if (multiplier.present())
        value *= multiplier.get<float>({t, n});
      if (residual.present())
        value += residual.get<float>({t, n});
    }
  return true;
}

Result<PlainRequest> Calibration::makeRequest(const PlainEntry &entry, const std::vector<int64_t> &ids) const {
  PlainRequest request;
  bool readsIds = false;
  for (const PlainArgument &argument : entry.arguments) {
    if (argument.kind != PlainArgument::Kind::Input)
      continue;
    bool takesIds = argument.name == "input_ids" || argument.name == "decoder_input_ids";
    bool takesMask = llvm::StringRef(argument.name).ends_with("attention_mask");
    if (argument.fill != xfmr::InputDefault::Required && !takesIds)
      continue;
    if (!argument.elementType.isInteger(64) || argument.dims.size() != 2 || (!takesIds && !takesMask))
      return Status::error("--calibrate: expected a model that reads ids alone, but it needs '" + argument.name + "'");
    OwnedTensor tensor{{argument.name, DType::I64, {1, static_cast<int64_t>(ids.size())}}, {}};
    tensor.data.resize(ids.size() * sizeof(int64_t));
    std::vector<int64_t> ones(ids.size(), 1);
    std::memcpy(tensor.data.data(), takesMask ? ones.data() : ids.data(), tensor.data.size());
    request.inputs.push_back(std::move(tensor));
    readsIds |= takesIds;
  }
  if (!readsIds)
    return Status::error("--calibrate: expected a model that reads ids, but it has no input 'input_ids'");
  return request;
}

Status Calibration::readText(PlainModel &model, const PlainEntry &entry) {
  for (const CalibrationText::Row &row : text.rows)
    for (size_t begin = 0; begin < row.ids.size(); begin += callIds) {
      size_t end = std::min(row.ids.size(), begin + callIds);
      Result<PlainRequest> request = makeRequest(entry, {row.ids.begin() + ptrdiff_t(begin), row.ids.begin() + ptrdiff_t(end)});
      if (!request)
        return request.status();
      PlainCaches caches;
      request->entry = entry.name;
      request->capacity = static_cast<int64_t>(end - begin);
      Result<std::vector<OwnedTensor>> outputs = model.run(*request, &caches);
      if (!outputs)
        return Status::error(text.path + ": line " + std::to_string(row.line) + ": " + outputs.message());
      if (Status status = advance(); status.failed())
        return status;
    }
  return {};
}

Status Calibration::quantizeProjections() {
  for (auto &[key, projection] : current) {
    if (projection->moments.inputs() >= kLeastInputs)
      quantizeByOutputs({projection->weights.data(), projection->rows, projection->columns}, projection->moments, rows[key.second.first]);
    projection.reset();
    known[key] = true;
    if (Status status = advance(); status.failed())
      return status;
  }
  current.clear();
  currentBytes = 0;
  return {};
}

Status Calibration::run(ModuleOp module, const TensorProvider &tensors) {
  for (const CalibrationText::Row &row : text.rows)
    calls += llvm::divideCeil(row.ids.size(), callIds);
  PlainOptions options;
  options.substitute = [this](OpCall &call) { return project(call); };
  Result<std::unique_ptr<PlainModel>> model = PlainModel::create(module, tensors, options);
  if (!model)
    return Status::error("--calibrate: " + model.message());
  do {
    isComplete = true;
    if (Status status = readText(**model, (*model)->signature().entries.front()); status.failed())
      return status;
    if (Status status = quantizeProjections(); status.failed())
      return status;
    ++passesDone;
  } while (!isComplete);
  if (llvm::all_of(rows, [](const CalibratedRows &chosen) { return chosen.size() == 0; }))
    return Status::error(text.path + ": expected texts of at least " + std::to_string(kLeastInputs) + " ids together");
  return {};
}

Result<std::vector<CalibratedRows>> attune::calibrateWeights(ModuleOp module, const TensorProvider &tensors, const CalibrationText &text,
                                                             const CalibrationProgress &progress) {
  OwningOpRef<ModuleOp> clone = cast<ModuleOp>(module->clone());
  llvm::StringMap<func::FuncOp> entries;
  for (auto function : clone->getOps<func::FuncOp>())
    if (xfmr::EntryAttr entry = xfmr::getEntry(function))
      entries[entry.getName()] = function;
  auto chosen = llvm::find_if(kEntries, [&](StringRef name) { return entries.contains(name); });
  if (chosen == std::end(kEntries) || (entries.contains("encode") && *chosen != kEntries[0]))
    return Status::error("--calibrate: expected a model with an entry that reads all ids, " + llvm::join(ArrayRef(kEntries), ", "));
  for (auto &[name, function] : entries)
    if (name != *chosen)
      function.erase();
  PassManager passes(module.getContext());
  passes.addPass(createSymbolDCEPass());
  if (failed(passes.run(*clone)))
    return Status::error("--calibrate: the entries of the model cannot be taken apart");
  // The plain path computes in f32, so the caches must have elements of f32, too.
  xfmr::CacheValues caches(*clone);
  if (failed(caches.collect("widened for --calibrate")))
    return Status::error("--calibrate: the caches of the model cannot be widened to f32");
  caches.setTypes([](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape[3] = xfmr::getHeadSize(type, 3);
    return RankedTensorType::get(shape, Builder(type.getContext()).getF32Type());
  });
  SmallVector<xfmr::WeightFormat> formats;
  clone->walk([&](xfmr::LinearOp op) {
    if (xfmr::WeightFormatAttr format = op.getFormatAttr(); format && !format.getValue().isFloat()) {
      if (!llvm::is_contained(formats, format.getValue()))
        formats.push_back(format.getValue());
      op->setAttr(kMark, format);
    }
    op.removeFormatAttr();
    op.setPrecision(xfmr::Precision::F32);
  });
  clone->walk([](xfmr::EmbeddingOp op) {
    op.removeTiedAttr();
    op.removeFormatAttr();
  });
  if (formats.empty())
    return Status::error("--calibrate: expected projections in a format of weights, but '" + chosen->str() + "' has none");
  size_t callIds = kCallIds;
  if (xfmr::ModelAttr model = xfmr::getModel(module); model && model.getLimits())
    for (NamedAttribute limit : model.getLimits())
      if (limit.getName() == "length")
        callIds = std::min<size_t>(callIds, std::max<int64_t>(cast<IntegerAttr>(limit.getValue()).getInt(), 1));
  Calibration calibration(formats, callIds, text, progress);
  if (Status status = calibration.run(*clone, tensors); status.failed())
    return status;
  return calibration.takeRows();
}
