//===- SafetensorsWriter.h - Writing safetensors files ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A streaming writer: the tensors are declared first, their data follows in that order in chunks of any size, so a file larger than memory
// can be written. Equal declarations and data give equal bytes.
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

/// Writes one safetensors file, whole or not at all.
class SafetensorsWriter {
public:
  /// Creates the file and writes the header. The data of |tensors| follows by write, in this order.
  static Result<SafetensorsWriter> create(const std::string &path, const std::vector<TensorSpec> &tensors,
                                          const std::map<std::string, std::string> &metadata = {});
  /// The same in |file|, which shall be called |path| and is empty.
  static Result<SafetensorsWriter> create(OutputFile file, const std::string &path, const std::vector<TensorSpec> &tensors,
                                          const std::map<std::string, std::string> &metadata = {});

  /// Appends the next |bytes| bytes of data.
  Status write(const void *data, size_t bytes) { return file.write(data, bytes); }
  /// Completes the file; an error if more or less data was written than declared.
  Status commit();
  /// Ends the writing without a commit, for files that appear together; the same errors.
  Result<OutputFile> release();

private:
  SafetensorsWriter(OutputFile file, std::string path, uint64_t end) : file(std::move(file)), path(std::move(path)), end(end) {}

  OutputFile file;
  std::string path;
  uint64_t end;
};

/// Writes tensors that are in memory.
Status saveSafetensors(const std::string &path, const std::vector<OwnedTensor> &tensors);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SAFETENSORSWRITER_H
