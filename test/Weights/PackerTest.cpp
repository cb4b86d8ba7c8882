//===- PackerTest.cpp - Packing against a naive evaluation ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds random source expressions, evaluates them element by element, and compares: boxes with every order of strides, and whole weights
// files with offsets, padding, hashes and manifest. `attune-test-packer DIR [SEED]`.
//===----------------------------------------------------------------------===//

#include "compiler/Weights/Packer.h"
#include "attune/abi.h"
#include "compiler/Weights/Passes.h"
#include "compiler/Weights/SourceReader.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/io/Json.h"
#include "runtime/io/MappedFile.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>

extern "C" uint64_t attune_checksum(const void *data, size_t bytes);

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

static int failures = 0;
static void expect(bool condition, const std::string &what) {
  if (!condition && ++failures <= 10)
    std::printf("FAIL: %s\n", what.c_str());
}

namespace {

/// Tensors in memory; element i of a tensor is a function of its name and i.
class FakeTensors : public TensorProvider {
public:
  static float value(std::string_view name, int64_t i) { return float(name.size() * 1000 + (i * 2654435761u) % 65521) / 7.0f; }
  std::string add(std::vector<int64_t> shape) {
    std::string name = "t" + std::string(specs.size(), 'x');
    specs.emplace(name, TensorSpec{name, DType::F32, shape});
    return name;
  }
  const TensorSpec *find(std::string_view name) const override {
    auto found = specs.find(name);
    return found == specs.end() ? nullptr : &found->second;
  }
  std::string placeOf(std::string_view) const override { return "memory"; }
  Status read(std::string_view name, int64_t begin, int64_t count, float *out) const override {
    const TensorSpec *spec = find(name);
    int64_t size = 1;
    for (int64_t extent : spec->shape)
      size *= extent;
    if (begin < 0 || begin + count > size)
      return Status::error("read outside of " + std::string(name));
    for (int64_t i = 0; i < count; ++i)
      out[i] = name == poisoned && begin + i == 3 ? NAN : value(name, begin + i);
    return {};
  }
  std::string poisoned;

private:
  std::map<std::string, TensorSpec, std::less<>> specs;
};

/// Random sources and their elements.
class Generator {
public:
  Generator(MLIRContext &context, FakeTensors &tensors, unsigned seed)
      : context(context), builder(&context), tensors(tensors), random(seed) {}

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

  /// A source of |rank| dimensions.
  Attribute source(int64_t rank, int depth) {
    int64_t kind = depth == 0 ? pick(0, 1) : pick(0, 9);
    if (kind <= 1 || rank == 0)
      return leaf(rank, kind == 0 && pick(0, 3) == 0);
    if (kind == 8 && rank == 3)
      return PanelsSourceAttr::get(&context, source(2, depth - 1), pick(1, 40));
    if (kind == 9) {
      Attribute inner = source(pick(1, 3), depth - 1);
      return ReshapeSourceAttr::get(&context, inner, builder.getDenseI64ArrayAttr(reshape(getSourceType(inner).getNumElements(), rank)));
    }
    Attribute inner = source(rank, depth - 1);
    int64_t axis = pick(0, rank - 1), size = getSourceType(inner).getDimSize(axis);
    switch (kind) {
    case 2: {
      std::vector<int64_t> order(rank);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      return TransposeSourceAttr::get(&context, inner, builder.getDenseI64ArrayAttr(order));
    }
    case 3: {
      int64_t begin = pick(0, size), end = pick(begin, size);
      return SliceSourceAttr::get(&context, inner, axis, begin, std::max(end, std::min(size, begin + 1)));
    }
    case 4: {
      SmallVector<int64_t> indices(pick(1, 5));
      for (int64_t &index : indices)
        index = size ? pick(0, size - 1) : 0;
      if (size == 0)
        indices.clear();
      return SelectSourceAttr::get(&context, inner, axis, builder.getDenseI64ArrayAttr(indices));
    }
    case 5:
      return ScaleSourceAttr::get(&context, inner, builder.getF64FloatAttr(0.3));
    default: {
      // The same source sliced twice differs along one axis only.
      Attribute part = SliceSourceAttr::get(&context, inner, axis, size / 3, size);
      return ConcatSourceAttr::get(&context, axis, builder.getArrayAttr({inner, part, inner}));
    }
    }
  }

  /// A source that rounds, over a random matrix.
  Attribute lowPrecisionSource() {
    Attribute matrix = source(2, 2);
    Attribute codes = RowCodesSourceAttr::get(&context, matrix);
    switch (pick(0, 5)) {
    case 0:
      return ConvertSourceAttr::get(&context, matrix, builder.getBF16Type());
    case 1:
      return RowScalesSourceAttr::get(&context, matrix);
    case 2:
      return codes;
    case 3:
      return RowSumsSourceAttr::get(&context, codes);
    case 4:
      return grouped(codes, 4);
    default:
      return grouped(ConvertSourceAttr::get(&context, matrix, builder.getBF16Type()), 2);
    }
  }

private:
  Attribute grouped(Attribute matrix, int64_t group) {
    return GroupedPanelsSourceAttr::get(&context, matrix, pick(1, 40), group, group * pick(1, 9));
  }

  Attribute leaf(int64_t rank, bool fill) {
    std::vector<int64_t> shape(rank);
    for (int64_t &size : shape)
      size = pick(1, rank == 1 ? 1500 : 45);
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    if (fill)
      return FillSourceAttr::get(&context, builder.getF32FloatAttr(1.25f), type);
    return TensorSourceAttr::get(&context, tensors.add(shape), type);
  }

  std::vector<int64_t> reshape(int64_t count, int64_t rank) {
    std::vector<int64_t> shape(rank, 1);
    for (int64_t factor = 2; count > 1; ++factor)
      for (; count % factor == 0; count /= factor)
        shape[pick(0, rank - 1)] *= factor;
    if (count == 0)
      shape[0] = 0;
    return shape;
  }

  MLIRContext &context;
  Builder builder;
  FakeTensors &tensors;
  std::mt19937 random;
};

float element(Attribute source, SmallVector<int64_t> index);

/// The largest magnitude of row |row| / 127.
float rowScale(Attribute matrix, int64_t row) {
  float largest = 0;
  for (int64_t k = 0; k < getSourceType(matrix).getDimSize(1); ++k)
    largest = std::fmax(largest, std::fabs(element(matrix, {row, k})));
  return largest / 127.0f;
}

/// The nearest bf16, of two at the same distance the one with an even last bit.
float roundBF16(float value) {
  int exponent;
  double mantissa = std::ldexp(std::frexp(double(value), &exponent), 8);
  return float(std::ldexp(std::nearbyint(mantissa), exponent - 8));
}

/// What a source that rounds has at |index|; nothing for other sources.
std::optional<float> lowPrecisionElement(Attribute source, ArrayRef<int64_t> index) {
  if (auto attr = dyn_cast<ConvertSourceAttr>(source))
    return roundBF16(element(attr.getSource(), llvm::to_vector(index)));
  if (auto attr = dyn_cast<RowScalesSourceAttr>(source))
    return rowScale(attr.getSource(), index[0]);
  if (auto attr = dyn_cast<RowCodesSourceAttr>(source)) {
    float scale = rowScale(attr.getSource(), index[0]);
    return scale == 0 ? 0 : std::nearbyint(element(attr.getSource(), llvm::to_vector(index)) / scale);
  }
  if (auto attr = dyn_cast<RowSumsSourceAttr>(source)) {
    float sum = 0;
    for (int64_t k = 0; k < getSourceType(attr.getSource()).getDimSize(1); ++k)
      sum += element(attr.getSource(), {index[0], k});
    return sum;
  }
  if (auto attr = dyn_cast<GroupedPanelsSourceAttr>(source)) {
    RankedTensorType matrix = getSourceType(attr.getSource());
    int64_t row = index[0] * attr.getWidth() + index[2], column = index[1] * attr.getGroup() + index[3];
    return row < matrix.getDimSize(0) && column < matrix.getDimSize(1) ? element(attr.getSource(), {row, column}) : 0.0f;
  }
  return std::nullopt;
}

/// The element at |index| by definition.
float element(Attribute source, SmallVector<int64_t> index) {
  if (auto attr = dyn_cast<TensorSourceAttr>(source)) {
    int64_t flat = 0;
    for (auto [i, size] : llvm::zip_equal(index, attr.getType().getShape()))
      flat = flat * size + i;
    return FakeTensors::value({attr.getName().data(), attr.getName().size()}, flat);
  }
  if (auto attr = dyn_cast<FillSourceAttr>(source))
    return attr.getValue().getValueAsDouble();
  if (auto attr = dyn_cast<ScaleSourceAttr>(source))
    return static_cast<float>(element(attr.getSource(), index) * attr.getFactor().getValueAsDouble());
  if (auto attr = dyn_cast<SliceSourceAttr>(source)) {
    index[attr.getAxis()] += attr.getBegin();
    return element(attr.getSource(), index);
  }
  if (auto attr = dyn_cast<SelectSourceAttr>(source)) {
    index[attr.getAxis()] = attr.getIndices()[index[attr.getAxis()]];
    return element(attr.getSource(), index);
  }
  if (auto attr = dyn_cast<TransposeSourceAttr>(source)) {
    SmallVector<int64_t> inner(index.size());
    for (auto [dim, from] : llvm::enumerate(attr.getPermutation().asArrayRef()))
      inner[from] = index[dim];
    return element(attr.getSource(), inner);
  }
  if (auto attr = dyn_cast<ReshapeSourceAttr>(source)) {
    int64_t flat = 0;
    for (auto [i, size] : llvm::zip_equal(index, attr.getShape().asArrayRef()))
      flat = flat * size + i;
    ArrayRef<int64_t> shape = getSourceType(attr.getSource()).getShape();
    SmallVector<int64_t> inner(shape.size());
    for (size_t dim = shape.size(); dim-- > 0; flat /= shape[dim])
      inner[dim] = flat % shape[dim];
    return element(attr.getSource(), inner);
  }
  if (std::optional<float> rounded = lowPrecisionElement(source, index))
    return *rounded;
  if (auto attr = dyn_cast<PanelsSourceAttr>(source)) {
    int64_t row = index[0] * attr.getWidth() + index[2];
    return row < getSourceType(attr.getSource()).getDimSize(0) ? element(attr.getSource(), {row, index[1]}) : 0.0f;
  }
  auto attr = cast<ConcatSourceAttr>(source);
  for (Attribute part : attr.getSources()) {
    int64_t size = getSourceType(part).getDimSize(attr.getAxis());
    if (index[attr.getAxis()] < size)
      return element(part, index);
    index[attr.getAxis()] -= size;
  }
  return NAN;
}

} // namespace

/// Calls |visit| with every index below |sizes|.
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

/// Reads a random box of a random source in a random layout; nothing else may be written.
static void testBox(Generator &generator, FakeTensors &tensors) {
  Attribute source = generator.pick(0, 2) ? generator.source(generator.pick(1, 3), 4) : generator.lowPrecisionSource();
  ArrayRef<int64_t> shape = getSourceType(source).getShape();
  SourceBox box{{}, {}, {}, nullptr};
  int64_t total = 1;
  for (int64_t size : shape) {
    int64_t begin = generator.pick(0, size);
    box.offsets.push_back(begin);
    box.sizes.push_back(generator.pick(0, 3) ? size - begin : generator.pick(0, size - begin));
  }
  // Strides of a dense layout with a random order of dimensions and sometimes a gap.
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

/// Stores |value|, which |type| can hold, as element |flat| of |out|.
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
static void testFile(Generator &generator, FakeTensors &tensors, MLIRContext &context, const std::string &folder) {
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  std::vector<WeightOp> weights;
  int64_t end = 0;
  for (int i = 0; i < 14; ++i) {
    Attribute source = i == 0 ? PanelsSourceAttr::get(&context,
                                                      TensorSourceAttr::get(&context, tensors.add({1000, 1500}),
                                                                            RankedTensorType::get({1000, 1500}, builder.getF32Type())),
                                                      32)
                       : i < 8 ? generator.source(generator.pick(0, 3), 3)
                               : generator.lowPrecisionSource();
    RankedTensorType type = getSourceType(source);
    auto weight = WeightOp::create(builder, builder.getUnknownLoc(), "w" + std::to_string(i), StringAttr(), type, source);
    int64_t offset = llvm::alignTo(end, i % 3 == 0 ? 4096 : 64), bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    weight->setAttr(kOffsetAttr, builder.getI64IntegerAttr(offset));
    weight->setAttr(kBytesAttr, builder.getI64IntegerAttr(bytes));
    end = llvm::alignTo(offset + bytes, 64);
    weights.push_back(weight);
  }
  (*module)->setAttr(kWeightsBytesAttr, builder.getI64IntegerAttr(end));

  std::string path = folder + "/packed.weights";
  Result<OutputFile> file = OutputFile::create(path);
  Result<PackedWeights> packed = file ? packWeights(*module, tensors, *file) : Result<PackedWeights>(file.status());
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
      uint8_t *begin = wanted.data() + weight->getAttrOfType<IntegerAttr>(kOffsetAttr).getInt();
      storeElement(cast<RankedTensorType>(weight.getType()).getElementType(), element(weight.getSource(), llvm::to_vector(index)), flat, begin);
    });
  expect(std::memcmp(wanted.data(), data, end) == 0, "data section");
  Result<Json> manifest =
      parseJson({reinterpret_cast<const char *>(mapped->data() + header.manifest_offset), header.manifest_bytes}, "manifest");
  expect(manifest && findJson(*manifest, "tensors") && findJson(*manifest, "tensors")->size() == weights.size(), "manifest");
}

/// Bad tensors are named.
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

/// Tables at a few elements, as their definitions say.
static void testTables(MLIRContext &context) {
  Builder builder(&context);
  FakeTensors tensors;
  SourceReader reader(tensors);
  auto fill = [&](StringRef kind, ArrayRef<NamedAttribute> params, ArrayRef<int64_t> shape) {
    std::vector<float> out(std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()));
    auto source = ComputedSourceAttr::get(&context, kind, builder.getDictionaryAttr(params), RankedTensorType::get(shape, builder.getF32Type()));
    expect(!reader.read(source, SourceBox::dense(SmallVector<int64_t>(shape.size(), 0), shape, out.data())).failed(), kind.str());
    return out;
  };
  auto number = [&](StringRef name, double value) { return builder.getNamedAttr(name, builder.getF64FloatAttr(value)); };
  auto text = [&](StringRef name, StringRef value) { return builder.getNamedAttr(name, builder.getStringAttr(value)); };
  auto near = [&](float got, double want, StringRef what) { expect(std::abs(got - want) <= 6e-8 * std::abs(want), what.str()); };

  // Five columns: three sines, two cosines.
  std::vector<float> half = fill("sinusoidal", text("layout", "half"), {4, 5}), pairs = fill("sinusoidal", text("layout", "interleaved"), {4, 5});
  near(half[3 * 5 + 1], std::sin(3 / std::pow(1e4, 2 / 5.0)), "half, sine");
  near(half[3 * 5 + 4], std::cos(3 / std::pow(1e4, 2 / 5.0)), "half, cosine");
  near(pairs[3 * 5 + 4], std::sin(3 / std::pow(1e4, 4 / 5.0)), "interleaved, the odd sine");
  near(pairs[3 * 5 + 3], std::cos(3 / std::pow(1e4, 2 / 5.0)), "interleaved, cosine");
  std::vector<float> constant = fill("sinusoidal", text("layout", "constant"), {2, 3});
  near(constant[4], std::cos(1.0), "constant, cosine");
  near(constant[5], -std::sin(1.0), "constant, sine");

  std::vector<float> plain = fill("rotary", number("base", 1e4), {8, 6});
  near(plain[7 * 6 + 2], std::cos(7 * std::pow(1e4, -4 / 6.0)), "rotary, cosine");
  near(plain[7 * 6 + 4], std::sin(7 * std::pow(1e4, -2 / 6.0)), "rotary, sine");
  std::vector<float> linear = fill("rotary", {number("base", 1e4), text("scaling", "linear"), number("factor", 4)}, {8, 6});
  near(linear[7 * 6 + 4], std::sin(7 * std::pow(1e4, -2 / 6.0) / 4), "rotary, linear scaling");
  // Frequencies 1, 0.1, 0.01 at an original length of 64: waves of 6, 63 and 628 positions are kept, mixed and stretched.
  std::vector<float> llama = fill("rotary", {number("base", 1e3), text("scaling", "llama3"), number("factor", 8), number("low_freq_factor", 1),
                                             number("high_freq_factor", 4), number("original_length", 64)}, {8, 6});
  double keep = (64 * 0.1 / (2 * M_PI) - 1) / 3;
  near(llama[7 * 6 + 3], std::sin(7.0), "rotary, a high frequency is kept");
  near(llama[7 * 6 + 4], std::sin(7 * ((1 - keep) * 0.1 / 8 + keep * 0.1)), "rotary, frequencies between are mixed");
  near(llama[7 * 6 + 5], std::sin(7 * 0.01 / 8), "rotary, a low frequency is stretched");

  std::vector<float> slopes = fill("alibi_slopes", {}, {6});
  const double wanted[] = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  for (int head = 0; head < 6; ++head)
    near(slopes[head], wanted[head], "slope");
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
  for (unsigned round = 0; round < 200; ++round) {
    FakeTensors tensors;
    Generator generator(context, tensors, seed * 1000 + round);
    testBox(generator, tensors);
    if (round % 50 == 0)
      testFile(generator, tensors, context, argv[1]);
  }
  std::printf(failures ? "%d failures\n" : "packer: passed\n", failures);
  return failures != 0;
}
