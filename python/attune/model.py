# ===- model.py - Models and sessions --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from attune import _attune
from attune.compiler import KeptModel, Progress, StrPath, compile_cached
from attune.errors import InvalidArgumentError, NotFoundError, describe

if TYPE_CHECKING:
    from attune.chat import Chat
    from attune.generation import GeneratedText, GenerationOutput, Stream
    from attune.tokenizer import Tokenizer

_MOST_THREADS = 1024


class TensorInfo(NamedTuple):
    """An input or output of an entry. A size in `shape` is a number or the name of a dimension. `fill` names the
    default of an input that is left out ("zeros", "ones", "arange", …); "required" means that it must be given. `group`: the first
    dimension counts the members of a group, as those of hidden_states."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    fill: str
    group: bool

    def __str__(self) -> str:
        default = f" = {self.fill}" if self.fill != "required" else ""
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]{default}"


class Entry(NamedTuple):
    """A function of a model. `limits` has the largest value of each dimension, 0 for any."""

    name: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    limits: dict[str, int]
    uses_cache: bool

    def __str__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(
            f"{output.name}: {output.dtype}[{', '.join(map(str, output.shape))}]" for output in self.outputs
        )
        limits = ", ".join(f"{name} <= {most}" for name, most in self.limits.items() if most)
        return f"{self.name}({inputs}) -> {outputs}" + (f"  where {limits}" if limits else "")


class Kernel(NamedTuple):
    """A generated kernel: its name, the backend that made it ("mlir", "halide", "nvvm"), its operation, and the reason for
    this backend, "" without one."""

    name: str
    backend: str
    operation: str
    note: str


class Outputs(dict[str, Any]):
    """The outputs of a call by name, in the order of the signature; also attributes. A group is one array with a first
    dimension of its members, which are found by their dotted names, too: `outputs["hidden_states.1"]` is a view of
    `outputs["hidden_states"]`."""

    def __missing__(self, name: str) -> Any:
        group, dot, index = name.rpartition(".")
        if dot and index.isascii() and index.isdigit() and group in self and int(index) < len(self[group]):
            return self[group][int(index)]
        raise KeyError(name)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no output '{name}', the outputs: {', '.join(self)}") from None


def read_threads(threads: int | None) -> int:
    """Returns the number of workers: |threads|, else ATTUNE_THREADS, else 0, which is as many as the affinity mask has CPUs."""
    origin = "threads"
    if threads is None:
        text = os.environ.get("ATTUNE_THREADS")
        if not text:
            return 0
        origin = "ATTUNE_THREADS"
        threads = int(text) if re.fullmatch(r"\d{1,9}", text) else -1
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= _MOST_THREADS:
        raise InvalidArgumentError(
            f"{origin}: expected an integer in 1..{_MOST_THREADS}, got {describe(os.environ.get(origin, threads))}"
        )
    return threads


def is_source(name: str) -> bool:
    """Returns True if |name| is a model to compile: a folder, a .gguf or .mlir file, or a name of the local Hugging Face cache,
    which the command resolves."""
    if os.path.isdir(name) or name.endswith((".mlir", ".gguf")):
        return True
    return (
        not os.path.exists(name)
        and re.fullmatch(r"[\w.-]+/[\w.-]+", name) is not None
        and not name.endswith(".so")
    )


def open_for_texts(path: StrPath | Model, **arguments: Any) -> Model:
    """Returns the model at |path| as the commands on texts open it: one that is compiled skips padding, so that neighbors
    of a text change no bit of its result. An open model takes no arguments."""
    if isinstance(path, Model):
        defaults: tuple[Any, ...] = (None, False, 0)
        given = next(
            (name for name, value in arguments.items() if not any(value is one for one in defaults)),
            None,
        )
        if given is not None:
            raise InvalidArgumentError(f"{given}: only for a path, got an open model")
        return path
    if isinstance(os.fspath(path), str) and is_source(os.fspath(path)):
        arguments.setdefault("padding", "skip")
    return Model(path, **arguments)


def _check_limits(limits: dict[str, int]) -> dict[str, int]:
    for name, most in limits.items():
        if isinstance(most, bool) or not isinstance(most, int) or not -(2**63) <= most < 2**63:
            raise InvalidArgumentError(f"the limit of {name} is {describe(most)}, expected an integer")
    return limits


def _check_entry(entry: str | None) -> str | None:
    if entry is not None and (not isinstance(entry, str) or "\0" in entry or not entry.isprintable()):
        raise InvalidArgumentError(f"entry: expected the name of an entry, got {describe(entry)}")
    return entry


def _check_out(out: dict[str, Any] | None) -> dict[str, Any] | None:
    if out is not None and not isinstance(out, dict):
        raise InvalidArgumentError(f"out: expected a dictionary of arrays by name, got {type(out).__name__}")
    return out


class Model:
    """A compiled model with its weights mapped. Any number of threads may use it at once.

    `path` is a shared object that `attune compile --emit=shared` or `attune.compile` made, or a model: a folder, `org/name` in
    the local Hugging Face cache, a .gguf or a .mlir file, which is compiled at first use and kept in the compile cache. The
    command line shares the cache.

    weights   of a shared object: the weights file, or the folder to look in, by default that of the object; of a .mlir file:
              the safetensors file with its tensors
    verify    reads all weights and compares their hash with the header of the weights file
    threads   workers of a call, including the calling thread; by default ATTUNE_THREADS, else all CPUs of the affinity mask
    gpu       the number of the GPU, for a model that runs on one
    progress  True for a bar of tqdm while the model is compiled, or a function of (work, done, total) as for attune.compile
    flags     flags of `attune compile` for a model that is compiled: dtype="bf16", padding="skip", outputs=["hidden_states"];
              in_process=True compiles in this process, as for attune.compile

    `model(input_ids=…)` runs the first entry:

        inputs    arrays with the shapes that `print(model)` shows: int64 or int32 ids and masks, float32 tensors; NumPy or
                  anything with DLPack (PyTorch) is read without a copy if it is dense; lists of numbers are converted
        outputs   new arrays of NumPy, or the caller's arrays in `out`, which are filled without a copy
    """

    def __init__(
        self,
        path: StrPath,
        *,
        weights: StrPath | None = None,
        verify: bool = False,
        threads: int | None = None,
        gpu: int = 0,
        progress: Progress = True,
        **flags: Any,
    ) -> None:
        name = os.fspath(path)
        if not isinstance(name, str) or "\0" in name:
            raise InvalidArgumentError(f"path: expected a path without NUL, got {describe(path)}")
        if isinstance(gpu, bool) or not isinstance(gpu, int) or not 0 <= gpu < 2**31:
            raise InvalidArgumentError(f"gpu: expected the number of a GPU, got {describe(gpu)}")
        self._threads = read_threads(threads)
        self._kept: KeptModel | None = None
        self._path = name
        given = os.fspath(weights) if weights is not None else ""
        if not isinstance(given, str) or "\0" in given:
            raise InvalidArgumentError(f"weights: expected a path without NUL, got {describe(weights)}")
        is_model = is_source(name)
        if not is_model and not os.path.exists(name):
            raise NotFoundError(f"{name}: no such file or folder")
        object_path = name
        if is_model:
            if given:
                flags["weights"] = given
            self._kept = compile_cached(name, progress=progress, **flags)
            object_path, given = self._kept.path, ""
        elif flags:
            raise InvalidArgumentError(
                f"{next(iter(flags))}: only for a model that is compiled, and '{name}' is a compiled one"
            )
        self._compiled = _attune.CompiledModel(object_path, given, bool(verify), gpu)
        self._text_path = os.path.splitext(object_path)[0] + ".text"
        self._pool = _attune.SessionPool(self._compiled, self._threads)
        self._facts = self._compiled.describe()
        self._entries: dict[str, Entry] | None = None
        self._tokenizer: Tokenizer | None = None
        self._tasks: dict[int, _attune.TextTask] = {}
        # The input that a positional argument of a call names, by entry; None stands for the first entry.
        self._first_inputs: dict[str | None, str | None] = {}
        for entry in self._facts["entries"]:
            first = next((tensor[0] for tensor in entry["inputs"] if tensor[3] == "required"), None)
            self._first_inputs[entry["name"]] = first
            self._first_inputs.setdefault(None, first)
        self._closed = False

    # --- Facts ---

    @property
    def name(self) -> str:
        """The model's C identifier."""
        return self._facts["name"]

    @property
    def path(self) -> str:
        """The path as it was given."""
        return self._path

    @property
    def family(self) -> str:
        """The family of models, as "bert"."""
        return self._facts["family"]

    @property
    def architecture(self) -> str:
        """The class of the reference library, as "BertModel"."""
        return self._facts["architecture"]

    @property
    def cpu(self) -> str:
        """The CPU that the code was made for."""
        return self._facts["cpu"]

    @property
    def device(self) -> str:
        """ "cpu" or "cuda"."""
        return self._facts["device"]

    @property
    def options(self) -> str:
        """The compile flags, one line."""
        return self._facts["options"]

    @property
    def build_id(self) -> str:
        """32 hexadecimal digits, the same in the weights file."""
        return self._facts["build_id"]

    @property
    def weights_path(self) -> str:
        """The mapped weights file."""
        return self._facts["weights_path"]

    @property
    def weights_bytes(self) -> int:
        """The size of the weights in bytes."""
        return self._facts["weights_bytes"]

    @property
    def labels(self) -> list[str]:
        """The names of the classes, in the order of the logits; empty if the model classifies nothing."""
        return list(self._facts["labels"])

    @property
    def kernels(self) -> list[Kernel]:
        """The generated kernels."""
        return [Kernel(*kernel) for kernel in self._facts["kernels"]]

    @property
    def entries(self) -> dict[str, Entry]:
        """The entries by name; the first one is that which `model(…)` runs."""
        if self._entries is None:
            self._entries = {
                entry["name"]: Entry(
                    entry["name"],
                    tuple(TensorInfo(*tensor) for tensor in entry["inputs"]),
                    tuple(TensorInfo(*tensor) for tensor in entry["outputs"]),
                    entry["limits"],
                    entry["uses_cache"],
                )
                for entry in self._facts["entries"]
            }
        return dict(self._entries)

    def manifest(self) -> Any:
        """Returns the manifest of the weights file: the packed tensors with their sources, types, shapes, offsets and bytes."""
        import json

        return json.loads(self._open().manifest())

    def verify(self) -> None:
        """Compares the hash of the weights' contents with the header; reads them all. Fails with CorruptError."""
        self._open().verify()

    def memory_bytes(self, *, threads: int | None = None, **limits: int) -> int:
        """Returns the memory of a session with these limits in bytes: workspace, caches and bookkeeping."""
        return _attune.session_bytes(
            self._open(), _check_limits(limits), self._threads if threads is None else read_threads(threads)
        )

    def __repr__(self) -> str:
        lines = [f"attune.Model('{self._path}'): {self.architecture} for {self.cpu}"]
        lines += [f"  {entry}" for entry in self.entries.values()]
        return "\n".join(lines)

    # --- Calls ---

    def __call__(
        self, *args: Any, entry: str | None = None, out: dict[str, Any] | None = None, **inputs: Any
    ) -> Outputs:
        """Runs |entry| (by default the first) and returns its outputs. One positional argument is the first required
        input of the entry. Inputs that are left out, or None, take their defaults. |out| has arrays of the caller by
        name, dense and of exactly the output's shape and type. Other threads run meanwhile."""
        entry = _check_entry(entry)
        # Without such an entry the call below fails.
        if args and entry in self._first_inputs:
            first = self._first_inputs[entry]
            if len(args) > 1 or first is None or first in inputs:
                raise InvalidArgumentError(
                    f"expected one positional argument, the input '{first}'; name the others"
                    if first is not None
                    else "expected no positional argument: all inputs have defaults; name those that are given"
                )
            inputs[first] = args[0]
        if self._closed:
            self._open()
        results = Outputs()
        self._pool.run(entry, inputs, _check_out(out), results)
        return results

    def session(self, *, threads: int | None = None, **limits: int) -> Session:
        """Returns a session: memory and workers for one call at a time, and caches of a model that continues sequences.
        |limits| are the largest values of dimensions, session(batch=4, length=128); by default those of the model, and 1
        for a dimension without a limit."""
        return Session(self, threads=threads, **limits)

    # --- Text ---

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that was compiled with the model. Fails with NotFoundError if there is none."""
        from attune.tokenizer import Tokenizer

        self._open()
        if self._tokenizer is None:
            if not os.path.exists(self._text_path):
                raise NotFoundError(f"{self._path}: expected a model with a tokenizer, got none")
            first = self._facts["entries"][0]
            names = [tensor[0] for tensor in first["inputs"]]
            limits = [
                entry["limits"].get("source_length" if "source_length" in entry["limits"] else "length", 0)
                for entry in self._facts["entries"]
            ]
            self._tokenizer = Tokenizer(self._text_path)
            self._tokenizer.model_input_names = [
                name for name in ("input_ids", "token_type_ids", "attention_mask") if name in names
            ]
            self._tokenizer.model_max_length = max(limits) or None
        return self._tokenizer

    def _text_task(self, kind: int) -> _attune.TextTask:
        """Returns the memory for the work |kind| of attune/tasks.h on texts. Fails with InvalidArgumentError for a model that
        does something else."""
        compiled = self._open()
        if kind not in self._tasks:
            self._tasks[kind] = _attune.TextTask(compiled, self.tokenizer._handle, kind, self._threads)
        return self._tasks[kind]

    def generate(
        self, inputs: Any = None, **arguments: Any
    ) -> str | list[str] | list[GeneratedText] | GenerationOutput | Any:
        """Generates text; see attune.generation.generate for arguments and results."""
        from attune.generation import generate

        return generate(self, inputs, **arguments)

    async def generate_async(
        self, inputs: Any = None, **arguments: Any
    ) -> str | list[str] | list[GeneratedText] | GenerationOutput | Any:
        """The same as generate, in a thread, so that the event loop goes on. Ends at the next token if it is cancelled."""
        from attune.generation import generate_async

        return await generate_async(self, inputs, **arguments)

    def stream(self, inputs: Any, **arguments: Any) -> Stream:
        """Generates text as it comes: `for piece in model.stream("Once")`, or `async for`; see attune.generation.stream."""
        from attune.generation import stream

        return stream(self, inputs, **arguments)

    def chat(self, **arguments: Any) -> Chat:
        """Begins a conversation; see attune.Chat."""
        from attune.chat import Chat

        return Chat(self, **arguments)

    # --- Lifetime ---

    def _open(self) -> _attune.CompiledModel:
        if self._closed:
            raise InvalidArgumentError(f"the model '{self._path}' is closed")
        return self._compiled

    def close(self) -> None:
        """Gives up the model; its memory is free when its last session and call are gone. May be called twice."""
        if not self._closed:
            self._closed = True
            self._pool.clear()
            self._tokenizer = None
            for task in self._tasks.values():
                task.clear()
            self._tasks.clear()

    def __enter__(self) -> Model:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    """Memory and workers for one call of a model at a time; a second one at the same time gets BusyError. A model that
    continues sequences keeps their keys and values in slots: a slot for each row that the limit of `batch` allows, with room
    for the limit of `past` tokens."""

    def __init__(self, model: Model, *, threads: int | None = None, **limits: int) -> None:
        count = model._threads if threads is None else read_threads(threads)
        self._model = model
        self._session: _attune.ModelSession | None = _attune.ModelSession(model._open(), _check_limits(limits), count)

    def _open(self) -> _attune.ModelSession:
        if self._session is None:
            raise InvalidArgumentError("the session is closed")
        return self._session

    @property
    def model(self) -> Model:
        """The model of the session."""
        return self._model

    @property
    def num_threads(self) -> int:
        """The number of workers, including the calling thread."""
        return self._open().num_threads()

    def run(self, entry: str | None = None, *, out: dict[str, Any] | None = None, **inputs: Any) -> Outputs:
        """Runs |entry| (by default the first), see Model.__call__. `prefill` appends tokens to slots, `decode` one token to
        each row, `encode` writes the sources that cross attention reads."""
        results = Outputs()
        self._open().run(_check_entry(entry), inputs, _check_out(out), results)
        return results

    def generate(self, inputs: Any, **arguments: Any) -> GenerationOutput | Any:
        """Generates ids from ids on this session, see attune.generation.generate; with reuse_cache=True a conversation
        continues and tokens that a slot holds are not computed again."""
        from attune.generation import generate_on

        return generate_on(self, inputs, **arguments)

    @property
    def num_slots(self) -> int:
        """The number of slots, 0 if the model has no caches."""
        return self._open().num_slots()

    def slot_length(self, slot: int) -> int:
        """Returns the number of tokens in |slot|. Fails if there is no such slot."""
        length = self._open().slot_length(_index("slot", slot))
        if length < 0:
            raise InvalidArgumentError(f"the session has no slot {slot}, it has {self.num_slots}")
        return length

    def truncate_slot(self, slot: int, length: int) -> None:
        """Keeps the first |length| tokens of |slot|."""
        self._open().truncate_slot(_index("slot", slot), _index("length", length))

    def copy_slot(self, from_slot: int, to_slot: int) -> None:
        """Makes slot |to_slot| a copy of slot |from_slot|."""
        self._open().copy_slot(_index("from_slot", from_slot), _index("to_slot", to_slot))

    def read_cache(self, name: str, slots: list[int], length: int) -> Any:
        """Returns the first |length| tokens of |slots| in the cache |name|, as "past_key_values.0.1": float32 [slots,
        heads, length, size of a head]; of a mask [slots, length]."""
        if not isinstance(name, str) or "\0" in name:
            raise InvalidArgumentError(f"name: expected the name of a cache, got {describe(name)}")
        return self._open().read_cache(name, [_index("slots", slot) for slot in slots], _index("length", length))

    def write_cache(self, tensors: dict[str, Any], slots: list[int]) -> None:
        """Fills |slots| so that read_cache would return |tensors|. Keys and values of all layers must be given. No slot
        may be given twice. For caches of sources, |slots| has numbers of sources."""
        if not isinstance(tensors, dict):
            raise InvalidArgumentError(
                f"tensors: expected a dictionary of arrays by name, got {type(tensors).__name__}"
            )
        self._open().write_cache(tensors, [_index("slots", slot) for slot in slots])

    def close(self) -> None:
        """Ends the workers and gives the memory back, after a call that runs in another thread. May be called twice."""
        self._session = None

    def __enter__(self) -> Session:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._session is None:
            return "attune.Session(closed)"
        return f"attune.Session('{self._model.path}', threads={self.num_threads}, slots={self.num_slots})"


def _index(name: str, value: Any) -> int:
    """Returns |value|, an integer of 64 bits."""
    import operator

    try:
        number = -(2**64) if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -(2**64)
    if not -(2**63) <= number < 2**63:
        raise InvalidArgumentError(f"{name}: expected an integer, got {describe(value)}")
    return number
