//===- Artefact.cpp - A compiled model opened by a tool --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dlopen and attune_model_open behind one call.
//===----------------------------------------------------------------------===//
#include "runtime/verbs/Artefact.h"

#include "runtime/io/MappedFile.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>

using namespace attune;

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

Result<Artefact> Artefact::openDescriptor(const attune_model_desc *desc, const std::string &label, const std::string &weights,
                                          std::shared_ptr<void> keepAlive) {
  Clock::time_point start = Clock::now();
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = weights.empty() ? nullptr : weights.c_str();
  attune_model *model = nullptr;
  if (attune_model_open(desc, &options, &model) != ATTUNE_OK)
    return Status::error(label + ": " + attune_last_error());
  Artefact artefact;
  artefact.name = label;
  artefact.code = std::move(keepAlive);
  artefact.opened.reset(model, attune_model_close);
  artefact.milliseconds = millisecondsSince(start);
  return artefact;
}

Result<Artefact> Artefact::openShared(const std::string &path, const std::string &weights) {
  // A look at the file first: dlopen's own messages for a text file or a folder are obscure.
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  if (file->size() < 4 || std::memcmp(file->data(), "\177ELF", 4) != 0)
    return Status::error(path + ": expected a shared object made by attune compile --emit=shared, got a file of another kind");

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
  Result<Artefact> artefact = openDescriptor(static_cast<const attune_model_desc *>(symbol), path, weights, std::move(library));
  if (artefact)
    artefact->milliseconds = millisecondsSince(start);
  return artefact;
}

Result<const attune_entry_desc *> Artefact::entry(const std::string &entryName) const {
  if (const attune_entry_desc *found = attune_model_entry(model(), entryName.empty() ? nullptr : entryName.c_str()))
    return found;
  std::string known;
  for (uint32_t i = 0; i < desc().num_entries; ++i)
    known += (i ? ", " : "") + std::string(desc().entries[i].name);
  return Status::error(name + ": no such entry '" + entryName + "'; it has: " + known);
}
