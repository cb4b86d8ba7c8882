# ===- test_integrations.py - Models inside other packages -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Skipped without PyTorch, which requirements-test.txt does not name: it is large."""

from __future__ import annotations

import numpy as np
import pytest

import attune

torch = pytest.importorskip("torch")

IDS = np.array([[101, 7592, 102, 5], [101, 102, 7, 9]])


def test_module_takes_and_returns_tensors(bert):
    from attune.integrations import TorchModule

    module = TorchModule(bert.model)
    expected = bert.model(input_ids=IDS)
    found = module(input_ids=torch.from_numpy(IDS))
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert isinstance(found[name], torch.Tensor) and found[name].numpy().tobytes() == array.tobytes()
    assert torch.equal(found.last_hidden_state, found["last_hidden_state"])
    inside = torch.nn.Sequential(torch.nn.Identity(), module)
    assert torch.equal(inside(torch.from_numpy(IDS)).last_hidden_state, found.last_hidden_state)
    assert not list(module.parameters()) and "input_ids" in repr(module)


def test_module_refuses_gradients_and_unknown_entries(bert):
    from attune.integrations import TorchModule

    with pytest.raises(attune.InvalidArgumentError, match="no gradients"):
        TorchModule(bert.model)(input_ids=torch.zeros(1, 4, requires_grad=True))
    with pytest.raises(attune.InvalidArgumentError, match="no entry 'nothing'"):
        TorchModule(bert.model, "nothing")
