#===- halide-attention.sh - Random attentions by Halide --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: halide-attention.sh SEED COUNT FOLDER plain|cached|long
# By rules and by definition against the plain reference, for AVX-512 (where there is any) and AVX2. Tolerances are those of attention-variants.sh.
set -e
attune-test-attention "$1" "$2" "$3" "$4"
for how in native:auto native:none x86-64-v3:auto; do
  attune compile "$3/model.mlir" --weights="$3/weights.safetensors" --emit=shared -o "$3/halide.so" --kernels=halide --cpu="${how%:*}" --set schedule="${how#*:}"
  attune-run inspect "$3/halide.so" | grep -q halide
  attune-run run "$3/halide.so" --input "$3/in.safetensors" --output "$3/out.safetensors" --threads=2
  attune-run diff "$3/out.safetensors" "$3/expected.safetensors" --atol=1e-5 --rtol=1e-5 || { echo "$how"; exit 1; }
done
