# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of families, by name."""

from . import decoders, encoder_decoders, encoders, experts, old

FAMILIES = {family.name: family for table in (encoders, decoders, experts, encoder_decoders, old) for family in table.FAMILIES}
