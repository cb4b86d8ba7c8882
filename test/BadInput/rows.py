# ===- rows.py - Bad inputs --------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import shutil
import struct
import subprocess

OUT = os.path.join("out", "x.o")


class Row:
    def __init__(self, title, command, words, warning=False, unsupported=False, **environment):
        self.title, self.command, self.words = title, command, words
        self.warning, self.unsupported, self.environment = warning, unsupported, environment


# ---------------------------------------------------------------- files

def load(path):
    """Returns the header and the data of a safetensors file."""
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        return json.loads(f.read(size)), f.read()


def save(path, header, data, length=None):
    """Writes a safetensors file. |header| may be text; |length| is its length as stored in the file, by default the true one."""
    text = header if isinstance(header, str) else json.dumps(header)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text) if length is None else length) + text.encode() + data)


def patch(path, offset, change):
    with open(path, "r+b") as f:
        f.seek(offset)
        byte = f.read(1)[0]
        f.seek(offset)
        f.write(bytes([change(byte)]))


class Maker:
    """Makes folders of bad models from a good one."""

    def __init__(self, model, folder):
        self.model, self.folder = model, folder
        with open(os.path.join(model, "config.json")) as f:
            self.config = json.load(f)
        self.header, self.data = load(os.path.join(model, "model.safetensors"))
        # A matrix that is not square, so that its transpose has another shape.
        self.first = min(n for n, e in self.header.items() if n != "__metadata__" and e["dtype"] == "F32" and len(e["shape"]) == 2
                         and e["shape"][0] != e["shape"][1])
        self.count = 0

    def fresh(self):
        """Returns a copy of the model, by name relative to the folder."""
        self.count += 1
        name = f"model{self.count}"
        os.makedirs(os.path.join(self.folder, name))
        for file in ("config.json", "model.safetensors"):
            shutil.copyfile(os.path.join(self.model, file), os.path.join(self.folder, name, file))
        return name

    def path(self, name, file="model.safetensors"):
        return os.path.join(self.folder, name, file)

    def compiled(self, title, words, edit, **options):
        """Returns a row that compiles a copy changed by |edit(name)|."""
        name = self.fresh()
        edit(name)
        return Row(title, ["attune", "compile", name, "-o", OUT], words, **options)

    def tensors(self, title, words, edit, keys=None, **options):
        """Returns a row whose safetensors header |edit| changes: it gets a copy of the header and returns it, or (header, data). |keys|
        are values for config.json."""
        def change(name):
            edited = edit(json.loads(json.dumps(self.header)))
            header, data = edited if isinstance(edited, tuple) else (edited, self.data)
            save(self.path(name), header, data)
            if keys:
                self.configure(name, keys)
        return self.compiled(title, words, change, **options)

    def configure(self, name, keys):
        """Gives |keys| these values in config.json; None removes a key."""
        with open(self.path(name, "config.json"), "w") as f:
            json.dump({k: v for k, v in {**self.config, **keys}.items() if v is not None}, f)

    def configured(self, title, words, **keys):
        """Returns a row whose config.json has these values; None removes a key."""
        return self.compiled(title, words, lambda name: self.configure(name, keys))

    def written(self, title, words, text):
        """Returns a row whose config.json is |text|."""
        def change(name):
            with open(self.path(name, "config.json"), "w") as f:
                f.write(text)
        return self.compiled(title, words, change)

    def indexed(self, title, words, index):
        """Returns a row for a model whose weights are the shard a.safetensors and the index |index|; FIRST in it stands for the name
        of the first tensor. The file outside.safetensors is beside the folder; link.safetensors in the folder links to it."""
        def change(name):
            shutil.move(self.path(name), self.path(name, "a.safetensors"))
            shutil.copyfile(os.path.join(self.model, "model.safetensors"), os.path.join(self.folder, "outside.safetensors"))
            os.symlink("../outside.safetensors", self.path(name, "link.safetensors"))
            with open(self.path(name, "model.safetensors.index.json"), "w") as f:
                f.write(index.replace("FIRST", self.first))
        return self.compiled(title, words, change)


# ---------------------------------------------------------------- rows

def weights_rows(m):
    def entry(**changes):
        def edit(header):
            header[m.first].update(changes)
            return header
        return edit

    def values(bits):
        def edit(header):
            begin = header[m.first]["data_offsets"][0]
            return header, m.data[:begin] + struct.pack("<I", bits) + m.data[begin + 4:]
        return edit

    offsets, shape = m.header[m.first]["data_offsets"], m.header[m.first]["shape"]
    size = os.path.getsize(os.path.join(m.model, "model.safetensors"))
    plain = json.dumps(m.header[m.first])
    yield m.compiled("file cut short", "model.safetensors", lambda n: os.truncate(m.path(n), size // 2))
    yield m.compiled("file of 5 bytes", "at least 8 bytes, got 5", lambda n: os.truncate(m.path(n), 5))
    yield m.compiled("empty file", "at least 8 bytes, got 0", lambda n: os.truncate(m.path(n), 0))
    yield m.compiled("no weights", "expected model.safetensors or model.safetensors.index.json", lambda n: os.remove(m.path(n)))
    yield m.compiled("header longer than the file", "expected a header of at most", lambda n: patch(m.path(n), 5, lambda b: 0xff))
    yield m.compiled("a bit flipped in the header", "(header):1:1", lambda n: patch(m.path(n), 8, lambda b: b ^ 1))
    yield m.tensors("tensors that overlap", "overlaps tensor", lambda h: {**h, "extra": {**h[m.first]}})
    yield m.tensors("bytes of no tensor", "expected", lambda h: (h, m.data + b"\0" * 8))
    yield m.tensors("offsets outside the file", "data_offsets within the file's",
                    entry(data_offsets=[len(m.data), len(m.data) + offsets[1] - offsets[0]]))
    yield m.tensors("offsets backwards", "begin <= end", entry(data_offsets=[8, 4]))
    yield m.tensors("negative offset", "got -4", entry(data_offsets=[-4, 0]))
    yield m.tensors("tensor twice", f"key '{m.first}' appears twice", lambda h: json.dumps(h)[:-1] + f', "{m.first}": {plain}' + "}")
    yield m.tensors("tensor missing", "found none of this name", lambda h: {("other" if n == m.first else n): e for n, e in h.items()})
    yield m.tensors("wrong shape", "expected shape", entry(shape=shape[::-1]))
    yield m.tensors("shape that wraps", "elements", entry(shape=[1 << 32, 1 << 32]))
    yield m.tensors("integers for a weight", "expected F32, F16, BF16 or F64, got I32", entry(dtype="I32"))
    yield m.tensors("unknown dtype", "expected a known dtype", entry(dtype="F31"))
    # These are compiled, so without layers.
    short = {"num_hidden_layers": 0}
    yield m.tensors("NaN", "warning", values(0x7fc00000), keys=short, warning=True)
    yield m.tensors("infinity", "warning", values(0x7f800000), keys=short, warning=True)


def index_rows(m):
    yield m.indexed("shard above the folder", "expected the name of a file in the folder",
                    '{"weight_map": {"FIRST": "../outside.safetensors"}}')
    yield m.indexed("shard with an absolute path", "expected the name of a file in the folder", '{"weight_map": {"FIRST": "/etc/passwd"}}')
    yield m.indexed("shard that is a link out of the folder", "a link to", '{"weight_map": {"FIRST": "link.safetensors"}}')
    yield m.indexed("shard that is not there", "which is missing", '{"weight_map": {"FIRST": "b.safetensors"}}')
    yield m.indexed("tensor that is not in its shard", "expected in this file", '{"weight_map": {"other": "a.safetensors"}}')
    yield m.indexed("tensor twice", "appears twice", '{"weight_map": {"FIRST": "a.safetensors", "FIRST": "a.safetensors"}}')
    yield m.indexed("shard that is a number", "expected a string, got 1", '{"weight_map": {"FIRST": 1}}')
    yield m.indexed("no weight_map", "'weight_map': expected an object of file names", "{}")
    yield m.indexed("not JSON", "index.json:1:", "{")
    yield m.indexed("index of some tensors only", "found none of this name", '{"weight_map": {"FIRST": "a.safetensors"}}')


def config_rows(m):
    heads = m.config["num_attention_heads"]
    yield m.written("not JSON", "config.json:1:", "{'")
    yield m.written("empty file", "config.json:1:1", "")
    yield m.written("an array", "expected an object, got []", "[]")
    yield m.written("key twice", "key 'hidden_size' appears twice", '{"model_type": "bert", "hidden_size": 8, "hidden_size": 8}')
    yield m.written("nested too deep", "nested deeper than 64 levels", '{"a":' + "[" * 1000)
    yield m.configured("no model_type, and a class of no family", "and none of them has the class FooModel", model_type=None,
                       architectures=["FooModel"])
    yield m.configured("unknown model_type", "'model_type': expected one of", model_type="rwkv")
    yield m.configured("unknown class", "'architectures': expected one of", architectures=["BertForNothing"])
    yield m.configured("text for a number", "'hidden_size': expected an integer", hidden_size="60")
    yield m.configured("fraction", "'vocab_size': expected an integer", vocab_size=1.5)
    yield m.configured("negative", "'num_hidden_layers': expected an integer in 0..4096, got -1", num_hidden_layers=-1)
    yield m.configured("least integer", "got -9223372036854775808", intermediate_size=-(1 << 63))
    yield m.configured("zero", "'vocab_size': expected an integer in 1..", vocab_size=0)
    yield m.configured("huge", "'max_position_embeddings': expected an integer in 1..", max_position_embeddings=1 << 62)
    yield m.configured("beyond 64 bits", "'num_hidden_layers': expected an integer", num_hidden_layers=10 ** 30)
    yield m.configured("larger than its tensors", "expected shape", hidden_size=heads * 1000)
    yield m.configured("heads that do not divide", "expected a multiple of 'num_attention_heads'", num_attention_heads=7)
    yield m.configured("unknown activation", "'hidden_act': expected one of", hidden_act="mish")
    yield m.configured("positions we do not have", "'position_embedding_type'", position_embedding_type="rotary")
    method = "'quantization_config.quant_method': expected "
    yield m.configured("weights quantized without a method", method + "a string", quantization_config={"bits": 4})
    yield m.configured("weights quantized by another method", method + "one of gptq, awq", quantization_config={"quant_method": "quip"})
    gptq = {"quant_method": "gptq", "bits": 5}
    yield m.configured("bits of quantized weights", "'quantization_config.bits': expected 2, 3, 4 or 8, got 5", quantization_config=gptq)
    yield m.configured("negative epsilon", "'layer_norm_eps': expected a number in 0..1", layer_norm_eps=-1.0)
    yield m.compiled("a folder in the place of config.json", "expected a regular file, got a folder",
                     lambda n: (os.remove(m.path(n, "config.json")), os.mkdir(m.path(n, "config.json"))))
    yield m.compiled("a pipe in the place of config.json", "expected a regular file, got a special file",
                     lambda n: (os.remove(m.path(n, "config.json")), os.mkfifo(m.path(n, "config.json"))))


def input_rows(m):
    """Inputs of a call, on the compiled good.so."""
    vocabulary, longest = m.config["vocab_size"], m.config["max_position_embeddings"]

    def row(title, words, tensors):
        path = f"in-{title.replace(' ', '-')}.safetensors"
        header, data = {}, b""
        for name, (dtype, shape, values) in tensors.items():
            packed = struct.pack(f"<{len(values)}{'q' if dtype == 'I64' else 'f'}", *values)
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
            data += packed
        save(os.path.join(m.folder, path), header, data)
        return Row(title, ["attune-run", "run", "--model=good.so", "--input", path, "--output", "out/o.safetensors"], words)

    yield row("id out of the vocabulary", f"expected 0 to {vocabulary - 1}", {"input_ids": ("I64", [1, 3], [1, vocabulary, 2])})
    yield row("negative id", f"expected 0 to {vocabulary - 1}", {"input_ids": ("I64", [1, 3], [1, -1, 2])})
    yield row("length beyond the limit", str(longest + 1), {"input_ids": ("I64", [1, longest + 1], [1] * (longest + 1))})
    yield row("no sequences", "batch", {"input_ids": ("I64", [0, 3], [])})
    yield row("length zero", "length", {"input_ids": ("I64", [1, 0], [])})
    yield row("floats for ids", "expected", {"input_ids": ("F32", [1, 3], [1.0, 2.0, 3.0])})
    yield row("rank three", "expected", {"input_ids": ("I64", [1, 3, 1], [1, 2, 3])})
    yield row("lengths that differ", "attention_mask", {"input_ids": ("I64", [1, 3], [1, 2, 3]),
                                                        "attention_mask": ("I64", [1, 4], [1] * 4)})
    for title, value in (("mask above one", 2), ("negative mask", -1)):
        yield row(title, "expected 0 or 1", {"input_ids": ("I64", [1, 3], [1, 2, 3]), "attention_mask": ("I64", [1, 3], [1, 1, value])})
    yield row("unknown input", "pixel_values", {"input_ids": ("I64", [1, 3], [1, 2, 3]), "pixel_values": ("F32", [1], [1.0])})
    yield row("no input_ids", "input_ids", {"attention_mask": ("I64", [1, 3], [1, 1, 1])})


def flag_rows(m):
    """Inputs in flags, on the compiled good.so."""
    def row(title, words, *flags):
        return Row(title, ["attune-run", "run", "--model=good.so", *flags, "--output", "out/o.safetensors"], words)

    ids = "--ids=1,2,3"
    yield row("no inputs at all", "which are missing")
    yield row("text for an id", "expected an integer, got 'x'", "--ids=1,x")
    yield row("an id missing between commas", "expected ids separated by commas", "--ids=1,,2")
    yield row("an id in a flag out of the vocabulary", f"expected 0 to {m.config['vocab_size'] - 1}", f"--ids={m.config['vocab_size']}")
    yield row("rows of different lengths", "expected rows of one length, got 3 and 2 ids", ids, "--ids=1,2")
    yield row("a value of an unknown input", "the model has no input 'pixel_values'; it has: input_ids, attention_mask", ids,
              "--value=pixel_values=1,2")
    yield row("a value without a name", "expected NAME=V,V,...", ids, "--value=1,2")
    yield row("too few values", "expected 3 values for its shape", ids, "--value=attention_mask=1,1")
    yield row("a fraction for an integer", "expected an integer, got '0.5'", ids, "--value=attention_mask=1,1,0.5")
    yield row("a value twice", "expected once, got twice", ids, "--value=attention_mask=1,1,1", "--value=attention_mask=1,1,0")
    yield row("ids by both flags", "given by --ids and --value", ids, "--value=input_ids=1,2,3")
    yield row("ids by a flag and a file", "given by a flag and in the file", ids, "--input=in-mask-above-one.safetensors")


def kind_rows(m):
    """Files that are no models."""
    def written(title, name, data, words):
        with open(os.path.join(m.folder, name), "wb") as f:
            f.write(data)
        return Row(title, ["attune", "compile", name, "-o", OUT], words)

    shutil.copytree(m.model, os.path.join(m.folder, "layerless"))
    m.configure("layerless", {"num_hidden_layers": 0})
    subprocess.run(["attune", "compile", "layerless", "-o", "layerless.o"], cwd=m.folder, check=True)
    # good.weights stays that of good.so.
    os.rename(os.path.join(m.folder, "layerless.o"), os.path.join(m.folder, "good.o"))
    for verb in ("inspect", "bench"):
        yield Row(f"an object for attune {verb}", ["attune", verb, "good.o"],
                  "got an object file; it is for linking into a program, --emit=shared")
    yield Row("an object for attune-run", ["attune-run", "inspect", "good.o"], "got an object file, which is for linking into a program")
    yield Row("an object for compile", ["attune", "compile", "good.o", "-o", OUT], "got an object file")
    yield Row("packed weights", ["attune", "bench", "good.weights"], "got the weights of a compiled model; give the shared object")
    yield Row("config.json for its folder", ["attune", "compile", m.fresh() + "/config.json", "-o", OUT],
              f"got a JSON file; give the folder that holds it, 'model{m.count}'")
    yield Row("model.safetensors for its folder", ["attune", "compile", m.fresh() + "/model.safetensors", "-o", OUT],
              f"got a safetensors file; give the folder that holds it, 'model{m.count}'")
    yield written("GGUF", "kind.gguf", b"GGUF\3\0\0\0", "the file ends within its header")
    yield written("ONNX", "kind.onnx", b"\x08\x07\x12\x07pytorch", "got an ONNX file; convert it")
    yield written("PyTorch", "pytorch_model.bin", b"PK\3\4" + b"\0" * 26 + b"archive/data.pkl", "got a PyTorch file; convert it")
    yield written("PyTorch before 1.6", "old.bin", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "got a PyTorch file; convert it")
    yield written("a zip archive", "kind.zip", b"PK\3\4" + b"\0" * 26 + b"model.txt", "got a zip archive")
    yield written("an archive of objects", "kind.a", b"!<arch>\n", "got an archive of objects")
    yield written("an empty model", "kind.mlir", b"", "got an empty file")
    yield written("a text", "kind.txt", b"what is this?\n", "got a text: ")
    yield written("bytes", "kind.bin", bytes(range(256)), "got a file of another kind")

    def pointer(name):
        with open(m.path(name), "w") as f:
            f.write("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n")
    yield m.compiled("weights that are a Git LFS pointer", "git lfs pull downloads the file", pointer)
    yield m.compiled("weights that are a PyTorch file", "expected a safetensors file, got a PyTorch file",
                     lambda n: shutil.copyfile(os.path.join(m.folder, "pytorch_model.bin"), m.path(n)))
    yield m.compiled("weights of PyTorch only", "found only pytorch_model.bin; convert with PyTorch",
                     lambda n: os.rename(m.path(n), m.path(n, "pytorch_model.bin")))
    ids = ["--ids=1,2", "--output=out/o.safetensors"]
    yield Row("generation by an encoder", ["attune", "generate", m.fresh(), *ids],
              "has no decoder whose tokens attend to earlier ones alone")
    yield Row("generation by a compiled encoder", ["attune-run", "generate", "good.so", *ids], "cannot generate: it has no decoder")


def artifact_rows(m):
    """Compiled models whose parts do not fit."""
    def copy(name, edit):
        # In a folder of its own, since weights are found by their build id.
        os.mkdir(os.path.join(m.folder, name))
        for file in ("good.so", "good.weights"):
            shutil.copyfile(os.path.join(m.folder, file), os.path.join(m.folder, name, file))
        edit(os.path.join(m.folder, name, "good.weights"))
        return ["attune-run", "bench", f"--model={name}/good.so", "--length=3", "--repeat=1"]

    size = os.path.getsize(os.path.join(m.folder, "good.weights"))
    yield Row("no weights file", copy("alone", os.remove), "no weights file with build id")
    # The build id, which another compilation would have given.
    yield Row("weights of another model", copy("swapped", lambda p: patch(p, 16, lambda b: b ^ 1)), "no weights file with build id")
    yield Row("weights of another ABI", copy("abi", lambda p: patch(p, 8, lambda b: b + 1)), "was made for ABI version")
    yield Row("weights cut short", copy("short", lambda p: os.truncate(p, size // 2)), "it is truncated")
    yield Row("weights of 10 bytes", copy("ten", lambda p: os.truncate(p, 10)), "10 bytes")
    yield Row("weights with a bit flipped in the header", copy("header", lambda p: patch(p, 40, lambda b: b ^ 64)), "damaged header")
    yield Row("weights with a bit flipped in the manifest", copy("manifest", lambda p: patch(p, size - 3, lambda b: b ^ 1)),
              "manifest with checksum")
    copy("data", lambda p: patch(p, 8192, lambda b: b ^ 1))
    yield Row("weights with a bit flipped in the data, when asked", ["attune-run", "inspect", "data/good.weights", "--verify"], "hash")
    with open(os.path.join(m.folder, "text.so"), "w") as f:
        f.write("not an object\n")
    yield Row("not a shared object", ["attune-run", "bench", "--model=text.so"], "text.so")
    shutil.copyfile(os.path.join(m.folder, "good.so"), os.path.join(m.folder, "short.so"))
    os.truncate(os.path.join(m.folder, "short.so"), 999)
    yield Row("shared object cut short", ["attune-run", "bench", "--model=short.so"], "it is cut short")
    flipped = os.path.join(m.folder, "flipped.so")
    shutil.copyfile(os.path.join(m.folder, "good.so"), flipped)
    patch(flipped, os.path.getsize(flipped) // 2, lambda b: b ^ 1)
    yield Row("shared object with a bit flipped", ["attune-run", "bench", "--model=flipped.so"], "the file is damaged")
    # Sets the machine in the ELF header to AArch64.
    shutil.copyfile(os.path.join(m.folder, "good.so"), os.path.join(m.folder, "arm.so"))
    patch(os.path.join(m.folder, "arm.so"), 18, lambda b: 183)
    yield Row("object for another architecture", ["attune-run", "bench", "--model=arm.so"],
              "expected an object for x86-64, got one for AArch64")
    yield Row("object that is not a model", ["attune-run", "bench", "--model=" + find_library()], "attune_model")


def find_library():
    """Returns a shared object of the system that any process has."""
    with open("/proc/self/maps") as f:
        return next(line.split()[-1] for line in f if "/libc" in line and ".so" in line)


def output_rows(m):
    """Places that cannot be written to."""
    compile_ = ["attune", "compile", os.path.abspath(m.model), "-o"]
    yield Row("output folder that is not there", compile_ + ["nowhere/x.o"], "cannot create")
    yield Row("output that is a folder", compile_ + ["out"], "is a folder")
    yield Row("output that is called an archive", compile_ + ["out/x.a"], "names an archive")
    yield Row("output that is called a shared object and is none", compile_ + ["out/x.so"], "expected --emit=shared beside it")
    # Uses a read-only file system, since root may write to folders without write permission.
    mount = "mkdir -p small && mount -t tmpfs -o {0} none small && exec \"$@\""
    namespace = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
    attempt = [*namespace, "sh", "-c", mount.format("size=64k"), "sh", "true"]
    works = shutil.which("unshare") and subprocess.run(attempt, cwd=m.folder, stderr=subprocess.DEVNULL).returncode == 0
    inside = lambda options: [*namespace, "sh", "-c", mount.format(options), "sh", *compile_, "small/x.o"]
    yield Row("read-only output folder", inside("ro"), "Read-only file system", unsupported=not works)
    yield Row("full disk", inside("size=64k"), "No space left on device", unsupported=not works)


def make(model, folder):
    """Yields (section, rows) in order; first compiles the model that the rows about artifacts need."""
    m = Maker(model, folder)
    subprocess.run(["attune", "compile", "--emit=shared", model, "-o", "good.so"], cwd=folder, check=True)
    yield "model.safetensors", list(weights_rows(m))
    yield "model.safetensors.index.json", list(index_rows(m))
    yield "config.json", list(config_rows(m))
    yield "Inputs of a call", list(input_rows(m))
    yield "Inputs in flags", list(flag_rows(m))
    yield "Compiled models", list(artifact_rows(m))
    yield "Models of another kind", list(kind_rows(m))
    yield "Output files", list(output_rows(m))
