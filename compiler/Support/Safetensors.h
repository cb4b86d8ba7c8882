//===- Safetensors.h - Reading safetensors files and folders --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Readers for one file and for a model folder (single or sharded). Files are untrusted: everything in a header is
// checked before it is used, and every error names the file; errors of a tensor read "FILE: tensor 'x': expected …, got
// …". The data of tensors are not copied: TensorView::data points into the mapped file, or into the bytes that were
// passed to parse.
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

/// A tensor of an open file, valid as long as the SafetensorsFile. |data| may be unaligned; it has |bytes| bytes, in
/// row-major order.
struct TensorView {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const uint8_t *data = nullptr;
  uint64_t bytes = 0;
  /// Number of elements, the product of the shape.
  int64_t elements = 0;
};

/// Converts |count| elements of a float tensor, from element |begin| in row-major order on, to float.
inline void convertToF32(const TensorView &view, int64_t begin, int64_t count, float *out) {
  convertToF32(view.dtype, view.data, begin, count, out);
}
/// Converts |count| elements of an integer tensor, from element |begin| in row-major order on, to int64.
inline void convertToI64(const TensorView &view, int64_t begin, int64_t count, int64_t *out) {
  convertToI64(view.dtype, view.data, begin, count, out);
}

/// One safetensors file.
class SafetensorsFile {
public:
  /// Maps and checks |path|: the header lies within the file, no key occurs twice, dtypes are known, shapes match the
  /// sizes of their data, offsets lie inside the file, and the tensors cover the data without overlap or gap (the
  /// format forbids both).
  static Result<SafetensorsFile> open(const std::string &path);
  /// Checks bytes in memory as open checks a file. The bytes must outlive the object; |name| is for messages.
  static Result<SafetensorsFile> parse(std::string name, const uint8_t *bytes, size_t length);

  const std::string &path() const { return file.path(); }
  /// Returns all tensors, by name.
  const std::map<std::string, TensorView, std::less<>> &tensors() const { return byName; }
  /// Returns the tensor of this name, or null.
  const TensorView *find(std::string_view name) const;
  /// Returns the strings of "__metadata__", by key; empty if the file has none.
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
  /// Opens the folder's weights. An index may name only files of the folder itself: no separators, no "..". If the
  /// index or a shard is a link, the shard must lead to a file in |folder| or in the folder to which the index leads:
  /// in a download cache, all files of a folder are links into one other folder.
  static Result<SafetensorsFolder> open(const std::string &folder);
  /// Opens the shards of |folder| that |index| names. |path| is the file of the index, for messages and to find the
  /// folder to which the index leads if it is a link (see open).
  static Result<SafetensorsFolder> openIndex(const std::string &folder, const std::string &path, const Json &index);
  /// Returns true if the folder has a single weights file or an index.
  static bool present(const std::string &folder);
  /// Returns the paths of the files that open reads, sorted, without opening files of weights: the single file, or the
  /// index and the shards that it names, some of which may be missing. Returns only the index if the index cannot be
  /// read, and the path of the single file if the folder has neither that file nor an index.
  static std::vector<std::string> listFiles(const std::string &folder);

  /// Returns the tensor of this name, or null.
  const TensorView *find(std::string_view name) const;
  /// Returns the file of a tensor, for messages; for an unknown name the folder's single file or index.
  const std::string &fileOf(std::string_view name) const;
  /// Returns the names of all tensors, sorted.
  std::vector<std::string> names() const;
  /// Returns the opened files.
  const std::vector<SafetensorsFile> &files() const { return shards; }

private:
  Status openShards(const std::string &folder, const std::string &indexPath, const Json &map);

  /// Path of `model.safetensors` or of the index.
  std::string mainFile;
  std::vector<SafetensorsFile> shards;
  /// The position in |shards| of the file of each tensor, by name.
  std::map<std::string, size_t, std::less<>> shardOf;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SAFETENSORS_H
