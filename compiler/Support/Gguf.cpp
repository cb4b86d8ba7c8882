//===- Gguf.cpp - Reading GGUF files --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a file. Numbers are the sizes of fields in bytes; integers are little-endian.
//
//   "GGUF" | version, 4 | number of tensors, 8 | number of keys, 8
//   each key:     length, 8 | bytes | type, 4 | value
//                 value: a number; a string: length, 8 | bytes; or an array: type of elements, 4 | count, 8 | elements
//   each tensor:  length, 8 | name | dimensions, 4 | extents, 8 each, the innermost first | type, 4 | offset, 8
//   padding up to a multiple of the key `general.alignment`, 32 if the file lacks the key
//   data of the tensors; their offsets count from here
//===----------------------------------------------------------------------===//
#include "compiler/Support/Gguf.h"

#include "compiler/Support/DType.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace attune;

namespace {

/// Types of metadata values. Their numbers are those of the format.
enum class ValueType : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

/// Bytes of a value of each type; 0 for types whose values vary in size.
constexpr uint8_t valueBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr uint32_t valueTypes = sizeof(valueBytes);

/// The most elements that all arrays of a file may have together; a vocabulary has some hundred thousand.
constexpr uint64_t maxArrayElements = uint64_t(1) << 24;
constexpr int maxArrayDepth = 4;
constexpr uint32_t maxDimensions = 4;

/// A type of tensors by its name in the GGUF format. |type| is nullopt if this reader does not implement it.
struct TensorType {
  const char *name;
  std::optional<GgufType> type;
};

/// A cursor over untrusted bytes. `read` returns false if the bytes end before the value does.
class ByteReader {
public:
  ByteReader(const uint8_t *bytes, size_t length) : bytes(bytes), length(length) {}

  size_t position() const { return at; }
  size_t remaining() const { return length - at; }

  template <typename T>
  bool read(T &value) {
    if (remaining() < sizeof(T))
      return false;
    std::memcpy(&value, bytes + at, sizeof(T));
    at += sizeof(T);
    return true;
  }

  bool read(std::string &text) {
    uint64_t size;
    if (!read(size) || size > remaining())
      return false;
    text.assign(reinterpret_cast<const char *>(bytes + at), size_t(size));
    at += size_t(size);
    return true;
  }

private:
  const uint8_t *bytes;
  size_t length;
  size_t at = 0;
};

} // namespace

/// Types of tensors, by their number in the format. A null name marks a number that has been withdrawn from the format.
static const TensorType tensorTypes[] = {
    {"F32", GgufType::F32},   {"F16", GgufType::F16},   {"Q4_0", GgufType::Q4_0}, {"Q4_1", GgufType::Q4_1},
    {nullptr, {}},            {nullptr, {}},            {"Q5_0", GgufType::Q5_0}, {"Q5_1", GgufType::Q5_1},
    {"Q8_0", GgufType::Q8_0}, {"Q8_1", {}},             {"Q2_K", {}},             {"Q3_K", {}},
    {"Q4_K", GgufType::Q4_K}, {"Q5_K", GgufType::Q5_K}, {"Q6_K", GgufType::Q6_K}, {"Q8_K", {}},
    {"IQ2_XXS", {}},          {"IQ2_XS", {}},           {"IQ3_XXS", {}},          {"IQ1_S", {}},
    {"IQ4_NL", {}},           {"IQ3_S", {}},            {"IQ2_S", {}},            {"IQ4_XS", {}},
    {"I8", {}},               {"I16", {}},              {"I32", {}},              {"I64", {}},
    {"F64", {}},              {"IQ1_M", {}},            {"BF16", GgufType::BF16}, {nullptr, {}},
    {nullptr, {}},            {nullptr, {}},            {"TQ1_0", {}},            {"TQ2_0", {}},
    {nullptr, {}},            {nullptr, {}},            {nullptr, {}},            {"MXFP4", {}},
};

namespace {
/// A row of the table of types, which has one for each GgufType, in the order of the enum: the elements and the bytes
/// of a block.
struct GgufTypeInfo {
  const char *name;
  int64_t elements, bytes;
};
} // namespace

static constexpr GgufTypeInfo typeInfos[] = {
    {"F32", 1, 4},    {"F16", 1, 2},    {"BF16", 1, 2},   {"Q4_0", 32, 18},   {"Q4_1", 32, 20},  {"Q5_0", 32, 22},
    {"Q5_1", 32, 24}, {"Q8_0", 32, 34}, {"Q4_K", 256, 144}, {"Q5_K", 256, 176}, {"Q6_K", 256, 210},
};

static const GgufTypeInfo &info(GgufType type) { return typeInfos[size_t(type)]; }
const char *attune::ggufTypeName(GgufType type) { return info(type).name; }
int64_t attune::ggufBlockElements(GgufType type) { return info(type).elements; }
int64_t attune::ggufBlockBytes(GgufType type) { return info(type).bytes; }

//===--- Blocks ------------------------------------------------------------===//

static float loadHalf(const uint8_t *data) {
  float value;
  convertToF32(DType::F16, data, 0, 1, &value);
  return value;
}

/// Writes the 32 elements of a block: scale * (q - 8) for Q4_0, scale * q + minimum for Q4_1 (|hasMinimum|), with q of
/// 4 bits.
static void dequantizeQ4(const uint8_t *block, bool hasMinimum, float *out) {
  const float scale = loadHalf(block), minimum = hasMinimum ? loadHalf(block + 2) : 0;
  const uint8_t *codes = block + (hasMinimum ? 4 : 2);
  const int zero = hasMinimum ? 0 : 8;
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * float((codes[i] & 15) - zero) + minimum;
    out[i + 16] = scale * float((codes[i] >> 4) - zero) + minimum;
  }
}

/// Writes the 32 elements of a block: scale * (q - 16) for Q5_0, scale * q + minimum for Q5_1 (|hasMinimum|), with q of
/// 5 bits. The fifth bits of all elements are one word of 32 bits; bit i belongs to element i.
static void dequantizeQ5(const uint8_t *block, bool hasMinimum, float *out) {
  const float scale = loadHalf(block), minimum = hasMinimum ? loadHalf(block + 2) : 0;
  const uint8_t *high = block + (hasMinimum ? 4 : 2), *codes = high + 4;
  const int zero = hasMinimum ? 0 : 16;
  uint32_t bits;
  std::memcpy(&bits, high, sizeof(bits));
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * float(int((codes[i] & 15) | ((bits >> i) & 1) << 4) - zero) + minimum;
    out[i + 16] = scale * float(int((codes[i] >> 4) | ((bits >> (i + 16)) & 1) << 4) - zero) + minimum;
  }
}

/// Sets |scale| and |minimum| to number |i| of the eight scales and eight minima that Q4_K and Q5_K pack into 12 bytes,
/// 6 bits each.
static void unpackScale(const uint8_t *packed, int i, int &scale, int &minimum) {
  if (i < 4) {
    scale = packed[i] & 63;
    minimum = packed[i + 4] & 63;
  } else {
    scale = (packed[i + 4] & 15) | (packed[i - 4] >> 6) << 4;
    minimum = (packed[i + 4] >> 4) | (packed[i] >> 6) << 4;
  }
}

/// Writes the 256 elements of a block of Q4_K or, if |hasFifthBits|, of Q5_K. Each of its eight groups of 32 elements
/// has an integer scale and an integer minimum, which the block's f16 scale and f16 minimum multiply.
static void dequantizeK(const uint8_t *block, bool hasFifthBits, float *out) {
  const float scale = loadHalf(block), minimum = loadHalf(block + 2);
  const uint8_t *packed = block + 4, *high = block + 16, *codes = block + (hasFifthBits ? 48 : 16);
  for (int group = 0; group < 8; ++group) {
    int groupScale, groupMinimum;
    unpackScale(packed, group, groupScale, groupMinimum);
    const float d = scale * float(groupScale), m = minimum * float(groupMinimum);
    const uint8_t *line = codes + group / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      int code = group % 2 ? line[i] >> 4 : line[i] & 15;
      if (hasFifthBits)
        code |= ((high[i] >> group) & 1) << 4;
      out[group * 32 + i] = d * float(code) - m;
    }
  }
}

/// Writes the 256 elements of a block of Q6_K. Each of its sixteen groups of 16 elements has an int8 scale, which the
/// block's f16 scale multiplies.
static void dequantizeQ6K(const uint8_t *block, float *out) {
  const uint8_t *low = block, *high = block + 128;
  const int8_t *scales = reinterpret_cast<const int8_t *>(block + 192);
  const float scale = loadHalf(block + 208);
  for (int half = 0; half < 2; ++half)
    for (int quarter = 0; quarter < 4; ++quarter)
      for (int i = 0; i < 32; ++i) {
        const uint8_t byte = low[half * 64 + quarter % 2 * 32 + i];
        const int code = (quarter < 2 ? byte & 15 : byte >> 4) | ((high[half * 32 + i] >> (2 * quarter)) & 3) << 4;
        const int group = half * 8 + quarter * 2 + i / 16;
        out[half * 128 + quarter * 32 + i] = scale * float(scales[group]) * float(code - 32);
      }
}

static void dequantizeBlock(GgufType type, const uint8_t *block, float *out) {
  switch (type) {
  case GgufType::Q4_0:
  case GgufType::Q4_1:
    return dequantizeQ4(block, type == GgufType::Q4_1, out);
  case GgufType::Q5_0:
  case GgufType::Q5_1:
    return dequantizeQ5(block, type == GgufType::Q5_1, out);
  case GgufType::Q8_0: {
    const float scale = loadHalf(block);
    for (int i = 0; i < 32; ++i)
      out[i] = scale * float(int8_t(block[2 + i]));
    return;
  }
  case GgufType::Q4_K:
  case GgufType::Q5_K:
    return dequantizeK(block, type == GgufType::Q5_K, out);
  case GgufType::Q6_K:
    return dequantizeQ6K(block, out);
  default:
    return;
  }
}

void attune::dequantizeGguf(GgufType type, const uint8_t *data, int64_t begin, int64_t count, float *out) {
  switch (type) {
  case GgufType::F32:
    return convertToF32(DType::F32, data, begin, count, out);
  case GgufType::F16:
    return convertToF32(DType::F16, data, begin, count, out);
  case GgufType::BF16:
    return convertToF32(DType::BF16, data, begin, count, out);
  default:
    break;
  }
  const GgufTypeInfo &block = info(type);
  float values[256];
  for (int64_t done = 0; done < count;) {
    const int64_t index = (begin + done) / block.elements, first = (begin + done) % block.elements;
    const int64_t length = std::min(block.elements - first, count - done);
    const uint8_t *bytes = data + index * block.bytes;
    if (length == block.elements) {
      dequantizeBlock(type, bytes, out + done);
    } else {
      dequantizeBlock(type, bytes, values);
      std::copy_n(values + first, length, out + done);
    }
    done += length;
  }
}

//===--- Files -------------------------------------------------------------===//

namespace {

/// Reads the metadata of one file.
class MetadataReader {
public:
  MetadataReader(const std::string &path, ByteReader &bytes, Json &values) : path(path), bytes(bytes), values(values) {}

  Status read(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      key.clear();
      uint32_t type;
      if (!bytes.read(key))
        return Status::error(path + ": metadata key " + std::to_string(i) + " of " + std::to_string(count) + ": the file ends before it");
      if (key.empty() || values.contains(key))
        return fail("a key of its own", key.empty() ? "no name" : "the name of another");
      if (!bytes.read(type))
        return truncated();
      Json value;
      if (Status status = readValue(type, 0, value); status.failed())
        return status;
      values[key] = std::move(value);
    }
    return {};
  }

private:
  Status fail(const std::string &expected, const std::string &got) const {
    return Status::error(path + ": metadata '" + key + "': expected " + expected + ", got " + got);
  }
  Status truncated() const { return Status::error(path + ": metadata '" + key + "': the file ends before its value does"); }

  template <typename T>
  Status readNumber(Json &value) {
    T number;
    if (!bytes.read(number))
      return truncated();
    value = number;
    return {};
  }

  Status readValue(uint32_t type, int depth, Json &value) {
    if (type >= valueTypes)
      return fail("a type in 0.." + std::to_string(valueTypes - 1), std::to_string(type));
    switch (ValueType(type)) {
    case ValueType::U8:
      return readNumber<uint8_t>(value);
    case ValueType::I8:
      return readNumber<int8_t>(value);
    case ValueType::U16:
      return readNumber<uint16_t>(value);
    case ValueType::I16:
      return readNumber<int16_t>(value);
    case ValueType::U32:
      return readNumber<uint32_t>(value);
    case ValueType::I32:
      return readNumber<int32_t>(value);
    case ValueType::U64:
      return readNumber<uint64_t>(value);
    case ValueType::I64:
      return readNumber<int64_t>(value);
    case ValueType::F32:
      return readNumber<float>(value);
    case ValueType::F64:
      return readNumber<double>(value);
    case ValueType::Bool: {
      uint8_t flag;
      if (!bytes.read(flag))
        return truncated();
      if (flag > 1)
        return fail("0 or 1", std::to_string(flag));
      value = flag == 1;
      return {};
    }
    case ValueType::String: {
      std::string text;
      if (!bytes.read(text))
        return truncated();
      value = std::move(text);
      return {};
    }
    case ValueType::Array:
      return readArray(depth, value);
    }
    return {};
  }

  Status readArray(int depth, Json &value) {
    uint32_t type;
    uint64_t count;
    if (!bytes.read(type) || !bytes.read(count))
      return truncated();
    if (type >= valueTypes)
      return fail("a type of elements in 0.." + std::to_string(valueTypes - 1), std::to_string(type));
    if (depth == maxArrayDepth)
      return fail("at most " + std::to_string(maxArrayDepth) + " arrays in each other", "more");
    // A string takes at least 8 bytes, its length; an array takes more, for its type and count.
    const uint64_t least = valueBytes[type] ? valueBytes[type] : 8;
    if (count > bytes.remaining() / least)
      return fail("an array that the file has room for", std::to_string(count) + " elements");
    if (count > maxArrayElements - elements)
      return fail("at most " + std::to_string(maxArrayElements) + " elements in all arrays", "more");
    elements += count;
    value = Json::array();
    for (uint64_t i = 0; i < count; ++i) {
      Json element;
      if (Status status = readValue(type, depth + 1, element); status.failed())
        return status;
      value.push_back(std::move(element));
    }
    return {};
  }

  const std::string &path;
  ByteReader &bytes;
  Json &values;
  std::string key;
  uint64_t elements = 0;
};

/// The description of a tensor in the header. |offset| counts from the beginning of the data section; |bytes| is the
/// size of the data.
struct TensorEntry {
  GgufTensor tensor;
  uint64_t offset = 0, bytes = 0;
};

} // namespace

/// Reads the description of tensor |number| of |count|.
static Status readTensor(const std::string &path, ByteReader &bytes, uint64_t number, uint64_t count, TensorEntry &entry) {
  GgufTensor &tensor = entry.tensor;
  uint32_t dimensions, type;
  if (!bytes.read(tensor.name) || !bytes.read(dimensions))
    return Status::error(path + ": tensor " + std::to_string(number) + " of " + std::to_string(count) + ": the file ends before it");
  const std::string where = path + ": tensor '" + tensor.name + "': ";
  if (dimensions == 0 || dimensions > maxDimensions)
    return Status::error(where + "expected 1 to " + std::to_string(maxDimensions) + " dimensions, got " + std::to_string(dimensions));
  for (uint32_t i = 0; i < dimensions; ++i) {
    uint64_t extent;
    if (!bytes.read(extent))
      return Status::error(where + "the file ends before its extents do");
    if (extent == 0 || extent > uint64_t(INT64_MAX))
      return Status::error(where + "expected positive extents, got " + std::to_string(extent));
    tensor.shape.insert(tensor.shape.begin(), int64_t(extent));
  }
  if (!bytes.read(type) || !bytes.read(entry.offset))
    return Status::error(where + "the file ends before its type and place");
  const bool known = type < std::size(tensorTypes) && tensorTypes[type].name;
  if (!known || !tensorTypes[type].type)
    return Status::error(where + "expected the type F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K, got " +
                         (known ? tensorTypes[type].name : "number " + std::to_string(type)));
  tensor.type = *tensorTypes[type].type;
  const GgufTypeInfo &block = info(tensor.type);
  const std::optional<int64_t> elements = elementCount(tensor.shape);
  if (!elements || *elements > (INT64_MAX >> 9))
    return Status::error(where + "expected fewer elements, got shape " + shapeText(tensor.shape));
  if (tensor.shape.back() % block.elements != 0)
    return Status::error(where + "expected a multiple of " + std::to_string(block.elements) + " features, the blocks of " + block.name +
                         ", got shape " + shapeText(tensor.shape));
  entry.bytes = uint64_t(*elements / block.elements * block.bytes);
  return {};
}

/// Sorts |entries| by offset and checks that their tensors lie within |dataBytes| bytes, at multiples of |alignment|,
/// without overlap.
static Status checkPlaces(const std::string &path, std::vector<TensorEntry> &entries, uint64_t dataBytes, uint64_t alignment) {
  std::sort(entries.begin(), entries.end(), [](const TensorEntry &a, const TensorEntry &b) { return a.offset < b.offset; });
  uint64_t end = 0;
  for (const TensorEntry &entry : entries) {
    const std::string where = path + ": tensor '" + entry.tensor.name + "': expected ";
    if (entry.offset % alignment != 0)
      return Status::error(where + "an offset that is a multiple of " + std::to_string(alignment) + ", got " +
                           std::to_string(entry.offset));
    if (entry.offset > dataBytes || entry.bytes > dataBytes - entry.offset)
      return Status::error(where + std::to_string(entry.bytes) + " bytes at offset " + std::to_string(entry.offset) + " within the " +
                           std::to_string(dataBytes) + " bytes of data; the file may be cut");
    if (entry.offset < end)
      return Status::error(where + "data of its own, got an overlap with another tensor at offset " + std::to_string(entry.offset));
    end = entry.offset + entry.bytes;
  }
  return {};
}

Status GgufFile::readHeader() {
  ByteReader bytes(file.data(), file.size());
  char magic[4];
  uint32_t version;
  uint64_t tensorCount, keyCount;
  if (!bytes.read(magic) || std::memcmp(magic, "GGUF", 4) != 0)
    return Status::error(path() + ": expected a GGUF file, which begins with 'GGUF'");
  if (!bytes.read(version) || !bytes.read(tensorCount) || !bytes.read(keyCount))
    return Status::error(path() + ": the file ends within its header");
  if (version != 2 && version != 3)
    return Status::error(path() + ": expected version 2 or 3 of the format, little-endian, got " + std::to_string(version));
  // The smallest key has 13 bytes: the length of its name, a type and one byte of a value. The smallest tensor has 32:
  // the length of its name, a number of dimensions, one extent, a type and an offset.
  if (keyCount > bytes.remaining() / 13 || tensorCount > bytes.remaining() / 32)
    return Status::error(path() + ": expected a header that the file has room for, got " + std::to_string(keyCount) + " keys and " +
                         std::to_string(tensorCount) + " tensors");
  if (Status status = MetadataReader(path(), bytes, values).read(keyCount); status.failed())
    return status;

  int64_t alignment = 32;
  if (const Json *value = findJson(values, "general.alignment")) {
    Result<int64_t> read = jsonInteger(*value, path(), "general.alignment", 1, 1 << 20);
    if (!read)
      return read.status();
    alignment = *read;
    if ((alignment & (alignment - 1)) != 0)
      return jsonTypeError(path(), "general.alignment", "a power of two", *value);
  }

  std::vector<TensorEntry> entries(tensorCount);
  for (uint64_t i = 0; i < tensorCount; ++i)
    if (Status status = readTensor(path(), bytes, i, tensorCount, entries[i]); status.failed())
      return status;
  const uint64_t begin = (uint64_t(bytes.position()) + uint64_t(alignment) - 1) / uint64_t(alignment) * uint64_t(alignment);
  const uint64_t dataBytes = begin < file.size() ? file.size() - begin : 0;
  if (Status status = checkPlaces(path(), entries, dataBytes, uint64_t(alignment)); status.failed())
    return status;
  for (TensorEntry &entry : entries) {
    entry.tensor.data = file.data() + begin + entry.offset;
    std::string name = entry.tensor.name;
    if (!byName.emplace(name, std::move(entry.tensor)).second)
      return Status::error(path() + ": tensor '" + name + "': expected once, got it twice");
  }
  return {};
}

Result<GgufFile> GgufFile::check(MappedFile file) {
  GgufFile result(std::move(file));
  if (Status status = result.readHeader(); status.failed())
    return status;
  return result;
}

Result<GgufFile> GgufFile::open(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  return file ? check(std::move(*file)) : Result<GgufFile>(file.status());
}

Result<GgufFile> GgufFile::parse(std::string name, const uint8_t *bytes, size_t length) {
  return check(MappedFile::borrow(std::move(name), bytes, length));
}
