/*===- FakeModel.h - A handwritten compiled model ----------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A model as the compiler would emit it, small enough to check by hand. Its entries follow, with the values in
 * parentheses that an input has if a call does not give it.
 *
 * forward: dims batch (unlimited) and length (at most 16)
 *   inputs   input_ids [batch, length] i64, 0 … 99, required
 *            attention_mask (ones) and token_type_ids (zeros), 0 … 1, of the same shape and type
 *            position_ids (0, 1, 2, …), 0 … 15, of the same shape and type
 *            scale [4] f32 (ones), offset [] f32 (zeros)
 *   outputs  hidden [batch, length, 4] f32 = (id * mask + 1000 * type + position / 2) * scale[j] + offset + weights[j]
 *            total [batch] i64 = the sum of id * mask over the row
 * decode: dims batch and past (at most 8)
 *   inputs   token [batch] i64, required; cache_mask [batch, past] f32 (zeros)
 *   outputs  next [batch] i64 = token + 1
 * broken: no tensors; reports failure 7
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_TEST_FAKEMODEL_H
#define ATTUNE_TEST_FAKEMODEL_H

#include "attune/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const attune_model_desc attune_model_fake;

/* Weights are fake_weight(i), i < FAKE_WEIGHTS. */
#define FAKE_WEIGHTS 1000
float fake_weight(int i);
/* Writes the weights file |path|. |edit| changes its header first, unless null. Ends the program after an error. */
void fake_write_weights(const char *path, void (*edit)(attune_weights_header *header));

/* The tensors of a call of forward whose results fake_call_check knows. */
typedef struct fake_call {
  int64_t batch, length;
  int64_t ids_shape[2], hidden_shape[3], total_shape[1];
  int64_t *ids, *total;
  float *hidden;
  attune_tensor inputs[1], outputs[2];
} fake_call;
void fake_call_init(fake_call *call, int64_t batch, int64_t length);
/* Ends the program unless the outputs are right. The call must have been given no input but input_ids. */
void fake_call_check(const fake_call *call);
void fake_call_free(fake_call *call);

/* Writes the weights to |folder|, opens the fake model, and returns a session for batch 8 and length 16 on |threads|
 * threads. Only the session keeps the model open. */
attune_session *fake_session(const char *folder, int64_t threads);

#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_TEST_FAKEMODEL_H */
