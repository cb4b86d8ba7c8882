/*===- header.c - A generated header against the object it describes ---------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===-----------------------------------------------------------------------===*/
#include "bert.h"

#include <stdio.h>
#include <string.h>

int main(void) {
  const attune_entry_desc *entry = &attune_model_bert.entries[0];
  char id[33];
  for (int i = 0; i < 16; ++i)
    sprintf(id + 2 * i, "%02x", attune_model_bert.build_id[i]);
  if (strcmp(id, BERT_BUILD_ID) != 0 || attune_model_bert.weights_bytes != BERT_WEIGHTS_BYTES)
    return printf("build id or weights differ\n"), 1;
  if (entry->num_inputs != bert_forward_input_count || entry->num_outputs != bert_forward_output_count ||
      strcmp(entry->inputs[bert_forward_input_attention_mask].name, "attention_mask") != 0)
    return printf("inputs or outputs differ\n"), 1;
  for (int64_t batch = 1; batch < 4; ++batch)
    for (int64_t length = 1; length < 40; ++length)
      for (int64_t workers = 1; workers < 4; ++workers) {
        int64_t dims[] = {batch, length};
        if (entry->workspace_bytes(dims, workers) != bert_workspace_bytes(batch, length, workers))
          return printf("workspace of %d x %d differs\n", (int)batch, (int)length), 1;
      }
  return 0;
}
