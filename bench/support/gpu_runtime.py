# ===- gpu_runtime.py - The runtime and the driver, from Python ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs compiled objects on tensors of a GPU by the C API of the runtime; needs only Python's standard library."""
import ctypes
import time
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

F32, I64 = 0, 1


class Failure(Exception):
    """The message of a failure of the runtime or the driver."""


class Tensor(Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("rank", c_uint32), ("shape", POINTER(c_int64)), ("data", c_void_p),
                ("bytes", c_size_t)]


class DimLimit(Structure):
    _fields_ = [("name", c_char_p), ("max", c_int64)]


class SessionOptions(Structure):
    _fields_ = [("struct_bytes", c_size_t), ("limits", POINTER(DimLimit)), ("num_limits", c_size_t), ("num_threads", c_int64),
                ("host", c_void_p),
                ("memory", c_void_p), ("memory_bytes", c_size_t), ("stream", c_void_p)]


class Gpu:
    """The driver: memory and a stream."""

    def __init__(self):
        try:
            self.driver = ctypes.CDLL("libcuda.so.1")
        except OSError as problem:
            raise Failure(f"no NVIDIA driver: {problem}") from None
        device, self.context, self.stream = c_int(), c_void_p(), c_void_p()
        self.call("cuInit", c_uint32(0))
        self.call("cuDeviceGet", byref(device), c_int(0))
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, c_int(256), device)
        self.name = name.value.decode()
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), device)
        self.call("cuCtxPushCurrent_v2", self.context)
        self.call("cuStreamCreate", byref(self.stream), c_uint32(0))

    def call(self, function, *arguments):
        status = getattr(self.driver, function)(*arguments)
        if status:
            raise Failure(f"{function}: error {status}")

    def allocate(self, size):
        address = c_uint64()
        self.call("cuMemAlloc_v2", byref(address), c_size_t(size))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", c_uint64(address))

    def upload(self, data):
        """Copies |data| (an array or bytes) to the GPU; returns the address."""
        view = memoryview(data).cast("B")
        address = self.allocate(max(len(view), 16))
        source = (ctypes.c_char * len(view)).from_buffer_copy(view)
        self.call("cuMemcpyHtoDAsync_v2", c_uint64(address), source, c_size_t(len(view)), self.stream)
        self.wait()
        return address

    def download(self, address, size):
        target = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoHAsync_v2", target, c_uint64(address), c_size_t(size), self.stream)
        self.wait()
        return target.raw

    def wait(self):
        self.call("cuStreamSynchronize", self.stream)


class Object:
    """A session of a compiled object, whose tensors stay on the GPU."""

    def __init__(self, runtime, gpu, path, limits):
        self.runtime, self.gpu, self.owned = ctypes.CDLL(runtime), gpu, []
        self.runtime.attune_last_error.restype = c_char_p
        description = ctypes.c_char.in_dll(ctypes.CDLL(path), "attune_model")
        self.model, self.session = c_void_p(), c_void_p()
        self.check(self.runtime.attune_model_open(byref(description), None, byref(self.model)))
        options = SessionOptions()
        self.runtime.attune_session_options_init(byref(options))
        self.limits = (DimLimit * len(limits))(*[DimLimit(name.encode(), most) for name, most in limits.items()])
        options.limits, options.num_limits, options.stream = self.limits, len(limits), gpu.stream
        self.check(self.runtime.attune_session_create(self.model, byref(options), byref(self.session)))

    def check(self, status):
        if status:
            raise Failure(self.runtime.attune_last_error().decode())

    def tensor(self, name, dtype, shape, data=None):
        """Makes a tensor on the GPU, with the values of |data|, or uninitialized."""
        count = 1
        for size in shape:
            count *= size
        size = count * (8 if dtype == I64 else 4)
        address = self.gpu.upload(data) if data is not None else self.gpu.allocate(size)
        self.owned.append(address)
        return Tensor(name.encode(), dtype, len(shape), (c_int64 * len(shape))(*shape), address, size)

    def run(self, inputs, outputs):
        """Queues a call."""
        self.check(self.runtime.attune_session_run(self.session, None, (Tensor * len(inputs))(*inputs), c_size_t(len(inputs)),
                                                   (Tensor * len(outputs))(*outputs), c_size_t(len(outputs))))

    def seconds(self, inputs, outputs, budget):
        """Returns the time of a call in the best of several groups of calls that are queued together, |budget| seconds
        in all."""
        return best_seconds(lambda: self.run(inputs, outputs), self.gpu.wait, budget)

    def replay_seconds(self, inputs, outputs, budget):
        """Captures a call in a CUDA graph. Returns the time of a replay, or raises Failure if one has other bits than the
        call before."""
        gpu = self.gpu
        expected = [gpu.download(output.data, output.bytes) for output in outputs]
        graph, executable = c_void_p(), c_void_p()
        gpu.call("cuStreamBeginCapture_v2", gpu.stream, c_int(0))
        try:
            self.run(inputs, outputs)
        finally:
            gpu.call("cuStreamEndCapture", gpu.stream, byref(graph))
        gpu.call("cuGraphInstantiateWithFlags", byref(executable), graph, c_uint64(0))
        try:
            others = b"\xff" * max(output.bytes for output in outputs)
            for output in outputs:
                gpu.call("cuMemcpyHtoDAsync_v2", c_uint64(output.data), others, c_size_t(output.bytes), gpu.stream)
            gpu.wait()
            gpu.call("cuGraphLaunch", executable, gpu.stream)
            if expected != [gpu.download(output.data, output.bytes) for output in outputs]:
                raise Failure("a replay of the call's CUDA graph has other results than the call")
            return best_seconds(lambda: gpu.call("cuGraphLaunch", executable, gpu.stream), gpu.wait, budget)
        finally:
            gpu.call("cuGraphExecDestroy", executable)
            gpu.call("cuGraphDestroy", graph)

    def close(self):
        self.gpu.wait()
        self.runtime.attune_session_destroy(self.session)
        self.runtime.attune_model_close(self.model)
        for address in self.owned:
            self.gpu.free(address)


def best_seconds(queue, wait, budget):
    """Returns the time of |queue|() in the best of several groups; the calls of a group are queued together, then
    waited for."""
    queue(), wait()
    begin = time.perf_counter()
    queue(), wait()
    once = max(time.perf_counter() - begin, 1e-6)
    calls, best = max(1, min(1000, int(budget / 8 / once))), float("inf")
    for _ in range(8):
        begin = time.perf_counter()
        for _ in range(calls):
            queue()
        wait()
        best = min(best, (time.perf_counter() - begin) / calls)
    return best
