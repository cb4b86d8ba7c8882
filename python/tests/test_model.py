# ===- test_model.py - Calls of models -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import attune
from conftest import run_attune, run_threads


def read_safetensors(path):
    """Returns the tensors of a file as arrays."""
    import json

    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "I64": np.int64}
    return {
        name: np.frombuffer(
            data[8 + size :], types[one["dtype"]], count=int(np.prod(one["shape"])), offset=one["data_offsets"][0]
        ).reshape(one["shape"])
        for name, one in header.items()
    }


IDS = np.array([[101, 7592, 102, 5], [101, 102, 0, 0]])
MASK = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])


def test_same_bits_as_command_line(bert, tmp_path):
    out = tmp_path / "out.safetensors"
    flags = [f"--ids={','.join(map(str, row))}" for row in IDS] + [
        f"--value=attention_mask={','.join(map(str, MASK.ravel()))}"
    ]
    run_attune("run", bert.object, *flags, f"--output={out}", "--threads=1")
    expected = read_safetensors(out)
    found = bert.model(input_ids=IDS, attention_mask=MASK)
    assert list(found) == list(expected) == ["last_hidden_state", "pooler_output"]
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].tobytes() == array.tobytes()


def test_forms_of_inputs_give_the_same(bert):
    expected = bert.model(input_ids=IDS).last_hidden_state
    wide = np.zeros((2, 8), np.int64)
    wide[:, ::2] = IDS
    fortran = np.asfortranarray(IDS)
    unaligned = np.frombuffer(b"\0" + IDS.tobytes(), np.uint8)[1:].view(np.int64).reshape(IDS.shape)
    constant = IDS.copy()
    constant.flags.writeable = False

    class Dlpack:
        """An array that has nothing but DLPack."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **arguments):
            return self.array.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    for form in (
        IDS.tolist(),
        IDS.astype(np.int32),
        wide[:, ::2],
        fortran,
        unaligned,
        constant,
        memoryview(IDS),
        Dlpack(IDS),
        Dlpack(wide[:, ::2]),
        tuple(map(tuple, IDS.tolist())),
    ):
        assert bert.model(form).last_hidden_state.tobytes() == expected.tobytes(), type(form)
    # None is left out, as an optional argument.
    assert bert.model(input_ids=IDS, attention_mask=None).last_hidden_state.tobytes() == expected.tobytes()


def test_exceptions_of_arrays_become_errors(bert):
    class Failing:
        def __init__(self, error):
            self.error = error

        def __dlpack__(self, **arguments):
            raise self.error

        def __dlpack_device__(self):
            return 1, 0

    class Speechless(Exception):
        def __str__(self):
            raise KeyError("no text")

    for error, text in (
        (ValueError("a\udc80b\nc"), r"input 'input_ids': a\?b$"),
        (Speechless(), "input 'input_ids': an exception of the class Speechless$"),
    ):
        with pytest.raises(attune.InvalidArgumentError, match=text):
            bert.model(Failing(error))


def test_positional_input_is_that_of_the_entry(toy, tmp_path):
    source = toy.path
    with open(source) as file:
        text = file.read()
    begin = text.index("func.func")
    other = text[begin:].replace("@forward", "@other").replace('"forward"', '"other"').replace('"x"', '"z"')
    (tmp_path / "two.mlir").write_text(text + other)
    model = attune.Model(
        tmp_path / "two.mlir", weights=os.path.splitext(source)[0] + ".safetensors", threads=1, progress=False
    )
    x = np.arange(8, dtype=np.float32)[None]
    for call in (lambda: model(x), lambda: model(x, entry="forward"), lambda: model(x, entry="other")):
        assert call().y.tobytes() == x.tobytes()
    with pytest.raises(attune.InvalidArgumentError, match="one positional argument, the input 'z'"):
        model(x, entry="other", z=x)
    with pytest.raises(attune.InvalidArgumentError, match="no entry 'none', its entries: forward, other"):
        model(x, entry="none")


def test_outputs_of_the_caller_are_filled(bert):
    expected = bert.model(IDS)
    pooled = np.full((2, 128), 7, np.float32)
    found = bert.model(IDS, out={"pooler_output": pooled})
    assert found.pooler_output is pooled and pooled.tobytes() == expected.pooler_output.tobytes()
    assert found.last_hidden_state.tobytes() == expected.last_hidden_state.tobytes()
    with pytest.raises(
        attune.InvalidArgumentError, match=r"output 'pooler_output' has shape \[1, 5\], expected \[batch, 128\]"
    ):
        bert.model(IDS, out={"pooler_output": np.zeros((1, 5), np.float32)})
    with pytest.raises(attune.InvalidArgumentError, match="not contiguous"):
        bert.model(IDS, out={"pooler_output": np.zeros((128, 2), np.float32).T})
    constant = np.zeros((2, 128), np.float32)
    constant.flags.writeable = False
    with pytest.raises(attune.InvalidArgumentError, match="output 'pooler_output': .*read-only"):
        bert.model(IDS, out={"pooler_output": constant})


def test_facts(bert):
    model = bert.model
    assert model.architecture == "BertModel" and model.family == "bert" and model.device == "cpu"
    entry = model.entries["forward"]
    assert entry.inputs[0] == ("input_ids", "i64", ("batch", "length"), "required", False)
    assert entry.outputs[1].shape == ("batch", 128) and entry.limits == {"batch": 0, "length": 512}
    assert "last_hidden_state: f32[batch, length, 128]" in repr(model) and "length <= 512" in repr(model)
    manifest = model.manifest()
    assert model.weights_bytes == manifest["data_bytes"] < os.path.getsize(model.weights_path)
    assert 0 < sum(one["bytes"] for one in manifest["tensors"]) <= model.weights_bytes
    assert model.kernels and all(kernel.backend == "mlir" for kernel in model.kernels)
    assert len(model.build_id) == 32
    model.verify()
    assert model.memory_bytes(batch=1, length=8) < model.memory_bytes(batch=8, length=512)


def test_session(bert, chat):
    with bert.model.session(batch=2, length=8, threads=1) as session:
        assert session.num_threads == 1 and session.num_slots == 0
        assert session.run(input_ids=IDS).pooler_output.tobytes() == bert.model(IDS).pooler_output.tobytes()
        with pytest.raises(attune.LimitExceededError, match="length is 9, the limit of the session is 8"):
            session.run(input_ids=np.ones((1, 9), np.int64))
    with pytest.raises(attune.InvalidArgumentError, match="the session is closed"):
        session.run(input_ids=IDS)

    ids = np.array([[5, 6, 7, 8, 9]])
    expected = chat.model(input_ids=ids).logits
    with chat.model.session(batch=2, length=8, past=16) as session:
        session.run("prefill", input_ids=ids[:, :3])
        assert session.slot_length(0) == 3
        keys = session.read_cache("past_key_values.0.0", [0], 3)
        values = {
            f"past_key_values.{layer}.{k}": session.read_cache(f"past_key_values.{layer}.{k}", [0], 3)
            for layer in range(2)
            for k in (0, 1)
        }
        assert keys.shape[2] == 3
        logits = session.run("extend", input_ids=ids[:, 3:]).logits
        assert logits.tobytes() == expected[:, 3:].tobytes()
        session.write_cache(values, [1])
        logits = session.run("extend", input_ids=ids[:, 3:], slots=[1]).logits
        assert logits.tobytes() == expected[:, 3:].tobytes()
        session.truncate_slot(0, 3)
        session.copy_slot(0, 1)
        assert session.slot_length(1) == 3
        with pytest.raises(attune.InvalidArgumentError, match="no slot 7"):
            session.slot_length(7)
        with pytest.raises(attune.InvalidArgumentError, match="no cache 'x'"):
            session.read_cache("x", [0], 1)
        with pytest.raises(attune.InvalidArgumentError, match="has 3 tokens"):
            session.read_cache("past_key_values.0.0", [0], 4)
        with pytest.raises(attune.InvalidArgumentError, match="no slot 9"):
            session.write_cache(values, [9])
    with pytest.raises(attune.InvalidArgumentError, match="uses the caches of a session"):
        chat.model(ids, entry="prefill")


def test_groups_of_outputs(bert):
    model = attune.Model(bert.path, outputs=["hidden_states"], progress=False)
    outputs = model(IDS)
    assert outputs.hidden_states.shape[1:] == (2, 4, 128)
    assert np.shares_memory(outputs["hidden_states.1"], outputs.hidden_states)
    with pytest.raises(KeyError):
        outputs["hidden_states.99"]
    with pytest.raises(AttributeError, match="no output 'logits', the outputs: hidden_states"):
        outputs.logits


def test_threads_share_a_model(bert):
    rows = [np.random.default_rng(i).integers(0, 1000, (1 + i % 3, 3 + i)) for i in range(12)]
    expected = [bert.model(row).last_hidden_state.tobytes() for row in rows]
    wrong = []

    def work(first):
        for i in range(40):
            n = (first * 5 + i) % len(rows)
            if bert.model(rows[n]).last_hidden_state.tobytes() != expected[n]:
                wrong.append(n)

    run_threads(work, 6)
    assert not wrong


def test_a_busy_session_says_so(bert):
    session = bert.model.session(batch=16, length=256, threads=1)
    ids = np.ones((16, 256), np.int64)
    found = []

    def work(_):
        for _ in range(20):
            try:
                session.run(input_ids=ids)
            except attune.BusyError as error:
                found.append(error)

    run_threads(work, 4)
    assert found and all("another call" in str(error) for error in found)


def test_other_threads_run_during_a_call(bert):
    ids = np.ones((32, 512), np.int64)
    steps, ended = 0, threading.Event()

    def work():
        bert.model(ids)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not ended.is_set():
        steps += 1
    thread.join()
    assert steps > 1000


def test_fork(bert):
    program = f"""
import os, attune, numpy as np
model = attune.Model({str(bert.object)!r}, threads=2)
session = model.session(batch=1, length=4)
ids = np.array([[101, 102]])
expected = model(ids).pooler_output.tobytes()
child = os.fork()
if child == 0:
    same = model(ids).pooler_output.tobytes() == expected
    try:
        session.run(input_ids=ids)
        os._exit(1)
    except attune.InvalidArgumentError as error:
        assert "forked" in str(error)
    del session
    os._exit(0 if same else 2)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_close(bert):
    with attune.Model(bert.object) as model:
        session = model.session(batch=1, length=4)
    for use in (
        lambda: model(IDS),
        model.verify,
        model.manifest,
        model.session,
        lambda: model.tokenizer,
        model.__enter__,
    ):
        with pytest.raises(attune.InvalidArgumentError, match="is closed"):
            use()
    model.close()
    assert session.run(input_ids=[[101]]).pooler_output.shape == (1, 128)


def test_import_is_light():
    program = """
import sys, time
start = time.process_time()
import attune
print(time.process_time() - start)
heavy = {"numpy", "asyncio", "subprocess", "torch", "tqdm"} & set(sys.modules)
assert not heavy, heavy
"""
    seconds = min(
        float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
        for _ in range(8)
    )
    assert seconds < 0.05  # of the CPU: the machine may be busy


def best_time(call, count=400, rounds=50):
    """Returns the least time of a call in seconds over rounds of |count| calls: the machine may be busy."""
    import time

    best = 1.0
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def test_overhead(toy):
    x, y = np.ones((1, 8), np.float32), np.empty((1, 8), np.float32)
    session = toy.session(batch=1)
    times = {
        "model(x)": best_time(lambda: toy(x)),
        "session.run(x=x)": best_time(lambda: session.run(x=x)),
        "session.run(x=x, out=…)": best_time(lambda: session.run(x=x, out={"y": y})),
    }
    print({name: f"{seconds * 1e6:.1f} us" for name, seconds in times.items()})
    assert max(times.values()) < 15e-6


def test_no_leaks(bert, toy):
    """Memory stays flat over 100,000 calls, good and bad."""
    import gc

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    x, wrong = np.ones((1, 8), np.float32), np.ones((1, 9), np.float32)
    y = np.empty((1, 8), np.float32)
    session = toy.session(batch=1)

    def rounds(count):
        for _ in range(count):
            for _ in range(8):
                session.run(x=x)
                toy(x, out={"y": y})
            toy([[1.0] * 8])
            for call in (lambda: session.run(x=wrong), lambda: toy(nothing=x), lambda: session.run(x=object())):
                try:
                    call()
                except attune.InvalidArgumentError:
                    pass

    rounds(500)
    gc.collect()
    before, references = resident(), (sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(None))
    rounds(5000)
    gc.collect()
    assert (sys.getrefcount(x), sys.getrefcount(y)) == references[:2] and abs(
        sys.getrefcount(None) - references[2]
    ) < 1000
    assert resident() - before < 2 << 20
    # Sessions and models give their memory back.
    for _ in range(3):
        before = resident()
        for _ in range(20):
            attune.Model(bert.object, threads=2)(np.ones((4, 64), np.int64))
        gc.collect()
    assert resident() - before < 8 << 20
