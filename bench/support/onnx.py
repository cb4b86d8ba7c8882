# ===- onnx.py - Writing ONNX models without the onnx package --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph under construction and its encoding. Field numbers are those of onnx.proto (IR version 8).

Large weights are not copied: an initializer may name a range of another file of the same folder ("external data").
"""
import struct

FLOAT, INT8, INT32, INT64 = 1, 3, 6, 7
MICROSOFT = "com.microsoft"


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """Encodes one field: an int as varint, a float as 32 bits, str and bytes with their length."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    if isinstance(value, float):
        return field(1, name) + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)


def value_info(name, dtype, shape):
    dims = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, dims)))


class Graph:
    """A graph: nodes in order, tensors named by strings."""

    def __init__(self):
        self.nodes, self.initializers, self.inputs, self.outputs, self.known = [], [], [], [], set()

    def op(self, kind, inputs, outputs=1, domain="", **attributes):
        """Appends a node; returns its output, or a list of them."""
        names = [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        node = b"".join(field(1, x) for x in inputs) + b"".join(field(2, x) for x in names)
        node += field(3, f"{kind}_{len(self.nodes)}") + field(4, kind)
        node += b"".join(field(5, attribute(k, v)) for k, v in attributes.items()) + field(7, domain)
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def external(self, name, shape, file, offset, size):
        """Adds a float initializer whose data is |size| bytes of |file| at |offset|."""
        if name not in self.known:
            self.known.add(name)
            place = {"location": file, "offset": str(offset), "length": str(size)}
            entries = b"".join(field(13, field(1, k) + field(2, v)) for k, v in place.items())
            self.initializers.append(b"".join(field(1, d) for d in shape) + field(2, FLOAT) + field(8, name) + entries + field(14, 1))
        return name

    def constant(self, values, dtype, scalar=False):
        """Adds a small initializer: a vector of |values|, or a single value as a scalar."""
        name = f"constant_{dtype}_{'s' if scalar else 'v'}_" + "_".join(map(repr, values))
        if name not in self.known:
            self.known.add(name)
            code = {FLOAT: "f", INT8: "b", INT32: "i", INT64: "q"}[dtype]
            dims = b"" if scalar else field(1, len(values))
            self.initializers.append(dims + field(2, dtype) + field(8, name) + field(9, struct.pack(f"<{len(values)}{code}", *values)))
        return name

    def integers(self, *values):
        return self.constant(values, INT64)

    def scalar(self, value):
        return self.constant([value], FLOAT, scalar=True)

    def input(self, name, dtype, shape):
        self.inputs.append(value_info(name, dtype, shape))
        return name

    def output(self, tensor, name, dtype, shape):
        node = field(1, tensor) + field(2, name) + field(3, name) + field(4, "Identity")
        self.nodes.append(node)
        self.outputs.append(value_info(name, dtype, shape))

    def save(self, path):
        graph = b"".join(field(1, x) for x in self.nodes) + field(2, "graph") + b"".join(field(5, x) for x in self.initializers)
        graph += b"".join(field(11, x) for x in self.inputs) + b"".join(field(12, x) for x in self.outputs)
        model = field(1, 8) + field(7, graph)
        for domain, version in (("", 17), (MICROSOFT, 1)):
            model += field(8, field(1, domain) + field(2, version))
        with open(path, "wb") as f:
            f.write(model)
