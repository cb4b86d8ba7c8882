//===- FileKind.h - Recognition of files by their first bytes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes the format of a file by its first bytes. Callers use it to recognize GGUF files and compiled tokenizers,
// and to say in an error message which kind of file was passed instead of the expected one. Readers check their own
// formats and do not rely on the kind.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_FILEKIND_H
#define ATTUNE_COMPILER_SUPPORT_FILEKIND_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace attune {

enum class FileKind {
  Unknown,
  Empty,
  Text,
  Json,
  Object,
  SharedObject,
  Executable,
  Archive,
  PackedWeights,
  CompiledText,
  Safetensors,
  Gguf,
  Onnx,
  PyTorch,
  Pickle,
  Hdf5,
  Numpy,
  Zip,
  Gzip,
  LfsPointer,
  Bitcode,
  MlirBytecode
};

/// Number of bytes at the beginning of a file that identifyBytes may read.
constexpr size_t kFileKindBytes = 4096;

/// Returns the kind of a file of |fileBytes| bytes whose first |size| bytes are at |bytes|. |size| must be at least
/// kFileKindBytes, or |fileBytes| if the file is shorter.
FileKind identifyBytes(const uint8_t *bytes, size_t size, uint64_t fileBytes);
/// Returns the kind of the file |path|; Unknown if it cannot be read.
FileKind identifyFile(const std::string &path);
/// Returns true if |path| is a file that begins with the magic of GGUF.
inline bool isGgufFile(const std::string &path) { return identifyFile(path) == FileKind::Gguf; }
/// Returns the name of a kind with its article, such as "an object file"; "a file of another kind" for Unknown.
const char *describeKind(FileKind kind);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_FILEKIND_H
