# ===- raw_inputs.py - Ragged inputs as plain elements ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# raw_inputs.py DIR BATCH LENGTH VOCABULARY: writes input_ids.raw and attention_mask.raw, i64, for cross-run.

import os
import struct
import sys

import models

folder, batch, length, vocabulary = sys.argv[1], *map(int, sys.argv[2:])
rng = models.generator("raw")
for name, (_, _, values) in (("input_ids", models.random_ids(rng, vocabulary, batch, length)),
                             ("attention_mask", models.token_mask(rng, "right", batch, length))):
    with open(os.path.join(folder, name + ".raw"), "wb") as f:
        f.write(struct.pack(f"<{len(values)}q", *values))
