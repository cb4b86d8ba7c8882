//===- CacheKey.cpp - Names of compiled models in the cache ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CacheKey.h"
#include "compiler/Driver/CompileInputs.h"
#include "compiler/Support/CompilerFile.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <link.h>
#include <sys/stat.h>

using namespace attune;

/// The number of bytes at the beginning of a file that are hashed.
static constexpr uint64_t kHashedBytes = uint64_t(1) << 20;

std::string attune::hashText(llvm::StringRef text) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return llvm::utohexstr(hash.high64, true, 16) + llvm::utohexstr(hash.low64, true, 16);
}

/// Returns a text that changes when the file at |path| changes; for a symbolic link, when its target changes.
static std::string describeFile(const std::string &path) {
  std::string name = llvm::sys::path::filename(path).str();
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return name + " absent\n";
  uint64_t size = info.st_size, hashed = std::min(size, kHashedBytes);
  std::string text = name + " " + std::to_string(size);
  if (auto buffer = llvm::MemoryBuffer::getFileSlice(path, hashed, 0))
    text += " " + hashText((*buffer)->getBuffer());
  auto addTime = [&](const timespec &time) { text += " " + std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec); };
  if (hashed < size) {
    addTime(info.st_mtim);
    // A program can set the time of the last change of content to an earlier one, but not the time of the last change
    // of status.
    addTime(info.st_ctim);
    text += " " + std::to_string(info.st_ino);
  }
  return text + "\n";
}

static std::string describeFiles(const std::vector<std::string> &paths) {
  std::string text;
  for (const std::string &path : paths)
    text += describeFile(path);
  return text;
}

/// Returns a text that describes the program or library at |path|: its build id, a hash of its content that the linker
/// wrote and that copies keep, or, if it has none, the result of describeFile.
static std::string describeProgram(const std::string &path) {
  if (llvm::Expected<llvm::object::OwningBinary<llvm::object::ObjectFile>> file = llvm::object::ObjectFile::createObjectFile(path)) {
    if (llvm::object::BuildIDRef id = llvm::object::getBuildID(file->getBinary()); !id.empty())
      return "build " + llvm::toHex(id, true) + "\n";
  } else {
    llvm::consumeError(file.takeError());
  }
  return describeFile(path);
}

/// Returns the path of the shared library that has the code at |address|, "" for the executable.
static std::string findLibrary(uintptr_t address) {
  std::pair<uintptr_t, std::string> search = {address, ""};
  auto visit = [](dl_phdr_info *info, size_t, void *data) {
    auto &[wanted, path] = *static_cast<std::pair<uintptr_t, std::string> *>(data);
    for (const ElfW(Phdr) &part : llvm::ArrayRef(info->dlpi_phdr, info->dlpi_phnum))
      if (part.p_type == PT_LOAD && wanted - (info->dlpi_addr + part.p_vaddr) < part.p_memsz) {
        path = info->dlpi_name;
        return 1;
      }
    return 0;
  };
  dl_iterate_phdr(visit, &search);
  return search.second;
}

/// Returns a text that describes the compiler itself, since another build of the compiler or of LLVM may generate other
/// code.
static std::string describeCompiler() {
  std::vector<std::string> files = {compilerFile()};
  // Finds the shared libraries of MLIR and LLVM by the addresses of functions that the compiler calls: a process that
  // uses the compiler as a library may have loaded another LLVM, too.
  for (auto address : {reinterpret_cast<uintptr_t>(&mlir::registerPassManagerCLOptions), reinterpret_cast<uintptr_t>(&llvm::xxh3_128bits)})
    if (std::string library = findLibrary(address); !library.empty())
      files.push_back(std::move(library));
  std::string text = std::string(ATTUNE_VERSION) + "\n";
  for (const std::string &file : files)
    text += describeProgram(file);
  return text;
}

CacheKey attune::computeCacheKey(const CompileOptions &options, const std::string &object, const HostMachine &host, const Target &target) {
  ModelFiles files = listInputFiles(options);
  // The scales of adapters change the values of tensors, as the files do.
  std::string scales;
  for (const AdapterRequest &adapter : options.adapters)
    scales += "adapter " + Json(adapter.scale).dump() + "\n";

  for (std::string &program : target.programs())
    files.settings.push_back(std::move(program));

  CacheKey key;
  static const std::string compiler = describeCompiler();
  const std::string settings = "settings\n" + describeFiles(files.settings), flags = formatFlags(options, target) + "\n";
  key.tensors = compiler + describeFiles(files.tensors) + scales;
  // A calibration executes the model: tokenizer, configuration, entries and limits decide the inputs of projections.
  if (!options.calibrate.empty())
    key.tensors += settings + flags;
  // Without --cpu the CPU is that of this machine. Machines may share a home folder, so the key has the actual CPU.
  key.entry = hashText(key.tensors + settings + object + "\n" + flags + options.name + "\n" + host.triple() + " " + host.cpu() + " " +
                       host.features());
  return key;
}
