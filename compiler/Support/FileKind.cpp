//===- FileKind.cpp - Recognition of files by their first bytes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Support/FileKind.h"

#include "compiler/Support/MappedFile.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string_view>

using namespace attune;

namespace {
struct Magic {
  std::string_view bytes;
  FileKind kind;
};
} // namespace

/// Beginnings of files that identify a format beyond doubt. The last one is the beginning of the pickle with which a
/// file of PyTorch's old format begins: protocol 2, then the lowest 6 bytes of the number 0x1950a86a20f9469cfc6c.
static constexpr Magic magics[] = {{"!<arch>\n", FileKind::Archive},
                                   {"!<thin>\n", FileKind::Archive},
                                   {"ATTUNEW1", FileKind::PackedWeights},
                                   {"ATTUNET1", FileKind::CompiledText},
                                   {"GGUF", FileKind::Gguf},
                                   {"\x89HDF\r\n\x1a\n", FileKind::Hdf5},
                                   {"\x93NUMPY", FileKind::Numpy},
                                   {"\x1f\x8b", FileKind::Gzip},
                                   {"version https://git-lfs", FileKind::LfsPointer},
                                   {"BC\xc0\xde", FileKind::Bitcode},
                                   {"ML\xefR", FileKind::MlirBytecode},
                                   {"\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20", FileKind::PyTorch}};

static FileKind identifyElf(std::string_view head) {
  Elf64_Ehdr header;
  if (head.size() < sizeof(header))
    return FileKind::Unknown;
  std::memcpy(&header, head.data(), sizeof(header));
  return header.e_type == ET_REL    ? FileKind::Object
         : header.e_type == ET_DYN  ? FileKind::SharedObject
         : header.e_type == ET_EXEC ? FileKind::Executable
                                    : FileKind::Unknown;
}

/// Returns true if a safetensors header may begin here: a length that fits in the file, then a JSON object.
static bool isSafetensors(std::string_view head, uint64_t fileBytes) {
  uint64_t length;
  if (head.size() < sizeof(length) + 1 || head[sizeof(length)] != '{')
    return false;
  std::memcpy(&length, head.data(), sizeof(length));
  return length <= fileBytes - sizeof(length);
}

/// Recognizes the protocol buffer message of an ONNX model: field 1, the version of the format, with a value from 1 to
/// 31, then a length-delimited field with a field number from 2 to 8.
static bool isOnnx(std::string_view head) {
  return head.size() > 3 && head[0] == 0x08 && head[1] > 0 && head[1] < 0x20 && (head[2] & 7) == 2 && head[2] >= 0x12 && head[2] <= 0x42;
}

/// Recognizes ASCII or UTF-8 text: no control characters but white space and escape, and no byte that UTF-8 never has.
static bool isText(std::string_view head) {
  constexpr std::string_view controls = "\t\n\v\f\r\x1b";
  return std::none_of(head.begin(), head.end(), [&](char c) {
    auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && controls.find(c) == std::string_view::npos) || byte == 0x7f || byte == 0xc0 || byte == 0xc1 || byte > 0xf4;
  });
}

/// Recognizes the beginning of a JSON object.
static bool isJson(std::string_view text) {
  size_t brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || text[brace] != '{')
    return false;
  size_t next = text.find_first_not_of(" \t\r\n", brace + 1);
  return next == std::string_view::npos || text[next] == '"' || text[next] == '}';
}

FileKind attune::identifyBytes(const uint8_t *bytes, size_t size, uint64_t fileBytes) {
  std::string_view head(reinterpret_cast<const char *>(bytes), std::min(size, kFileKindBytes));
  if (head.empty())
    return FileKind::Empty;
  for (const Magic &magic : magics)
    if (head.substr(0, magic.bytes.size()) == magic.bytes)
      return magic.kind;
  if (head.substr(0, SELFMAG) == ELFMAG)
    return identifyElf(head);
  // PyTorch's files are zip archives whose first member is NAME/data.pkl.
  if (head.substr(0, 4) == "PK\x03\x04")
    return head.find("data.pkl") != std::string_view::npos ? FileKind::PyTorch : FileKind::Zip;
  if (isSafetensors(head, fileBytes))
    return FileKind::Safetensors;
  if (isOnnx(head))
    return FileKind::Onnx;
  if (head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
    return FileKind::Pickle;
  if (isText(head))
    return isJson(head) ? FileKind::Json : FileKind::Text;
  return FileKind::Unknown;
}

FileKind attune::identifyFile(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  return file ? identifyBytes(file->data(), file->size(), file->size()) : FileKind::Unknown;
}

const char *attune::describeKind(FileKind kind) {
  switch (kind) {
  case FileKind::Unknown:
    return "a file of another kind";
  case FileKind::Empty:
    return "an empty file";
  case FileKind::Text:
    return "a text";
  case FileKind::Json:
    return "a JSON file";
  case FileKind::Object:
    return "an object file";
  case FileKind::SharedObject:
    return "a shared object";
  case FileKind::Executable:
    return "an executable";
  case FileKind::Archive:
    return "an archive of objects";
  case FileKind::PackedWeights:
    return "the weights of a compiled model";
  case FileKind::CompiledText:
    return "the tokenizer and chat templates of a compiled model";
  case FileKind::Safetensors:
    return "a safetensors file";
  case FileKind::Gguf:
    return "a GGUF file";
  case FileKind::Onnx:
    return "an ONNX file";
  case FileKind::PyTorch:
    return "a PyTorch file";
  case FileKind::Pickle:
    return "a Python pickle";
  case FileKind::Hdf5:
    return "an HDF5 file";
  case FileKind::Numpy:
    return "a NumPy file";
  case FileKind::Zip:
    return "a zip archive";
  case FileKind::Gzip:
    return "a gzip file";
  case FileKind::LfsPointer:
    return "a Git LFS pointer";
  case FileKind::Bitcode:
    return "LLVM bitcode";
  case FileKind::MlirBytecode:
    return "MLIR bytecode";
  }
  return "a file of another kind";
}
