//===- Packer.cpp - Writing the weights file ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/Packer.h"
#include "attune/abi.h"
#include "compiler/Support/Json.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Weights/DataStream.h"
#include "compiler/Weights/ElementTypes.h"
#include "compiler/Weights/Passes.h"
#include "compiler/Weights/SourceReader.h"
#include "compiler/Weights/WeightRows.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Parallel.h"

#include <algorithm>
#include <cstring>
#include <mutex>

using namespace mlir;
using namespace attune;

/// The offset in bytes of the data section in the file. The page before it has only the header.
static constexpr uint64_t kDataOffset = 4096;

/// These two functions return the offset of a weight in the data section and its size, both in bytes.
static uint64_t getOffset(xfmr::WeightOp weight) { return *weight.getOffset(); }
static uint64_t getBytes(xfmr::WeightOp weight) { return getWeightBytes(weight.getType()); }

/// Returns "weight 'x'", for messages.
static std::string describe(xfmr::WeightOp weight) { return "weight '" + weight.getSymName().str() + "'"; }

/// Returns all weights in the order of their offsets. Fails if they overlap or cannot be packed: the verifier does not
/// check this, and the module may come from a file.
static Result<std::vector<xfmr::WeightOp>> collectWeights(ModuleOp module, const SourceReader &reader) {
  std::vector<xfmr::WeightOp> weights;
  for (auto weight : module.getOps<xfmr::WeightOp>()) {
    if (!weight.getOffset())
      return Status::error(describe(weight) + " has no place in the weights file");
    if (elementTypeName(cast<RankedTensorType>(weight.getType()).getElementType()).empty())
      return Status::error(describe(weight) + ": expected elements of f32, bf16, f16, i8 or i32");
    if (Status status = reader.verify(weight.getSource()); status.failed())
      return status;
    weights.push_back(weight);
  }
  std::sort(weights.begin(), weights.end(), [](auto a, auto b) { return getOffset(a) < getOffset(b); });
  uint64_t end = 0;
  for (xfmr::WeightOp weight : weights) {
    if (getOffset(weight) < end)
      return Status::error(describe(weight) + " overlaps the one before it in the weights file");
    end = getOffset(weight) + getBytes(weight);
  }
  return weights;
}

namespace {
/// The evaluation of slices of one weight. Several threads compute each slice.
class WeightEvaluation {
public:
  WeightEvaluation(xfmr::WeightOp weight, SourceReader &reader)
      : source(weight.getSource()), element(cast<RankedTensorType>(weight.getType()).getElementType()), reader(reader),
        isBytes(SourceReader::isBytes(source)), shape(cast<RankedTensorType>(weight.getType()).getShape()) {
    // Each chunk of a weight has a reader of its own (write), which would compute all rows of a source with projected
    // rows. Therefore such a source is evaluated as one chunk.
    source.walk([&](xfmr::ProjectSourceAttr) { isDivisible = false; });
  }

  /// Writes the slice of the weight with |offsets| and |sizes| to |out|, densely, as elements of the weight's type.
  /// Threads divide the slice along |axis|; |sizes| must be 1 in the dimensions before |axis|.
  Status write(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, int64_t axis, uint8_t *out) {
    int64_t extent = axis < int64_t(sizes.size()) ? sizes[axis] : 1, inner = 1;
    for (size_t dim = axis + 1; dim < sizes.size(); ++dim)
      inner *= sizes[dim];
    int64_t step = std::max<int64_t>(1, kChunkElements / inner), chunks = isDivisible ? llvm::divideCeil(extent, step) : 1;
    if (chunks == 1)
      return writeChunk(offsets, sizes, reader, out);
    std::mutex mutex;
    // The error of the chunk with the lowest number, whichever thread fails first.
    Status failure;
    size_t failed = chunks;
    llvm::parallelFor(0, chunks, [&](size_t chunk) {
      SmallVector<int64_t, 4> from(offsets), count(sizes);
      from[axis] += chunk * step;
      count[axis] = std::min<int64_t>(step, extent - chunk * step);
      SourceReader own = reader.another();
      Status status = writeChunk(from, count, own, out + chunk * step * inner * element.getIntOrFloatBitWidth() / 8);
      std::lock_guard<std::mutex> lock(mutex);
      reader.addNonFinite(own);
      if (status.failed() && chunk < failed)
        failure = status, failed = chunk;
    });
    return failure;
  }

private:
  /// The largest number of elements that a thread evaluates at a time, unless a single index of the axis has more. As
  /// floats they are 256 KiB, which fit in an L2 cache.
  static constexpr int64_t kChunkElements = int64_t(64) << 10;

  Status writeChunk(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, SourceReader &own, uint8_t *out) {
    if (isBytes && sizes.back() == shape.back())
      return own.readBytes(source, offsets, sizes, out);
    if (element.isF32())
      return own.read(source, SourceBox::dense(offsets, sizes, reinterpret_cast<float *>(out)));
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    std::vector<float> values(count);
    if (Status status = own.read(source, SourceBox::dense(offsets, sizes, values.data())); status.failed())
      return status;
    writeElements(element, values.data(), count, out);
    return {};
  }

  Attribute source;
  Type element;
  SourceReader &reader;
  bool isBytes, isDivisible = true;
  ArrayRef<int64_t> shape;
};
} // namespace

/// Evaluates |weight| and appends it to |stream| in parts of at most DataStream::kMaxElements consecutive elements.
/// Calls |progress| after each part.
static Status packWeight(xfmr::WeightOp weight, SourceReader &reader, DataStream &stream, llvm::function_ref<Status()> progress) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(weight.getType()).getShape();
  if (llvm::is_contained(shape, 0))
    return {};
  // A part has some indices of dimension |axis|, one index of each dimension before it, and the dimensions after it as
  // a whole.
  int64_t inner = 1, axis = shape.size();
  while (axis > 1 && inner * shape[axis - 1] <= DataStream::kMaxElements)
    inner *= shape[--axis];
  int64_t outer = 1, extent = 1;
  if (axis > 0) {
    extent = shape[--axis];
    for (int64_t dim = 0; dim < axis; ++dim)
      outer *= shape[dim];
  }
  int64_t step = std::min(extent, DataStream::kMaxElements / inner);
  Type element = cast<RankedTensorType>(weight.getType()).getElementType();
  WeightEvaluation evaluation(weight, reader);
  for (int64_t index = 0; index < outer; ++index)
    for (int64_t begin = 0; begin < extent; begin += step) {
      SmallVector<int64_t, 4> offsets(shape.size()), sizes(shape);
      for (int64_t dim = axis, rest = index; dim-- > 0; rest /= shape[dim]) {
        offsets[dim] = rest % shape[dim];
        sizes[dim] = 1;
      }
      if (extent > 1) {
        offsets[axis] = begin;
        sizes[axis] = std::min(step, extent - begin);
      }
      int64_t count = inner * std::min(step, extent - begin);
      Result<uint8_t *> out = stream.reserve(count * element.getIntOrFloatBitWidth() / 8);
      if (!out)
        return out.status();
      if (Status status = evaluation.write(offsets, sizes, axis, *out); status.failed())
        return status;
      if (Status status = progress(); status.failed())
        return status;
    }
  return {};
}

/// Returns the JSON object that describes |weight| in the manifest.
static Json describeWeight(xfmr::WeightOp weight) {
  std::string source;
  llvm::raw_string_ostream(source) << weight.getSource();
  std::string layout = "rows";
  if (auto panels = dyn_cast<xfmr::PanelsSourceAttr>(weight.getSource()))
    layout = "panels:" + std::to_string(panels.getWidth());
  if (auto panels = dyn_cast<xfmr::GroupedPanelsSourceAttr>(weight.getSource()))
    layout = "panels:" + std::to_string(panels.getWidth()) + "x" + std::to_string(panels.getGroup());
  Attribute inner = weight.getSource();
  if (auto stack = dyn_cast<xfmr::StackSourceAttr>(inner))
    inner = stack.getSources()[0];
  if (auto panels = dyn_cast<xfmr::QuantizedPanelsSourceAttr>(inner))
    layout = "panels:" + std::to_string(panels.getWidth()) + ":" + panels.getFormat().getValue().str();
  Json entry = Json::object();
  entry["name"] = weight.getSymName().str();
  entry["source"] = source;
  entry["dtype"] = elementTypeName(cast<RankedTensorType>(weight.getType()).getElementType()).str();
  entry["shape"] = cast<RankedTensorType>(weight.getType()).getShape().vec();
  entry["layout"] = layout;
  entry["offset"] = getOffset(weight);
  entry["bytes"] = getBytes(weight);
  return entry;
}

/// Returns the attune_checksum of |text|.
static uint64_t checksumOf(llvm::StringRef text) {
  StreamChecksum checksum;
  checksum.update(text.bytes_begin(), text.size());
  return checksum.finish();
}

/// Returns the text of the manifest. The content hash is hexadecimal because many readers turn JSON numbers into
/// doubles; it is omitted if |contentHash| is nullopt.
static std::string createManifest(llvm::ArrayRef<xfmr::WeightOp> weights, uint64_t dataBytes, std::optional<uint64_t> contentHash) {
  Json manifest = Json::object(), list = Json::array();
  for (xfmr::WeightOp weight : weights)
    list.push_back(describeWeight(weight));
  manifest["format"] = 1;
  manifest["data_bytes"] = dataBytes;
  if (contentHash)
    manifest["content_hash"] = llvm::utohexstr(*contentHash, /*LowerCase=*/true, /*Width=*/16);
  manifest["tensors"] = std::move(list);
  return manifest.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Returns the size of the data section of |module| in bytes.
static Result<uint64_t> getDataBytes(ModuleOp module) {
  std::optional<int64_t> dataBytes = xfmr::getWeightsBytes(module);
  if (!dataBytes)
    return Status::error("the module has no 'xfmr.weights_bytes'");
  return static_cast<uint64_t>(*dataBytes);
}

Result<std::string> attune::describePackedWeights(ModuleOp module, const TensorProvider &tensors) {
  Result<uint64_t> dataBytes = getDataBytes(module);
  if (!dataBytes)
    return dataBytes.status();
  Result<std::vector<xfmr::WeightOp>> weights = collectWeights(module, SourceReader(tensors));
  if (!weights)
    return weights.status();
  return createManifest(*weights, *dataBytes, /*contentHash=*/std::nullopt);
}

Result<PackingResult> attune::packWeights(ModuleOp module, const TensorProvider &tensors, OutputFile &file, const PackListener &listener,
                                          int64_t rank, llvm::ArrayRef<CalibratedRows> calibrated) {
  PackingResult packed;
  packed.rank = rank;
  packed.ranks = xfmr::getRanks(module);
  Result<uint64_t> dataBytes = getDataBytes(module);
  if (!dataBytes)
    return dataBytes.status();
  packed.dataBytes = *dataBytes;
  SourceReader reader(tensors, rank, calibrated);
  Result<std::vector<xfmr::WeightOp>> weights = collectWeights(module, reader);
  if (!weights)
    return weights.status();

  std::vector<uint8_t> page(kDataOffset);
  if (Status status = file.write(page.data(), page.size()); status.failed())
    return status;
  DataStream stream(file);
  auto progress = [&] { return listener.progress(stream.position(), packed.dataBytes); };
  for (xfmr::WeightOp weight : *weights) {
    if (Status status = stream.padTo(getOffset(weight)); status.failed())
      return status;
    if (Status status = packWeight(weight, reader, stream, progress); status.failed())
      return status;
  }
  if (Status status = stream.padTo(packed.dataBytes); status.failed())
    return status;
  Result<uint64_t> hash = stream.finish();
  if (!hash)
    return hash.status();
  for (const std::string &name : reader.nonFinite())
    listener.warning(tensors.fileOf(name) + ": tensor '" + name + "' holds values that are infinite or not a number");

  packed.contentHash = *hash;
  packed.manifest = createManifest(*weights, packed.dataBytes, packed.ranks == 1 ? std::optional(packed.contentHash) : std::nullopt);
  packed.manifestChecksum = checksumOf(packed.manifest);
  if (Status status = file.write(packed.manifest.data(), packed.manifest.size()); status.failed())
    return status;
  return packed;
}

Status attune::writeWeightsHeader(const PackingResult &packed, const BuildId &buildId, OutputFile &file) {
  attune_weights_header header = {};
  header.magic = ATTUNE_WEIGHTS_MAGIC;
  header.abi_version = ATTUNE_ABI_VERSION;
  header.header_bytes = sizeof(header);
  std::copy(buildId.begin(), buildId.end(), header.build_id);
  header.data_offset = kDataOffset;
  header.data_bytes = packed.dataBytes;
  header.manifest_offset = header.data_offset + header.data_bytes;
  header.manifest_bytes = packed.manifest.size();
  header.manifest_checksum = packed.manifestChecksum;
  header.content_hash = packed.contentHash;
  header.rank = packed.rank;
  header.num_ranks = packed.ranks;
  header.file_bytes = header.manifest_offset + header.manifest_bytes;
  return file.writeAt(0, &header, sizeof(header));
}

Result<PackingResult> attune::readPackedWeights(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  auto damaged = [&](const std::string &what) { return Status::error(path + ": expected a weights file, " + what); };
  attune_weights_header header;
  if (file->size() < sizeof(header))
    return damaged("got " + std::to_string(file->size()) + " bytes");
  std::memcpy(&header, file->data(), sizeof(header));
  if (header.magic != ATTUNE_WEIGHTS_MAGIC || header.abi_version != ATTUNE_ABI_VERSION)
    return damaged("got one of another format");
  if (header.file_bytes != file->size() || header.data_offset != kDataOffset || file->size() < kDataOffset ||
      header.data_bytes > file->size() - kDataOffset || header.manifest_offset != header.data_offset + header.data_bytes ||
      header.manifest_bytes != file->size() - header.manifest_offset)
    return damaged("got " + std::to_string(file->size()) + " bytes that its header does not describe");
  PackingResult packed;
  packed.dataBytes = header.data_bytes;
  packed.contentHash = header.content_hash;
  packed.manifestChecksum = header.manifest_checksum;
  packed.rank = header.rank;
  packed.ranks = header.num_ranks;
  packed.manifest.assign(reinterpret_cast<const char *>(file->data()) + header.manifest_offset, header.manifest_bytes);
  if (checksumOf(packed.manifest) != header.manifest_checksum)
    return damaged("got a manifest of another checksum");
  return packed;
}
