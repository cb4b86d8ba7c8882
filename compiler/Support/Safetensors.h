//===- Safetensors.h - Reading safetensors files and folders ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Readers for one file and for a model folder (single or sharded). Files are untrusted: everything in a header is checked before anything
// uses it, and every error reads "FILE: tensor 'x': expected …, got …". Tensors are views into the mapping; nothing is copied.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_SAFETENSORS_H
#define ATTUNE_COMPILER_SUPPORT_SAFETENSORS_H

#include "compiler/Support/DType.h"
#include "compiler/Support/Json.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/Status.h"

#include <map>
#include <string>
#include <vector>

namespace attune {

/// A tensor of an open file: valid as long as the file object. The data may be unaligned.
struct TensorView {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const uint8_t *data = nullptr;
  uint64_t bytes = 0;
  /// Product of the shape.
  int64_t elements = 0;
};

/// Elements begin … begin+count as float (floats only); count rows of a matrix are begin = row * width.
inline void convertToF32(const TensorView &view, int64_t begin, int64_t count, float *out) {
  convertToF32(view.dtype, view.data, begin, count, out);
}
/// Elements begin … begin+count as int64 (integers only).
inline void convertToI64(const TensorView &view, int64_t begin, int64_t count, int64_t *out) {
  convertToI64(view.dtype, view.data, begin, count, out);
}

/// One safetensors file.
class SafetensorsFile {
public:
  /// Maps and checks |path|: header within the file, no key twice, known dtypes, shapes that multiply to the size of their data, offsets
  /// inside the file, and data that the tensors cover without overlap or gap (the format forbids both).
  static Result<SafetensorsFile> open(const std::string &path);
  /// Checks bytes in memory, which must outlive the object, as open checks a file; |name| is for messages.
  static Result<SafetensorsFile> parse(std::string name, const uint8_t *bytes, size_t length);

  const std::string &path() const { return file.path(); }
  /// All tensors, by name.
  const std::map<std::string, TensorView, std::less<>> &tensors() const { return byName; }
  /// The tensor of this name, or null.
  const TensorView *find(std::string_view name) const;
  /// The strings of "__metadata__".
  const std::map<std::string, std::string> &metadata() const { return strings; }

private:
  explicit SafetensorsFile(MappedFile file) : file(std::move(file)) {}
  static Result<SafetensorsFile> check(MappedFile file);
  Status readHeader();
  Status addTensor(const std::string &name, const Json &entry, const uint8_t *data, uint64_t dataBytes);
  Status addMetadata(const Json &entry);
  Status checkCoverage(uint64_t dataBytes) const;

  MappedFile file;
  std::map<std::string, TensorView, std::less<>> byName;
  std::map<std::string, std::string> strings;
};

/// The weights of a model folder: `model.safetensors`, or the shards named by `model.safetensors.index.json`.
class SafetensorsFolder {
public:
  /// Opens the folder's weights. An index may name only files of the folder itself: no separators, no "..", no link that leads elsewhere
  /// (links to the place the index itself is stored are followed, which is how download caches lay out a folder).
  static Result<SafetensorsFolder> open(const std::string &folder);
  /// Opens the shards that |index| names in |folder|; |path| is for messages.
  static Result<SafetensorsFolder> openIndex(const std::string &folder, const std::string &path, const Json &index);
  /// Returns true if the folder has either of the two files.
  static bool present(const std::string &folder);
  /// The files that open reads, sorted, without opening them: the single file, or the index and the shards it names, of which some may be
  /// missing; of an index that cannot be read only the index. The single file if the folder has neither.
  static std::vector<std::string> listFiles(const std::string &folder);

  /// The tensor of this name, or null.
  const TensorView *find(std::string_view name) const;
  /// The file a tensor is in, for messages; the folder's own weight file or index for an unknown name.
  const std::string &fileOf(std::string_view name) const;
  /// The names of all tensors, sorted.
  std::vector<std::string> names() const;
  /// The opened files.
  const std::vector<SafetensorsFile> &files() const { return shards; }

private:
  Status openShards(const std::string &folder, const std::string &indexPath, const Json &map);

  /// `model.safetensors` or the index.
  std::string mainFile;
  std::vector<SafetensorsFile> shards;
  /// Tensor name to index into shards.
  std::map<std::string, size_t, std::less<>> shardOf;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SAFETENSORS_H
