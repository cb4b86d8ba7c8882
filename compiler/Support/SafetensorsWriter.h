//===- SafetensorsWriter.h - Writing safetensors files --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A streaming writer. The caller declares all tensors first and then writes their data, in the same order and in chunks
// of any size, so a file larger than memory can be written. Equal declarations and data produce equal bytes.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_SAFETENSORSWRITER_H
#define ATTUNE_COMPILER_SUPPORT_SAFETENSORSWRITER_H

#include "compiler/Support/DType.h"
#include "compiler/Support/OutputFile.h"

#include <map>

namespace attune {

/// Name, type and shape of a tensor to be written.
struct TensorSpec {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
};

/// A tensor in memory.
struct OwnedTensor {
  TensorSpec spec;
  std::vector<uint8_t> data;
};

/// A writer of one safetensors file. The file appears complete or not at all.
class SafetensorsWriter {
public:
  /// Creates the file and writes the header. The caller then writes the data of |tensors|, row-major, in their order.
  /// Fails if a name occurs twice or if there are too many elements or bytes.
  static Result<SafetensorsWriter> create(const std::string &path, const std::vector<TensorSpec> &tensors,
                                          const std::map<std::string, std::string> &metadata = {});
  /// Does the same for |file|, an empty file that will be named |path|.
  static Result<SafetensorsWriter> create(OutputFile file, const std::string &path, const std::vector<TensorSpec> &tensors,
                                          const std::map<std::string, std::string> &metadata = {});

  /// Appends the next |bytes| bytes of data.
  Status write(const void *data, size_t bytes) { return file.write(data, bytes); }
  /// Commits the file under its path. Fails if more or fewer bytes were written than declared.
  Status commit();
  /// Returns the file without a commit, for files that are committed together. Fails if more or fewer bytes were
  /// written than declared.
  Result<OutputFile> release();

private:
  SafetensorsWriter(OutputFile file, std::string path, uint64_t end) : file(std::move(file)), path(std::move(path)), end(end) {}

  OutputFile file;
  std::string path;
  /// The size in bytes of the complete file.
  uint64_t end;
};

/// Writes tensors in memory to the file |path|.
Status saveSafetensors(const std::string &path, const std::vector<OwnedTensor> &tensors);
/// Reads all tensors of the file |path| to memory. Returns them sorted by name.
Result<std::vector<OwnedTensor>> loadSafetensors(const std::string &path);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SAFETENSORSWRITER_H
