//===- Gguf.h - Reading GGUF files ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reader of the file format of llama.cpp, versions 2 and 3: metadata, and tensors in blocks of quantized values.
// Files are untrusted: every length, type and offset is checked before it is used. Every error names the file, and the
// key or tensor if it is about one. The data of tensors are not copied: GgufTensor::data points into the mapped file,
// or into the bytes that were passed to parse.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_GGUF_H
#define ATTUNE_COMPILER_SUPPORT_GGUF_H

#include "compiler/Support/Json.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/Status.h"

#include <map>
#include <string>
#include <vector>

namespace attune {

/// An element type of GGUF that dequantizeGguf converts.
enum class GgufType : uint8_t { F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K };

/// Returns the name of |type|, such as "Q4_K".
const char *ggufTypeName(GgufType type);
/// Returns the number of elements in a block of |type|; 1 for floats.
int64_t ggufBlockElements(GgufType type);
/// Returns the number of bytes of a block of |type|.
int64_t ggufBlockBytes(GgufType type);

/// Dequantizes elements |begin| … |begin| + |count| - 1 of the blocks that begin at |data|, and writes them to |out|.
///
/// An element of a quantized type is scale * q, or scale * q + minimum, with the scale and the minimum that llama.cpp
/// computes. Products of a scale and an integer are exact; a sum with a minimum is rounded once.
void dequantizeGguf(GgufType type, const uint8_t *data, int64_t begin, int64_t count, float *out);

/// A tensor of an open file, valid as long as the GgufFile.
struct GgufTensor {
  std::string name;
  GgufType type = GgufType::F32;
  /// Extents, the outermost first; the file lists the innermost first.
  std::vector<int64_t> shape;
  /// The first block. Blocks follow each other without padding, in row-major order.
  const uint8_t *data = nullptr;
};

/// One GGUF file.
class GgufFile {
public:
  /// Maps and checks |path|.
  static Result<GgufFile> open(const std::string &path);
  /// Checks bytes in memory as open checks a file. The bytes must outlive the object; |name| is for messages.
  static Result<GgufFile> parse(std::string name, const uint8_t *bytes, size_t length);

  const std::string &path() const { return file.path(); }
  /// Returns the metadata, an object from keys ("llama.block_count") to values.
  const Json &metadata() const { return values; }
  /// Returns all tensors, by name.
  const std::map<std::string, GgufTensor, std::less<>> &tensors() const { return byName; }

private:
  explicit GgufFile(MappedFile file) : file(std::move(file)) {}
  static Result<GgufFile> check(MappedFile file);
  Status readHeader();

  MappedFile file;
  Json values = Json::object();
  std::map<std::string, GgufTensor, std::less<>> byName;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_GGUF_H
