#===- attention-variants.sh - Compile and run random attentions ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: attention-variants.sh SEED COUNT FOLDER plain|cached|long [CPU]
#
# Sums of up to 1600 terms of size 1 in f32: 1e-5 is about a hundred roundings of the largest score's last place. One
# object on one and three threads, and one for CPU, must give equal bits.
set -e
folder=$3 cpu=$5
attune-test-attention "$1" "$2" "$folder" "$4"
for one in native $cpu; do
  attune compile "$folder/model.mlir" --weights="$folder/weights.safetensors" --emit=shared -o "$folder/$one.so" --cpu="$one"
done
attune-run run "$folder/native.so" --input "$folder/in.safetensors" --output "$folder/out.safetensors" --threads=1
attune-run diff "$folder/out.safetensors" "$folder/expected.safetensors" --atol=1e-5 --rtol=1e-5
for run in "native 3" ${cpu:+"$cpu 2"}; do
  set -- $run
  attune-run run "$folder/$1.so" --input "$folder/in.safetensors" --output "$folder/again.safetensors" --threads="$2"
  cmp "$folder/out.safetensors" "$folder/again.safetensors"
done
