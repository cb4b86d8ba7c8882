// Arithmetic on bf16 rounds each result, also on a CPU without instructions for it: 1 + 2^-9 is 1, so subtracting 1 gives
// 0, and the integer 257 is 256.
// RUN: %python %S/write_inputs.py %t.safetensors x:F32:2=1,3 y:F32:2=0.001953125,1 i:I64:2=257,2
// RUN: attune run --from-phase=linalg %s --input=%t.safetensors --print | FileCheck %s
// CHECK: rest F32 [2]
// CHECK-NEXT: 0, 1
// CHECK: integers F32 [2]
// CHECK-NEXT: 256, 2
#map = affine_map<(d0) -> (d0)>
func.func @forward(%x: tensor<?xf32> {xfmr.input = #xfmr.input<"x", [tokens]>}, %y: tensor<?xf32> {xfmr.input = #xfmr.input<"y", [tokens]>},
                   %i: tensor<?xi64> {xfmr.input = #xfmr.input<"i", [tokens]>})
    -> (tensor<?xf32> {xfmr.output = #xfmr.output<"rest", [tokens]>}, tensor<?xf32> {xfmr.output = #xfmr.output<"integers", [tokens]>})
    attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?xf32>
  %empty = tensor.empty(%tokens) : tensor<?xf32>
  %rest = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.truncf %a : f32 to bf16
    %q = arith.truncf %b : f32 to bf16
    %sum = arith.addf %p, %q : bf16
    %difference = arith.subf %sum, %p : bf16
    %wide = arith.extf %difference : bf16 to f32
    linalg.yield %wide : f32
  } -> tensor<?xf32>
  %integers = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%i : tensor<?xi64>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: i64, %out: f32):
    %rounded = arith.sitofp %a : i64 to bf16
    %wide = arith.extf %rounded : bf16 to f32
    linalg.yield %wide : f32
  } -> tensor<?xf32>
  return %rest, %integers : tensor<?xf32>, tensor<?xf32>
}
