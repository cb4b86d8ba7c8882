//===- Model.cpp - Opening models -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "CpuFeatures.h"
#include "Descriptor.h"
#include "Error.h"
#include "Ranks.h"

#include <cstdlib>
#include <cstring>
#include <new>

using namespace attune;

attune_status attune::copyOptions(void *out, size_t size, const void *options, const char *name) {
  if (!options)
    return ATTUNE_OK;
  size_t given;
  memcpy(&given, options, sizeof(given));
  if (given < sizeof(given) || given > size)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s.struct_bytes is %zu, at most %zu expected: call %s_init first", name, given, size, name);
  memcpy(out, options, given);
  return ATTUNE_OK;
}

void attune_model_options_init(attune_model_options *options) {
  if (options)
    *options = attune_model_options{sizeof(attune_model_options), nullptr, 0, 0, nullptr};
}

attune_status attune_model_open(const attune_model_desc *desc, const attune_model_options *options, attune_model **out_model) {
  if (!out_model)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_model is null");
  *out_model = nullptr;
  attune_model_options own;
  attune_model_options_init(&own);
  ATTUNE_TRY(copyOptions(&own, sizeof(own), options, "attune_model_options"));
  ATTUNE_TRY(checkDescriptor(desc));
  ATTUNE_TRY(checkCpuFeatures(*desc));
  attune_ranks ranks;
  ATTUNE_TRY(checkRanks(*desc, own.ranks, ranks));
  const attune_device_functions *device;
  ATTUNE_TRY(findDevice(*desc, device));
  void *memory = malloc(sizeof(attune_model));
  if (!memory)
    return fail(ATTUNE_OUT_OF_MEMORY, "no memory for model '%s'", desc->name);
  attune_model *model = new (memory) attune_model;
  model->desc = desc;
  model->device = device;
  model->ordinal = own.gpu;
  model->ranks = ranks;
  model->references.store(1, std::memory_order_relaxed);
  attune_status status = model->weights.open(*desc, ranks.rank, own.weights_path);
  if (status == ATTUNE_OK && own.verify_contents)
    status = model->weights.verify();
  if (status != ATTUNE_OK) {
    release(model);
    return status;
  }
  *out_model = model;
  return ATTUNE_OK;
}

void attune::release(attune_model *model) {
  if (model->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (DeviceModel *onDevice = model->onDevice.load(std::memory_order_relaxed))
    model->device->unload(onDevice);
  model->weights.close();
  free(model);
}

attune_status attune::loadOnDevice(attune_model &model) {
  if (!model.device)
    return ATTUNE_OK;
  pthread_mutex_lock(&model.loading);
  attune_status status = ATTUNE_OK;
  if (!model.onDevice.load(std::memory_order_relaxed)) {
    DeviceModel *loaded;
    status = model.device->load(*model.desc, model.weights.data(), model.ordinal, loaded);
    model.onDevice.store(loaded, std::memory_order_release);
  }
  pthread_mutex_unlock(&model.loading);
  return status;
}

void attune_model_close(attune_model *model) {
  if (model)
    release(model);
}

const attune_model_desc *attune_model_descriptor(const attune_model *model) { return model ? model->desc : nullptr; }

const char *attune_model_weights_path(const attune_model *model) { return model ? model->weights.path : nullptr; }

const void *attune_model_weights(const attune_model *model) { return model ? model->weights.data() : nullptr; }

const char *attune_model_manifest(const attune_model *model, size_t *out_bytes) {
  if (out_bytes)
    *out_bytes = model ? model->weights.header.manifest_bytes : 0;
  return model ? model->weights.manifest() : nullptr;
}

attune_status attune_model_verify(const attune_model *model) {
  if (!model)
    return fail(ATTUNE_INVALID_ARGUMENT, "the model is null");
  return model->weights.verify();
}

int64_t attune_model_num_labels(const attune_model *model) { return model ? model->desc->num_labels : 0; }

const char *attune_model_label(const attune_model *model, int64_t index) {
  return index >= 0 && index < attune_model_num_labels(model) ? model->desc->labels[index] : nullptr;
}

const attune_entry_desc *attune_model_entry(const attune_model *model, const char *name) {
  for (uint32_t i = 0; model && i < model->desc->num_entries; ++i)
    if (!name || strcmp(model->desc->entries[i].name, name) == 0)
      return &model->desc->entries[i];
  return nullptr;
}
