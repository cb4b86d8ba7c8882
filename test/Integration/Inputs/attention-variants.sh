#===- attention-variants.sh - Compile and run random attentions ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: attention-variants.sh SEED COUNT FOLDER plain|cached|long
# Sums of up to 1600 terms of size 1 in f32: 1e-5 is about a hundred roundings of the largest score's last place. One object on one and three threads, and one for
# AVX2, must give equal bits.
set -e
attune-test-attention "$1" "$2" "$3" "$4"
for cpu in native x86-64-v3; do
  attune compile "$3/model.mlir" --weights="$3/weights.safetensors" --emit=shared -o "$3/$cpu.so" --cpu=$cpu
done
attune-run run "$3/native.so" --input "$3/in.safetensors" --output "$3/out.safetensors" --threads=1
attune-run diff "$3/out.safetensors" "$3/expected.safetensors" --atol=1e-5 --rtol=1e-5
for run in "native 3" "x86-64-v3 2"; do
  set -- "$1" "$2" "$3" "$4" $run
  attune-run run "$3/$5.so" --input "$3/in.safetensors" --output "$3/again.safetensors" --threads="$6"
  cmp "$3/out.safetensors" "$3/again.safetensors"
done
