//===- LoraAdapter.h - A LoRA adapter as PEFT writes it ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_LORAADAPTER_H
#define ATTUNE_IMPORT_LORAADAPTER_H

#include "compiler/Support/Safetensors.h"

#include <map>
#include <string>

namespace attune {

/// The change of one tensor of the base model. Views point into the adapter's file.
struct AdapterPart {
  /// The two factors, A in |a| and B in |b|: A `[rank, in]` and B `[out, rank]` of a projection, A `[rank, rows]` and B
  /// `[features, rank]` of an embedding. A change of a bias has B alone.
  const TensorView *a = nullptr, *b = nullptr;
  bool embedding = false;
  /// The number by which the product B A, or B alone, is multiplied.
  double scale = 1;
  /// A tensor that replaces that of the base model; null if there is none.
  const TensorView *replacement = nullptr;
};

/// An open adapter folder: adapter_config.json and adapter_model.safetensors.
class LoraAdapter {
public:
  static constexpr const char *configName = "adapter_config.json";
  static constexpr const char *tensorsName = "adapter_model.safetensors";

  /// Opens |folder|. Fails if the adapter is not of the type LORA, has a setting or a tensor that is not implemented,
  /// lacks one of two factors, has a factor A whose rank is not that of adapter_config.json, or has no tensors. Does
  /// not check that the parts fit a model.
  static Result<LoraAdapter> open(const std::string &folder);

  /// Returns the path of the file with the tensors, for messages.
  const std::string &file() const { return tensors.path(); }
  /// Returns the name of the base model in the adapter; "" if it has none.
  const std::string &baseModel() const { return base; }
  /// Returns the parts by the name of the tensor of the base model, as "model.layers.0.self_attn.q_proj.weight".
  const std::map<std::string, AdapterPart> &parts() const { return byName; }

private:
  explicit LoraAdapter(SafetensorsFile tensors) : tensors(std::move(tensors)) {}
  Status addTensor(const TensorView &view);

  SafetensorsFile tensors;
  std::string base;
  std::map<std::string, AdapterPart> byName;
};

} // namespace attune

#endif // ATTUNE_IMPORT_LORAADAPTER_H
