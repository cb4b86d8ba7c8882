# ===- onnx_weights.py - Parameters of modules in an ONNX graph -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads parameters of PyTorch modules back from an exported graph, in f32 and under their names in PyTorch."""

import numpy
import onnx
from onnx import numpy_helper


class OnnxWeights:
    """The initializers of a graph. Dynamically quantized ones are dequantized."""

    def __init__(self, path):
        self.model = onnx.load(str(path))
        self.initializers = {tensor.name: tensor for tensor in self.model.graph.initializer}
        self.parameters = {}
        for name, tensor in self.initializers.items():
            if name.endswith("_quantized") and not name.startswith("onnx::"):
                self.parameters[name.removesuffix("_quantized")] = self.value(name)
            elif not name.startswith("onnx::") and not name.endswith(("_scale", "_zero_point")):
                self.parameters[name] = self.value(name)
        for node in self.model.graph.node:
            if node.op_type in ("MatMul", "MatMulInteger") and node.input[1] in self.initializers:
                module = node.name.strip("/").removesuffix("_quant").removesuffix("/MatMul").replace("/", ".")
                self.parameters[module + ".weight"] = numpy.ascontiguousarray(self.value(node.input[1]).T)

    def value(self, name):
        """Returns an initializer as f32."""
        array = numpy_helper.to_array(self.initializers[name])
        if not name.endswith("_quantized"):
            return array.astype(numpy.float32)
        stem = name.removesuffix("_quantized")
        scale = numpy_helper.to_array(self.initializers[stem + "_scale"])
        zero = numpy_helper.to_array(self.initializers[stem + "_zero_point"]).astype(numpy.float32)
        return ((array.astype(numpy.float32) - zero) * scale).astype(numpy.float32)

    def compute(self, tensors, inputs):
        """Returns values inside the graph for |inputs|."""
        import onnxruntime

        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        for tensor in tensors:
            model.graph.output.append(onnx.helper.make_tensor_value_info(tensor, onnx.TensorProto.FLOAT, None))
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(tensors, inputs)
