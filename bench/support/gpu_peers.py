# ===- gpu_peers.py - cuBLAS, flash attention and torch.compile ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times PyTorch in the same run on the same shapes, if it is installed and has a GPU."""
from support.gpu_runtime import best_seconds


class Peers:
    """PyTorch, or the reason why there is none."""

    def __init__(self, budget, wanted=True):
        self.torch, self.budget, self.absent, self.transformers = None, budget, "", None
        if not wanted:
            self.absent = "PyTorch is not asked for: ours alone"
            return
        try:
            import torch
        except ImportError:
            self.absent = "PyTorch is not installed: no cuBLAS, flash attention or torch.compile beside ours"
            return
        if not torch.cuda.is_available():
            self.absent = "PyTorch has no GPU: no cuBLAS, flash attention or torch.compile beside ours"
            return
        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = False
        try:
            import transformers
            self.transformers = transformers
        except ImportError:
            self.absent = "transformers is not installed: whole models are measured alone"

    def type(self, dtype):
        return {"f32": self.torch.float32, "bf16": self.torch.bfloat16, "f16": self.torch.float16}[dtype]

    def random(self, dtype, *shape):
        return self.torch.randn(*shape, device="cuda", dtype=self.type(dtype))

    def seconds(self, call):
        with self.torch.inference_mode():
            return best_seconds(call, self.torch.cuda.synchronize, self.budget)

    def linear(self, dtype, tokens, k, n):
        """Times a projection by cuBLAS."""
        if not self.torch:
            return None
        x, w = self.random(dtype, tokens, k), self.random(dtype, n, k)
        return self.seconds(lambda: self.torch.nn.functional.linear(x, w))

    def attention(self, dtype, batch, length, heads, size, causal):
        """Times scaled_dot_product_attention, which is flash attention if the type allows it."""
        if not self.torch:
            return None
        q, k, v = (self.random(dtype, batch, heads, length, size) for _ in range(3))
        attend = self.torch.nn.functional.scaled_dot_product_attention
        if dtype == "f32":
            return self.seconds(lambda: attend(q, k, v, is_causal=causal))
        from torch.nn.attention import SDPBackend, sdpa_kernel
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return self.seconds(lambda: attend(q, k, v, is_causal=causal))

    def model(self, row, batch, length):
        """Times the model of transformers after torch.compile."""
        if not self.torch or not self.transformers:
            return None
        config = self.transformers.AutoConfig.for_model(**row["config"])
        kind = self.transformers.AutoModel if row["model_type"] == "bert" else self.transformers.AutoModelForCausalLM
        config.use_cache = False
        alone = {"add_pooling_layer": False} if row["model_type"] == "bert" else {}  # as ours is compiled
        model = self.torch.compile(kind.from_config(config, **alone).to("cuda", self.type(row["dtype"])).eval())
        ids = self.torch.randint(0, config.vocab_size, (batch, length), device="cuda")
        return self.seconds(lambda: model(ids))
