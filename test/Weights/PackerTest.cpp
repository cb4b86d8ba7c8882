//===- PackerTest.cpp - Packing against a naive evaluation ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-packer DIR [SEED]: builds random source expressions and evaluates them element by element. Compares with
// this evaluation slices that SourceReader reads, with random strides, and whole weights files, which it writes to DIR.
// Also checks their offsets, padding, hashes and manifest, and runs the tests of TablesTest.cpp and QuantizerTest.cpp.
//===----------------------------------------------------------------------===//

#include "compiler/Weights/Packer.h"
#include "attune/abi.h"
#include "compiler/Support/Json.h"
#include "compiler/Support/MappedFile.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "test/Weights/Expect.h"
#include "test/Weights/RandomSources.h"

#include <cstring>

extern "C" uint64_t attune_checksum(const void *data, size_t bytes);

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

/// Calls |visit| for each element of a tensor of the shape |sizes|, with its index and its row-major position.
template <typename Visit>
static void forEachIndex(ArrayRef<int64_t> sizes, Visit visit) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  SmallVector<int64_t> index(sizes.size());
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t rest = flat;
    for (size_t dim = sizes.size(); dim-- > 0; rest /= sizes[dim])
      index[dim] = rest % sizes[dim];
    visit(index, flat);
  }
}

static std::string text(Attribute source) {
  std::string result;
  llvm::raw_string_ostream(result) << source;
  return result;
}

/// Reads a random slice of a random source to memory with random strides. Checks the elements, and that nothing else is
/// written.
static void testBox(SourceGenerator &generator, FakeTensors &tensors) {
  Attribute source = generator.pick(0, 2) ? generator.source(generator.pick(1, 3), 4) : generator.lowPrecisionSource();
  ArrayRef<int64_t> shape = getSourceType(source).getShape();
  SourceBox box{{}, {}, {}, nullptr};
  int64_t total = 1;
  for (int64_t size : shape) {
    int64_t begin = generator.pick(0, size);
    box.offsets.push_back(begin);
    box.sizes.push_back(generator.pick(0, 3) ? size - begin : generator.pick(0, size - begin));
  }
  // Strides of a layout with a random order of dimensions; after some dimensions there is a gap of 3 elements.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[generator.pick(0, i - 1)]);
  box.strides.resize(shape.size());
  for (int64_t dim : llvm::reverse(order)) {
    box.strides[dim] = total;
    total = total * box.sizes[dim] + (generator.pick(0, 2) == 0 ? 3 : 0);
  }
  const float untouched = -12345.0f;
  std::vector<float> got(std::max<int64_t>(total, 1), untouched), wanted = got;
  box.out = got.data();
  forEachIndex(box.sizes, [&](ArrayRef<int64_t> index, int64_t) {
    int64_t at = 0;
    SmallVector<int64_t> full(index);
    for (size_t dim = 0; dim < index.size(); ++dim) {
      at += index[dim] * box.strides[dim];
      full[dim] += box.offsets[dim];
    }
    wanted[at] = element(source, full);
  });
  SourceReader reader(tensors);
  Status status = reader.verify(source);
  if (!status.failed())
    status = reader.read(source, box);
  expect(!status.failed(), status.message() + " in " + text(source));
  expect(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0, "box of " + text(source));
}

/// Stores |value| as element |flat| of |out|, an array of |type|: f32, bf16 or an integer. |type| must represent
/// |value| exactly.
static void storeElement(Type type, float value, int64_t flat, uint8_t *out) {
  int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (type.isBF16())
    bits >>= 16;
  else if (!type.isF32())
    bits = static_cast<uint32_t>(static_cast<int32_t>(value));
  std::memcpy(out + flat * bytes, &bits, bytes); // little-endian
}

/// Packs a module of random weights and checks the whole file.
static void testFile(SourceGenerator &generator, FakeTensors &tensors, MLIRContext &context, const std::string &folder) {
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  std::vector<WeightOp> weights;
  int64_t end = 0;
  for (int i = 0; i < 14; ++i) {
    Attribute source = i == 0  ? PanelsSourceAttr::get(&context,
                                                       TensorSourceAttr::get(&context, tensors.add({1000, 1500}),
                                                                             RankedTensorType::get({1000, 1500}, builder.getF32Type())),
                                                       32)
                       : i < 8 ? generator.source(generator.pick(0, 3), 3)
                               : generator.lowPrecisionSource();
    RankedTensorType type = getSourceType(source);
    auto weight = WeightOp::create(builder, builder.getUnknownLoc(), "w" + std::to_string(i), StringAttr(), type, source, IntegerAttr());
    int64_t offset = llvm::alignTo(end, i % 3 == 0 ? 4096 : 64), bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    weight.setOffset(offset);
    end = llvm::alignTo(offset + bytes, 64);
    weights.push_back(weight);
  }
  setWeightsBytes(*module, end);

  std::string path = folder + "/packed.weights";
  Result<OutputFile> file = OutputFile::create(path);
  Result<PackingResult> packed = file ? packWeights(*module, tensors, *file) : Result<PackingResult>(file.status());
  if (!packed)
    return expect(false, packed.message());
  Status status = writeWeightsHeader(*packed, BuildId{1, 2, 3}, *file);
  if (!status.failed())
    status = file->commit();
  expect(!status.failed(), status.message());
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return expect(false, mapped.message());
  attune_weights_header header;
  std::memcpy(&header, mapped->data(), sizeof(header));
  expect(header.magic == ATTUNE_WEIGHTS_MAGIC && header.file_bytes == mapped->size() && header.data_bytes == uint64_t(end) &&
             header.build_id[2] == 3 && header.data_offset % 4096 == 0,
         "header");
  const uint8_t *data = mapped->data() + header.data_offset;
  expect(attune_checksum(data, header.data_bytes) == header.content_hash, "content hash");
  expect(attune_checksum(mapped->data() + header.manifest_offset, header.manifest_bytes) == header.manifest_checksum, "manifest checksum");
  std::vector<uint8_t> wanted(end);
  for (WeightOp weight : weights)
    forEachIndex(cast<RankedTensorType>(weight.getType()).getShape(), [&](ArrayRef<int64_t> index, int64_t flat) {
      uint8_t *begin = wanted.data() + *weight.getOffset();
      storeElement(cast<RankedTensorType>(weight.getType()).getElementType(), element(weight.getSource(), llvm::to_vector(index)), flat,
                   begin);
    });
  expect(std::memcmp(wanted.data(), data, end) == 0, "data section");
  Result<Json> manifest =
      parseJson({reinterpret_cast<const char *>(mapped->data() + header.manifest_offset), header.manifest_bytes}, "manifest");
  expect(manifest && findJson(*manifest, "tensors") && findJson(*manifest, "tensors")->size() == weights.size(), "manifest");

  // describePackedWeights, which needs no packed file, returns the manifest without the hash of the contents.
  Result<std::string> described = describePackedWeights(*module, tensors);
  Result<Json> layout = described ? parseJson(*described, "description") : Result<Json>(described.status());
  if (manifest)
    expect(manifest->erase("content_hash") == 1 && layout && *layout == *manifest, "description");
  Result<PackingResult> again = readPackedWeights(path);
  expect(again && again->dataBytes == packed->dataBytes && again->contentHash == packed->contentHash &&
             again->manifest == packed->manifest && again->manifestChecksum == packed->manifestChecksum,
         "what was packed, read again");
  for (uint64_t bytes : {mapped->size() - 1, header.manifest_offset, uint64_t(4096), uint64_t(87), uint64_t(0)}) {
    std::string cut = folder + "/cut.weights";
    Result<OutputFile> shorter = OutputFile::create(cut);
    expect(shorter && !shorter->write(mapped->data(), bytes).failed() && !shorter->commit().failed() && !readPackedWeights(cut),
           "cut short");
  }
}

/// Prints the errors of missing or wrong tensors and tables, and whether the reader lists the name of a tensor that has
/// a NaN. The .test file compares the output.
static void testMessages(FakeTensors &tensors, MLIRContext &context) {
  Builder builder(&context);
  std::string name = tensors.add({4, 3});
  auto type = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); };
  SourceReader reader(tensors);
  std::printf("%s\n", reader.verify(TensorSourceAttr::get(&context, "absent", type({2}))).message().c_str());
  std::printf("%s\n", reader.verify(TensorSourceAttr::get(&context, "t", type({5}))).message().c_str());
  auto table = ComputedSourceAttr::get(&context, "magic", builder.getDictionaryAttr({}), type({2}));
  std::printf("%s\n", reader.verify(table).message().c_str());
  auto kind = [&](StringRef name, ArrayRef<NamedAttribute> params, ArrayRef<int64_t> shape) {
    std::vector<float> out(24);
    auto source = ComputedSourceAttr::get(&context, name, builder.getDictionaryAttr(params), type(shape));
    std::printf("%s\n", reader.read(source, SourceBox::dense({0, 0}, shape, out.data())).message().c_str());
  };
  kind("sinusoidal", builder.getNamedAttr("layout", builder.getStringAttr("spiral")), {2, 3});
  kind("rotary", {}, {2, 4});
  kind("rotary", builder.getNamedAttr("base", builder.getF64FloatAttr(1e4)), {2, 3});
  tensors.poisoned = name;
  std::vector<float> out(12);
  (void)reader.read(TensorSourceAttr::get(&context, name, type({4, 3})), SourceBox::dense({0, 0}, {4, 3}, out.data())).failed();
  std::printf("not finite: %zu, %s\n", reader.nonFinite().size(), reader.nonFinite().count(name) ? "by name" : "no name");
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  MLIRContext context;
  context.loadDialect<XfmrDialect>();
  unsigned seed = argc > 2 ? std::atoi(argv[2]) : 1;
  FakeTensors messages;
  messages.add({7});
  testMessages(messages, context);
  testTables(context);
  testQuantizer(context);
  for (unsigned round = 0; round < 200; ++round) {
    FakeTensors tensors;
    SourceGenerator generator(context, tensors, seed * 1000 + round);
    testBox(generator, tensors);
    if (round % 50 == 0)
      testFile(generator, tensors, context, argv[1]);
  }
  std::printf(failures ? "%d failures\n" : "packer: passed\n", failures);
  return failures != 0;
}
