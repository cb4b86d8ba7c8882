"""Checks the families on standard input: each has classes and keys (standard library only)."""
import json
import sys

families = json.load(sys.stdin)
if len(families) < 40:
    sys.exit(f"expected all families, got {len(families)}")
for family in families:
    if not family["architectures"] or not family["keys"]:
        sys.exit(f"{family['model_type']}: expected classes and keys, got {family['architectures']}, {len(family['keys'])} keys")
