//===- Artifact.cpp - A compiled model opened by a tool -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Artifact.h"

#include "compiler/Support/InputFiles.h"
#include "compiler/Tools/SharedObject.h"
#include "compiler/Tools/ToolRanks.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

using namespace attune;

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

/// Returns the rank of this process, the number of ranks and the functions that connect the ranks, for the model
/// |desc|. If several ranks were started, connects this process with the others; fails if the ranks do not agree on the
/// model. Fails also if the model is divided among ranks and none were started. A model that is only inspected is not
/// connected: its all_gather fails. |label| names the model in messages.
static Result<attune_ranks> ranksFor(const attune_model_desc &desc, const std::string &label) {
  attune_ranks alone = {0, 1, 1, nullptr, nullptr};
  // attune_model_open reports a descriptor of another version.
  if (desc.magic != ATTUNE_MODEL_MAGIC || desc.abi_version != ATTUNE_ABI_VERSION)
    return alone;
  if (ranks::isInspecting()) {
    alone.count = std::max<int64_t>(desc.num_ranks, 1);
    alone.all_gather = [](void *, const attune_gather *) -> int32_t { return 1; };
    return alone;
  }
  if (!ranks::areStarted()) {
    if (desc.num_ranks <= 1)
      return alone;
    std::string count = std::to_string(desc.num_ranks);
    return Status::error(label + ": the model is divided among " + count + " ranks, expected mpirun -n " + count + " attune-run ...");
  }
  if (Status status = ranks::agreeOnModel(desc); status.failed())
    return status;
  Result<attune_transport *> transport = ranks::join();
  return transport ? Result<attune_ranks>((*transport)->ranks) : Result<attune_ranks>(transport.status());
}

Result<Artifact> Artifact::openDescriptor(const attune_model_desc *desc, const std::string &label, const std::string &weights,
                                          std::shared_ptr<void> keepAlive) {
  Clock::time_point start = Clock::now();
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = weights.empty() ? nullptr : weights.c_str();
  Result<attune_ranks> ranks = ranksFor(*desc, label);
  if (!ranks)
    return ranks.status();
  options.ranks = &*ranks;
  attune_model *model = nullptr;
  Status opened;
  if (attune_model_open(desc, &options, &model) != ATTUNE_OK)
    opened = Status::error(label + ": " + attune_last_error());
  if (Status status = ranks::agree(opened); status.failed()) {
    attune_model_close(model);
    return status;
  }
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
  if (Status status = ranks::agree(object.status()); status.failed())
    return status;
  Result<Artifact> artifact = openDescriptor(object->descriptor(), label.empty() ? path : label, weights, object->handle());
  if (artifact) {
    artifact->milliseconds = millisecondsSince(start);
    artifact->textPath = SharedObject::textPath(path);
  }
  return artifact;
}

bool Artifact::hasText() const {
  std::error_code ignored;
  return !textPath.empty() && std::filesystem::exists(textPath, ignored);
}

Status Artifact::verify() const {
  if (attune_model_verify(model()) != ATTUNE_OK)
    return Status::error(name + ": " + attune_last_error());
  if (!hasText())
    return {};
  Result<std::shared_ptr<attune_text>> text = openText();
  if (!text)
    return text.status();
  return attune_text_verify(text->get()) == ATTUNE_OK ? Status() : Status::error(attune_last_error());
}

Result<std::shared_ptr<attune_text>> Artifact::openText() const {
  if (!hasText()) {
    // Names the missing file only if it belongs beside the path that the user gave: a path in the compile cache would
    // mean nothing to the user.
    bool isBeside = !textPath.empty() && std::filesystem::path(name).replace_extension("text") == textPath;
    return Status::error(name + ": expected a model with a tokenizer" +
                         (isBeside ? ", '" + textPath + "', which is missing" : ", got none"));
  }
  if (Status status = declareInput(textPath); status.failed())
    return status;
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
