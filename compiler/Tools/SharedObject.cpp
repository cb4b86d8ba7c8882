//===- SharedObject.cpp - The shared object of a compiled model -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/SharedObject.h"

#include "compiler/Support/FileKind.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/Seal.h"
#include "compiler/Tools/ElfExtents.h"

#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>

using namespace attune;

/// Returns the name of an ELF machine, for messages.
static std::string machineName(uint16_t machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "AArch64";
  case EM_RISCV:
    return "RISC-V";
  default:
    return "machine " + std::to_string(machine) + " of ELF";
  }
}

#if defined(__x86_64__)
static constexpr uint16_t ownMachine = EM_X86_64;
#elif defined(__aarch64__)
static constexpr uint16_t ownMachine = EM_AARCH64;
#elif defined(__riscv)
static constexpr uint16_t ownMachine = EM_RISCV;
#else
static constexpr uint16_t ownMachine = EM_NONE;
#endif

/// Checks that |file| is a complete and undamaged ELF file for this machine.
static Status checkKind(const MappedFile &file) {
  const std::string expected = file.path() + ": expected a shared object made by attune compile --emit=shared, got ";
  FileKind kind = identifyBytes(file.data(), file.size(), file.size());
  if (kind == FileKind::Object)
    return Status::error(expected + "an object file, which is for linking into a program");
  if (kind != FileKind::SharedObject)
    return Status::error(expected + describeKind(kind));
  uint16_t machine = 0;
  if (file.size() >= sizeof(Elf64_Ehdr))
    std::memcpy(&machine, file.data() + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
  if (ownMachine != EM_NONE && machine != EM_NONE && machine != ownMachine)
    return Status::error(file.path() + ": expected an object for " + machineName(ownMachine) + ", got one for " + machineName(machine));
  // checkSeal accepts a file without a seal (Seal.h), such as one that is cut short, so its extents are checked as
  // well.
  if (Status status = checkSeal(file); status.failed())
    return status;
  return checkElfExtents(file);
}

Result<SharedObject> SharedObject::load(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  if (Status status = checkKind(*file); status.failed())
    return status;

  // A name without a slash would be searched for in the library path.
  std::string loadPath = path.find('/') == std::string::npos ? "./" + path : path;
  void *handle = ::dlopen(loadPath.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = ::dlerror();
    return Status::error(path + ": cannot load: " + (reason ? reason : "unknown reason"));
  }
  std::shared_ptr<void> library(handle, [](void *opened) { ::dlclose(opened); });
  const void *symbol = ::dlsym(handle, "attune_model");
  if (!symbol)
    return Status::error(path + ": expected the symbol 'attune_model', which is missing (not made by attune compile --emit=shared?)");
  return SharedObject(std::move(library), static_cast<const attune_model_desc *>(symbol));
}

std::string SharedObject::textPath(const std::string &path) { return std::filesystem::path(path).replace_extension("text").string(); }
