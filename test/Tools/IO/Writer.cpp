//===- Writer.cpp - Safetensors written and read back ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that a file that is written can be read back, and that an unfinished file leaves nothing in the folder.
//===----------------------------------------------------------------------===//
#include "Check.h"
#include "compiler/Support/Safetensors.h"
#include "compiler/Support/SafetensorsWriter.h"

#include <filesystem>

using namespace attune;
namespace fs = std::filesystem;

static size_t filesIn(const std::string &folder) {
  size_t count = 0;
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(folder, ignored))
    count += entry.is_regular_file(ignored);
  return count;
}

void testWriter() {
  std::error_code ignored;
  fs::remove_all(scratch("writer"), ignored);
  fs::create_directories(scratch("writer"), ignored);
  std::string path = scratch("writer/out.safetensors");
  std::vector<TensorSpec> specs = {{"b\"\n\xc3\xa9", DType::F32, {2, 1}}, {"a", DType::U8, {3}}, {"none", DType::I64, {0}}};

  { // a commit before all data is written fails
    Result<SafetensorsWriter> writer = SafetensorsWriter::create(path, specs);
    CHECK(bool(writer) && !writer->write("1234", 4).failed());
    CHECK_HAS(writer->commit().message(), path);
  }
  CHECK(filesIn(scratch("writer")) == 0);

  Result<SafetensorsWriter> writer = SafetensorsWriter::create(path, specs, {{"format", "pt"}});
  CHECK(bool(writer));
  if (!writer)
    return;
  CHECK(!writer->write("12345", 5).failed() && !writer->write("678abc", 6).failed() && !writer->commit().failed());
  CHECK(filesIn(scratch("writer")) == 1);
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  CHECK(bool(file));
  if (!file)
    return;
  const TensorView *first = file->find(specs[0].name), *second = file->find("a");
  CHECK(first && first->shape == std::vector<int64_t>({2, 1}) && std::string(first->data, first->data + 8) == "12345678");
  CHECK(first && reinterpret_cast<uintptr_t>(first->data) % 8 == 0);
  CHECK(second && std::string(second->data, second->data + 3) == "abc");
  CHECK(file->metadata().size() == 1);

  CHECK_HAS(SafetensorsWriter::create(path, {{"x", DType::F32, {}}, {"x", DType::F32, {}}}).message(), "tensor 'x'");
  // A tensor must have less than 2^60 elements, all tensors together less than 2^63 bytes.
  constexpr int64_t tooMany = int64_t(1) << 60, many = tooMany - 1;
  CHECK_HAS(SafetensorsWriter::create(path, {{"x", DType::U8, {tooMany}}}).message(),
            "tensor 'x': expected a shape of less than 2^60 elements, got [1152921504606846976]");
  CHECK_HAS(SafetensorsWriter::create(path, {{"x", DType::I64, {tooMany * 4}}}).message(), "less than 2^60 elements");
  CHECK_HAS(SafetensorsWriter::create(path, {{"x", DType::I64, {many}}, {"y", DType::I64, {many}}}).message(),
            "tensor 'y': expected less than 2^63 bytes of data in all, got [1152921504606846975] after 9223372036854775800 bytes");
  CHECK(bool(SafetensorsWriter::create(path, {{"x", DType::I64, {many}}, {"y", DType::U8, {7}}})));
  CHECK(filesIn(scratch("writer")) == 1);
  CHECK_HAS(SafetensorsWriter::create(scratch("writer/none/x"), {}).message(), "cannot create");
  CHECK_HAS(SafetensorsWriter::create(scratch("writer"), {}).message(), "got a folder");
}
