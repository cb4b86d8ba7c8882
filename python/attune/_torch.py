# ===- _torch.py - A module of PyTorch -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module of PyTorch around a model, for attune.integrations."""

from __future__ import annotations

from typing import Any

import torch

from attune.errors import InvalidArgumentError
from attune.model import Model, Outputs


class TorchModule(torch.nn.Module):
    """A model as a `torch.nn.Module` for inference: it takes tensors, without a copy if they are dense, and returns
    tensors, without a copy. Tensors are on the CPU and have no gradient; the model has no parameters of PyTorch.

        encoder = TorchModule(attune.Model("bert"))
        hidden = encoder(input_ids=torch.tensor([[101, 7592, 102]])).last_hidden_state
    """

    def __init__(self, model: Model, entry: str | None = None) -> None:
        super().__init__()
        self.model = model
        found = next(iter(model.entries)) if entry is None else entry
        if found not in model.entries:
            raise InvalidArgumentError(
                f"model '{model.name}' has no entry '{found}', its entries: {', '.join(model.entries)}"
            )
        self.entry = model.entries[found]

    def forward(self, *args: Any, **inputs: Any) -> Outputs:
        """Runs the entry; arguments and outputs are those of Model.__call__, with tensors for arrays."""
        for value in (*args, *inputs.values()):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                raise InvalidArgumentError("a compiled model has no gradients: give tensors without, or detach() them")
        outputs = self.model(*args, entry=self.entry.name, **inputs)
        for name, array in outputs.items():
            outputs[name] = torch.from_numpy(array)
        return outputs

    def extra_repr(self) -> str:
        """The signature, for print(module)."""
        return str(self.entry)
