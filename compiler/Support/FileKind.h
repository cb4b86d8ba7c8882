//===- FileKind.h - Telling files apart by their first bytes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the kind of a file that was given in the place of another, for messages. Nothing is read by it: readers check their own formats.
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

/// Bytes from the beginning of a file that identifyBytes may look at.
constexpr size_t kFileKindBytes = 4096;

/// The kind of a file of |fileBytes| bytes that begins with the |size| bytes at |bytes|: all of it, or at least kFileKindBytes.
FileKind identifyBytes(const uint8_t *bytes, size_t size, uint64_t fileBytes);
/// The kind of the file |path|; Unknown if it cannot be read.
FileKind identifyFile(const std::string &path);
/// The kind with its article: "an object file". "a file of another kind" for Unknown.
const char *describeKind(FileKind kind);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_FILEKIND_H
