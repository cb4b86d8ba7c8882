//===- Artifact.cpp - A compiled model opened by a tool -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Artifact.h"

#include "compiler/Tools/SharedObject.h"

#include <chrono>
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

Result<Artifact> Artifact::openShared(const std::string &path, const std::string &weights, const std::string &label) {
  Clock::time_point start = Clock::now();
  Result<SharedObject> object = SharedObject::load(path);
  if (!object)
    return object.status();
  Result<Artifact> artifact = openDescriptor(object->descriptor(), label.empty() ? path : label, weights, object->handle());
  if (artifact) {
    artifact->milliseconds = millisecondsSince(start);
    artifact->textPath = SharedObject::textPath(path);
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
