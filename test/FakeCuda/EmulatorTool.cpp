//===- EmulatorTool.cpp - attune-test-emulator --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-emulator FILE.ll --image=OUT                     writes the emulated image of the device code in FILE.ll
// attune-test-emulator FILE.ll KERNEL GRID BLOCK SHARED ARG…   launches a kernel and prints its buffers
//
// GRID, in blocks, and BLOCK, in threads, are "X", "X,Y" or "X,Y,Z". SHARED is the number of bytes of dynamic shared
// memory. An ARG is a number, "i32=N", "i64=N" or "f32=X", or a buffer of COUNT elements, "f32:COUNT:FILL" or
// "i32:COUNT:FILL". FILL is "count" (elements 0, 1, 2, …), "random" (multiples of 1/8 from -1 to 7/8 for f32, whole
// numbers from -8 to 7 for i32) or a number that all elements get.
//===----------------------------------------------------------------------===//

#include "cuda/Driver.h"
#include "test/Emulator/EmulateDevice.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/SourceMgr.h"

#include <cstring>

using namespace attune;

namespace {

/// An argument of a kernel.
struct Argument {
  bool isBuffer = false, isFloat = false;
  uint64_t value = 0; ///< the bits of the number, or the address of the buffer
  std::vector<uint32_t> contents;
};

[[noreturn]] void stop(const llvm::Twine &message) {
  llvm::errs() << "attune-test-emulator: error: " << message << '\n';
  exit(1);
}

void check(const cuda::Driver &driver, cuda::Code code, const char *what) {
  if (driver.check(code, what) != ATTUNE_OK)
    stop(attune_last_error());
}

uint32_t bits(float value) {
  uint32_t word;
  std::memcpy(&word, &value, 4);
  return word;
}

Argument parseArgument(llvm::StringRef text) {
  Argument argument;
  argument.isFloat = text.starts_with("f32");
  bool isLong = text.starts_with("i64");
  text = text.drop_front(3);
  argument.isBuffer = text.consume_front(":");
  if (!argument.isBuffer && !text.consume_front("="))
    stop("expected '=' or ':' in an argument");
  auto word = [&](double number) {
    return argument.isFloat ? bits(static_cast<float>(number)) : static_cast<uint32_t>(static_cast<int64_t>(number));
  };
  auto [first, fill] = text.split(':');
  double number = std::strtod(first.str().c_str(), nullptr), constant = std::strtod(fill.str().c_str(), nullptr);
  if (!argument.isBuffer) {
    argument.value = isLong ? static_cast<uint64_t>(number) : word(number);
    return argument;
  }
  for (uint32_t i = 0, seed = 1; i < number; ++i) {
    seed = seed * 1664525u + 1013904223u;
    double random = static_cast<double>(seed >> 28) - 8;
    argument.contents.push_back(word(fill == "count" ? i : fill == "random" ? (argument.isFloat ? random / 8 : random) : constant));
  }
  return argument;
}

void parseSize(llvm::StringRef text, unsigned *size) {
  size[0] = size[1] = size[2] = 1;
  for (llvm::StringRef part : llvm::split(text, ','))
    if (part.getAsInteger(10, *size++))
      stop("expected a size, got '" + part + "'");
}

void print(const Argument &argument, size_t number) {
  llvm::outs() << "arg" << number << ':';
  for (uint32_t word : argument.contents) {
    float value;
    std::memcpy(&value, &word, 4);
    if (argument.isFloat)
      llvm::outs() << ' ' << llvm::format("%g", value);
    else
      llvm::outs() << ' ' << static_cast<int32_t>(word);
  }
  llvm::outs() << '\n';
}

/// Launches a kernel of |image| and prints its buffers when it has run. |words| are KERNEL, GRID and so on of the
/// command line. Ends the program with 1 at an error.
void launch(const std::string &image, llvm::ArrayRef<char *> words) {
  const cuda::Driver *driver;
  if (cuda::openDriver(driver) != ATTUNE_OK)
    stop(attune_last_error());
  cuda::Context context;
  cuda::Module module;
  cuda::Function function;
  check(*driver, driver->primaryContextRetain(&context, 0), "opening the GPU");
  check(*driver, driver->contextPush(context), "opening the GPU");
  char log[512] = "";
  int options[] = {cuda::jitErrorLog, cuda::jitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  cuda::Code loaded = driver->moduleLoad(&module, image.data(), 2, options, values);
  check(*driver, loaded, (std::string("loading the image: ") + log).c_str());
  check(*driver, driver->moduleGetFunction(&function, module, words[0]), "finding the kernel");
  unsigned grid[3], block[3], shared = static_cast<unsigned>(std::atoi(words[3]));
  parseSize(words[1], grid);
  parseSize(words[2], block);
  if (shared > 48 << 10)
    check(*driver, driver->functionSetAttribute(function, cuda::maxDynamicSharedBytes, static_cast<int>(shared)), "getting shared memory");
  std::vector<Argument> arguments;
  for (char *word : words.drop_front(4))
    arguments.push_back(parseArgument(word));
  std::vector<void *> pointers;
  for (Argument &argument : arguments) {
    if (argument.isBuffer) {
      cuda::Address address = 0;
      check(*driver, driver->memoryAllocate(&address, argument.contents.size() * 4), "getting memory");
      check(*driver, driver->copyToDevice(address, argument.contents.data(), argument.contents.size() * 4, nullptr), "copying");
      argument.value = address;
    }
    pointers.push_back(&argument.value);
  }
  check(*driver,
        driver->launchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, nullptr, pointers.data(), nullptr),
        "launching");
  for (auto [number, argument] : llvm::enumerate(arguments))
    if (argument.isBuffer)
      check(*driver, driver->copyToHost(argument.contents.data(), argument.value, argument.contents.size() * 4, nullptr), "copying");
  check(*driver, driver->streamSynchronize(nullptr), "running");
  for (auto [number, argument] : llvm::enumerate(arguments))
    if (argument.isBuffer)
      print(argument, number);
}

} // namespace

int main(int count, char **words) {
  if (count < 3)
    stop("expected a file and --image=OUT, or a kernel, its grid, block and shared memory");
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseIRFile(words[1], problem, context);
  if (!module) {
    problem.print("attune-test-emulator", llvm::errs());
    return 1;
  }
  Result<HostMachine> target = HostMachine::create();
  Result<std::string> image = target ? emulateDevice(std::move(module), *target) : Result<std::string>(target.status());
  if (!image)
    stop(image.message());
  llvm::StringRef out = words[2];
  if (!out.consume_front("--image=")) {
    if (count < 6)
      stop("expected a kernel, its grid, block and shared memory");
    launch(*image, llvm::ArrayRef(words + 2, words + count));
    return 0;
  }
  std::error_code error;
  llvm::raw_fd_ostream stream(out, error);
  if (error)
    stop("cannot write '" + out + "'");
  stream << *image;
  return 0;
}
