# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of families, by name."""

from . import bert_kin, decoders, encoder_decoders, encoders, experts, llama_kin, old

TABLES = encoders, bert_kin, decoders, llama_kin, experts, encoder_decoders, old
FAMILIES = {family.name: family for table in TABLES for family in table.FAMILIES}
