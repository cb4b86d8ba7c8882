// Pools of all kinds by their definitions, of three sequences of 3, 1 and 2 tokens, with and without tokens to skip.
// RUN: %python %S/write_inputs.py %t.safetensors x:F32:6x2=1,2,3,4,5,6,7,8,9,10,11,12 ends:I64:4=0,3,4,6 skip:I64:3=1,1,1
// RUN: attune run --from-phase=import %s --input=%t.safetensors --print | FileCheck %s
// CHECK: mean F32 [3, 2]
// CHECK: 3, 4
// CHECK: 7, 8
// CHECK: 10, 11
// CHECK: last F32 [3, 2]
// CHECK: 5, 6
// CHECK: 7, 8
// CHECK: 11, 12
// CHECK: max F32 [3, 2]
// CHECK: 5, 6
// CHECK: 7, 8
// CHECK: 11, 12
// CHECK: root F32 [3, 2]
// CHECK: 5.196
// CHECK: weighted F32 [3, 2]
// CHECK: 3.66
// CHECK: skipped F32 [3, 2]
// CHECK: 4, 5
// CHECK: 0, 0
// CHECK: 11, 12
// CHECK: behind F32 [3, 2]
// CHECK: 4.2, 5.2
func.func @forward(%x: tensor<?x2xf32> {xfmr.input = #xfmr.input<"x", [tokens, 2]>}, %ends: tensor<?xi64> {xfmr.input = #xfmr.input<"ends", [ends]>},
                   %skip: tensor<?xi64> {xfmr.input = #xfmr.input<"skip", [batch]>})
    -> (tensor<?x2xf32> {xfmr.output = #xfmr.output<"mean", [batch, 2]>}, tensor<?x2xf32> {xfmr.output = #xfmr.output<"last", [batch, 2]>},
        tensor<?x2xf32> {xfmr.output = #xfmr.output<"max", [batch, 2]>}, tensor<?x2xf32> {xfmr.output = #xfmr.output<"root", [batch, 2]>},
        tensor<?x2xf32> {xfmr.output = #xfmr.output<"weighted", [batch, 2]>}, tensor<?x2xf32> {xfmr.output = #xfmr.output<"skipped", [batch, 2]>},
        tensor<?x2xf32> {xfmr.output = #xfmr.output<"behind", [batch, 2]>})
    attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %mean = xfmr.pool <mean> %x, %ends : tensor<?x2xf32>
  %last = xfmr.pool <last> %x, %ends : tensor<?x2xf32>
  %max = xfmr.pool <max> %x, %ends : tensor<?x2xf32>
  %root = xfmr.pool <mean_sqrt_length> %x, %ends : tensor<?x2xf32>
  %weighted = xfmr.pool <weighted_mean> %x, %ends : tensor<?x2xf32>
  %skipped = xfmr.pool <mean> %x, %ends skip(%skip) : tensor<?x2xf32>
  %behind = xfmr.pool <weighted_mean> %x, %ends skip(%skip) : tensor<?x2xf32>
  return %mean, %last, %max, %root, %weighted, %skipped, %behind
      : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}
