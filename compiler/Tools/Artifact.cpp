//===- Artifact.cpp - A compiled model opened by a tool -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads an object by dlopen and attune_model_open.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Artifact.h"

#include "compiler/Support/FileKind.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/Seal.h"
#include "compiler/Tools/ElfExtents.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>

using namespace attune;

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

Result<Artifact> Artifact::openDescriptor(const attune_model_desc *desc, const std::string &label, const std::string &weights,
                                          std::shared_ptr<void> keepAlive) {
  Clock::time_point start = Clock::now();
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = weights.empty() ? nullptr : weights.c_str();
  attune_model *model = nullptr;
  if (attune_model_open(desc, &options, &model) != ATTUNE_OK)
    return Status::error(label + ": " + attune_last_error());
  Artifact artifact;
  artifact.name = label;
  artifact.code = std::move(keepAlive);
  artifact.opened.reset(model, attune_model_close);
  artifact.milliseconds = millisecondsSince(start);
  return artifact;
}

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

/// Checks that |file| is a complete and undamaged ELF file for this machine. dlopen's own messages for other files are obscure, and
/// of a truncated file it would map pages that do not exist.
static Status checkKind(const MappedFile &file) {
  const std::string expected = file.path() + ": expected a shared object made by attune compile --emit=shared, got ";
  FileKind kind = identifyBytes(file.data(), file.size(), file.size());
  if (kind == FileKind::Object)
    return Status::error(expected + "an object file, which is for linking into a program");
  if (kind != FileKind::SharedObject)
    return Status::error(expected + describeKind(kind));
  // A file that is cut short has no seal.
  if (Status status = checkSeal(file); status.failed())
    return status;
  Elf64_Ehdr header;
  if (Status status = checkElfExtents(file); status.failed())
    return status;
  std::memcpy(&header, file.data(), sizeof(header));
  if (ownMachine != EM_NONE && header.e_machine != ownMachine)
    return Status::error(file.path() + ": expected an object for " + machineName(ownMachine) + ", got one for " +
                         machineName(header.e_machine));
  return {};
}

Result<Artifact> Artifact::openShared(const std::string &path, const std::string &weights, const std::string &label) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  if (Status status = checkKind(*file); status.failed())
    return status;

  Clock::time_point start = Clock::now();
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
  Result<Artifact> artifact =
      openDescriptor(static_cast<const attune_model_desc *>(symbol), label.empty() ? path : label, weights, std::move(library));
  if (artifact) {
    artifact->milliseconds = millisecondsSince(start);
    artifact->textPath = std::filesystem::path(path).replace_extension("text").string();
  }
  return artifact;
}

Result<std::shared_ptr<attune_text>> Artifact::openText() const {
  std::error_code ignored;
  if (textPath.empty() || !std::filesystem::exists(textPath, ignored)) {
    // The path in the cache would say nothing to the user.
    bool isBeside = !textPath.empty() && std::filesystem::path(name).replace_extension("text") == textPath;
    return Status::error(name + ": expected a model with a tokenizer" +
                         (isBeside ? ", '" + textPath + "', which is missing" : ", got none"));
  }
  attune_text *text;
  if (attune_text_open(textPath.c_str(), &text) != ATTUNE_OK)
    return Status::error(attune_last_error());
  return std::shared_ptr<attune_text>(text, attune_text_close);
}

Result<const attune_entry_desc *> Artifact::entry(const std::string &entryName) const {
  if (const attune_entry_desc *found = attune_model_entry(model(), entryName.empty() ? nullptr : entryName.c_str()))
    return found;
  std::string known;
  for (uint32_t i = 0; i < desc().num_entries; ++i)
    known += (i ? ", " : "") + std::string(desc().entries[i].name);
  return Status::error(name + ": no such entry '" + entryName + "'; it has: " + known);
}
