/*===- ToyModel.c - A compiled model written by hand --------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The source of a shared object for tests of the tools, with a group of outputs, integer outputs and defaults.
 * `attune-test-io toy` (IO/Toy.cpp) writes its weights and golden cases.
 *
 * forward: dims batch, length (at most 64)
 *   input_ids [batch, length] i64 0 .. 9; attention_mask [batch, length] i64 (ones); scale [] f32 (ones)
 *   hidden_states, a group [3, batch, length, 2] f32: element [l, b, t, j] = (id * mask + l) * scale + weights[j] with
 *     id and mask of [b, t]; weights = 0.25, 0.5
 *   pooled [batch, 2] f32 = hidden_states[2] at the first position of each row
 *   ids [batch, length] i64 = id * mask
 *===-----------------------------------------------------------------------===*/
#include "attune/abi.h"

enum { LAYERS = 3, WIDTH = 2 };

static const attune_dim_desc dims[] = {{"batch", 0}, {"length", 64}};
static const int64_t tokens[] = {-1, -2}, group[] = {LAYERS, -1, -2, WIDTH}, rows[] = {-1, WIDTH};
static const attune_tensor_desc inputs[] = {{"input_ids", ATTUNE_I64, 2, tokens, ATTUNE_FILL_REQUIRED, 0, 10},
                                            {"attention_mask", ATTUNE_I64, 2, tokens, ATTUNE_FILL_ONES, 0, 2},
                                            {"scale", ATTUNE_F32, 0, 0, ATTUNE_FILL_ONES, 0, 0}};
static const attune_tensor_desc outputs[] = {{"hidden_states", ATTUNE_F32, 4, group, 0, 1, 0},
                                             {"pooled", ATTUNE_F32, 2, rows, 0, 0, 0},
                                             {"ids", ATTUNE_I64, 2, tokens, 0, 0, 0}};

static uint64_t workspace_bytes(const int64_t *d, int64_t workers) { return (uint64_t)(64 * d[0] * d[1] * workers); }
static uint64_t flops(const int64_t *d, int64_t workers) { return (void)workers, (uint64_t)(1000 * d[0] * d[1]); }

static int32_t forward(const attune_host *host, const attune_call *call) {
  int64_t batch = call->dims[0], length = call->dims[1], count = batch * length;
  const int64_t *ids = call->inputs[0], *mask = call->inputs[1];
  const float scale = *(const float *)call->inputs[2], *weights = call->weights;
  float *hidden = call->outputs[0], *pooled = call->outputs[1];
  int64_t *masked = call->outputs[2];
  (void)host;
  for (int64_t l = 0; l < LAYERS; ++l)
    for (int64_t t = 0; t < count; ++t)
      for (int64_t j = 0; j < WIDTH; ++j)
        hidden[(l * count + t) * WIDTH + j] = (float)(ids[t] * mask[t] + l) * scale + weights[j];
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t j = 0; j < WIDTH; ++j)
      pooled[b * WIDTH + j] = hidden[(2 * count + b * length) * WIDTH + j];
  for (int64_t t = 0; t < count; ++t)
    masked[t] = ids[t] * mask[t];
  return 0;
}

static const attune_entry_desc entries[] = {
    {"forward", 2, 3, 3, 0, dims, inputs, outputs, forward, workspace_bytes, flops, NULL, NULL, NULL}};
static const attune_kernel_desc kernels[] = {{"add_bias", "mlir", "x + bias", 0}};

const attune_model_desc attune_model = {ATTUNE_MODEL_MAGIC,
                                        ATTUNE_ABI_VERSION,
                                        sizeof(attune_model_desc),
                                        "toy",
                                        "toy",
                                        "ToyModel",
                                        "x86_64-pc-linux-gnu",
                                        "generic",
                                        "",
                                        "--cpu=generic",
                                        {'t', 'o', 'y'},
                                        8,
                                        0xbafc996d15dbad09ull /* checksum of the manifest in IO/Toy.cpp */,
                                        1,
                                        1,
                                        entries,
                                        kernels,
                                        NULL};
