//===- BadFiles.cpp - Invalid safetensors files and folders ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each file or folder breaks one rule. The error must name the file or folder, and the faulty entry if there is one.
//===----------------------------------------------------------------------===//
#include "Check.h"
#include "compiler/Support/Safetensors.h"

#include <cstring>
#include <filesystem>

using namespace attune;
namespace fs = std::filesystem;

/// Returns the bytes of a safetensors file with the JSON text |header| and |dataBytes| bytes of data.
static std::string image(const std::string &header, size_t dataBytes) {
  std::string bytes(8, '\0');
  uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(dataBytes, '\1');
}

/// Writes |bytes| to a scratch file and returns the error of opening it. Checks that the error names the file.
static std::string errorOf(const std::string &bytes) {
  std::string path = writeScratch("bad.safetensors", bytes);
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  CHECK(!file);
  CHECK_HAS(file.message(), path);
  return file.message();
}

/// Returns the error of a file whose only tensor, 'x', has the JSON value |entry|, with |dataBytes| bytes of data.
/// Checks that the error names the tensor.
static std::string errorOfEntry(const std::string &entry, size_t dataBytes) {
  std::string message = errorOf(image("{\"x\":" + entry + "}", dataBytes));
  CHECK_HAS(message, "tensor 'x'");
  return message;
}

static void testHeaders() {
  CHECK_HAS(errorOf(""), "at least 8 bytes, got 0");
  CHECK_HAS(errorOf("1234567"), "got 7");
  CHECK_HAS(errorOf(std::string(8, '\xff')), "expected a header of at most 0 bytes");
  CHECK_HAS(errorOf(image("{}", 0).substr(0, 9)), "expected a header of at most 1 bytes, got length 2");
  CHECK_HAS(errorOf(image("", 0)), "(header):1:1");
  CHECK_HAS(errorOf(image("{\"x\":", 0)), "(header):1:");
  CHECK_HAS(errorOf(image("[]", 0)), "expected the header to be a JSON object, got []");
  CHECK_HAS(errorOf(image("{} x", 0)), "(header):1:4");
  CHECK_HAS(errorOf(image("{\"x\":{},\"x\":{}}", 0)), "key 'x' appears twice");
  CHECK_HAS(errorOf(image("{\"__metadata__\":[]}", 0)), "'__metadata__': expected an object of strings, got []");
  CHECK_HAS(errorOf(image("{\"__metadata__\":{\"a\":1}}", 0)), "'__metadata__.a': expected a string, got 1");
  CHECK_HAS(errorOf(image(std::string(100000, '['), 0)), "nested deeper than 64 levels");
  CHECK_HAS(errorOf(image("{\"\xff\":1}", 0)), "(header):1:");
}

static void testEntries() {
  CHECK_HAS(errorOfEntry("7", 0), "expected an object with dtype, shape and data_offsets, got 7");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[1]})", 4), "expected key 'data_offsets', which is missing");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"y":0})", 4), "got 'y'");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F33","shape":[1],"data_offsets":[0,4]})", 4), "expected a known dtype");
  CHECK_HAS(errorOfEntry(R"({"dtype":1,"shape":[1],"data_offsets":[0,4]})", 4), "'dtype': expected a string, got 1");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", 4),
            "'shape[0]': expected an integer of at least 0, got -1");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})", 4), "got 1.5");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":3,"data_offsets":[0,4]})", 4), "'shape': expected an array of integers, got 3");
  // In 64 bits, the number of elements of the first shape wraps to 0, and the bytes of the second shape wrap to 4.
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]})", 0), "less than 2^60 elements");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]})", 4), "elements");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]})", 4), "got 18446744073709551615");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", 4), "expected 8 bytes of data for F32 [2], got 4");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", 4), "begin <= end, got [4, 0]");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4,8]})", 4), "got [0, 4, 8]");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 3), "within the file's 3 bytes of data, got [0, 4]");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[1],"data_offsets":[-4,0]})", 4), "got -4");
  CHECK_HAS(errorOfEntry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", 8), "bytes that belong to no tensor");
}

static void testCoverage() {
  std::string overlap =
      errorOf(image(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[4],"data_offsets":[7,11]}})", 11));
  CHECK_HAS(overlap, "tensor 'b'");
  CHECK_HAS(overlap, "overlaps tensor 'a'");
  CHECK_HAS(errorOf(image(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 5)), "expected 4 bytes of data, got 5");
}

void testBadFiles() {
  testHeaders();
  testEntries();
  testCoverage();
  CHECK_HAS(SafetensorsFile::open(scratch("absent")).message(), "cannot open");
  CHECK_HAS(SafetensorsFile::open(scratch(".")).message(), "expected a regular file, got a folder");

  // An odd but valid file: tensors that are not in the order of their data, one of size 0, one of rank 0, unaligned
  // data, and spaces after the header.
  std::string path =
      writeScratch("odd.safetensors", image(R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[6,9]},)"
                                            R"("none":{"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[6,6]},)"
                                            R"("a":{"dtype":"F16","shape":[],"data_offsets":[4,6]},)"
                                            R"("c":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"__metadata__":{"k":"v"}}   )",
                                            9));
  Result<SafetensorsFile> odd = SafetensorsFile::open(path);
  CHECK(bool(odd));
  if (odd) {
    CHECK(odd->tensors().size() == 4 && odd->find("a")->elements == 1 && odd->find("none")->elements == 0 && !odd->find("d"));
    CHECK(odd->metadata().at("k") == "v");
  }
}

/// Writes |index| as the index of the folder that testBadFolders makes and returns the error of opening the folder.
/// Checks that the error names the folder.
static std::string folderError(const std::string &index) {
  std::string folder = scratch("folder");
  writeScratch("folder/model.safetensors.index.json", index);
  Result<SafetensorsFolder> opened = SafetensorsFolder::open(folder);
  CHECK(!opened);
  CHECK_HAS(opened.message(), folder);
  return opened.message();
}

void testBadFolders() {
  std::error_code ignored;
  fs::remove_all(scratch("folder"), ignored);
  fs::create_directories(scratch("folder"), ignored);
  CHECK_HAS(SafetensorsFolder::open(scratch("folder")).message(), "found neither");
  std::string good = image(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
  writeScratch("outside.safetensors", good);
  writeScratch("folder/part.safetensors", good);
  fs::create_symlink("../outside.safetensors", scratch("folder/link.safetensors"), ignored);

  CHECK_HAS(folderError("{}"), "'weight_map': expected an object of file names, but the key is missing");
  CHECK_HAS(folderError(R"({"weight_map":null})"), "'weight_map': expected an object of file names, got null");
  CHECK_HAS(folderError(R"({"weight_map":{"x":1}})"), "'weight_map.x': expected a string, got 1");
  CHECK_HAS(folderError(R"({"weight_map":{"x":"../outside.safetensors"}})"), "got '../outside.safetensors'");
  CHECK_HAS(folderError(R"({"weight_map":{"x":"/etc/passwd"}})"), "got '/etc/passwd'");
  CHECK_HAS(folderError(R"({"weight_map":{"x":".."}})"), "got '..'");
  CHECK_HAS(folderError(R"({"weight_map":{"x":""}})"), "got ''");
  CHECK_HAS(folderError(R"({"weight_map":{"x":"part.safetensors\u0000.txt"}})"), "expected the name of a file in the folder");
  CHECK_HAS(folderError(R"({"weight_map":{"x":"link.safetensors"}})"), "a link to");
  CHECK_HAS(folderError(R"({"weight_map":{"x":"none.safetensors"}})"), "'none.safetensors' in the folder, which is missing");
  CHECK_HAS(folderError(R"({"weight_map":{"y":"part.safetensors"}})"), "tensor 'y': expected in this file");
  CHECK_HAS(folderError(R"({"weight_map":{"x":"part.safetensors","x":"part.safetensors"}})"), "key 'x' appears twice");

  writeScratch("folder/model.safetensors.index.json", R"({"weight_map":{"x":"part.safetensors"}})");
  Result<SafetensorsFolder> opened = SafetensorsFolder::open(scratch("folder"));
  CHECK(opened && opened->find("x") && !opened->find("y") && opened->names().size() == 1);
  if (opened)
    CHECK_HAS(opened->fileOf("x"), "part.safetensors");
}
