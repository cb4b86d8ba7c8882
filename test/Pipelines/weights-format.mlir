// The format of weights is a property of the target: a flag of the phases, and text in the attribute.
// RUN: rm -rf %t && split-file %s %t
// RUN: attune-opt %t/model.mlir --attune-to-dialect="cpu=x86-64-v3 precision=int8 weights-format=int4:32" | FileCheck %s --check-prefix=FLAG
// FLAG: xfmr.linear %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>}

// RUN: attune-opt %t/target.mlir --attune-replace-target="cpu=x86-64-v3 precision=int8 weights-format=int8:64:asym" -o %t/replaced.mlir
// RUN: FileCheck %s --check-prefix=REPLACED --input-file=%t/replaced.mlir
// REPLACED: rt.target = #rt.target<"cpu", {{{.*}}precision = "int8", {{.*}}weights_format = "int8:64:asym"}>
// RUN: attune-opt %t/replaced.mlir --attune-to-dialect --attune-to-linalg | FileCheck %s --check-prefix=PANELS
// PANELS: xfmr.weight @w.quantized : tensor<1x1x1088xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<8x20xf32>>, 16, <"int8:64:asym">>
// PANELS: tile.grouped_product

// RUN: not attune-opt %t/model.mlir --attune-to-dialect="precision=int8 weights-format=int9:32" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: weights-format: expected native, auto, bf16, f16, or int4 or int8 with groups {{.*}}, got 'int9:32'
// RUN: not attune-opt %t/target.mlir --attune-replace-target="precision=int8 weights-format=int9:32" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: attune-opt %t/model.mlir --attune-to-dialect=weights-format=int4:32 | FileCheck %s --check-prefix=F32
// F32: xfmr.linear %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int4:32">} :
// RUN: sed -e 's/int8:64:asym/int8:65/' %t/replaced.mlir > %t/damaged.mlir
// RUN: not attune-opt %t/damaged.mlir --attune-to-dialect 2>&1 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: error: 'rt.target': 'weights_format': expected native, auto, bf16, {{.*}}, got 'int8:65'

// Formats for names are a property of the target, too. With bf16 products, bf16 is the native format of projections.
// RUN: attune-opt %t/target.mlir --attune-replace-target="cpu=x86-64-v3 weights-format=int4:32,w=bf16" -o %t/named.mlir
// RUN: FileCheck %s --check-prefix=NAMED --input-file=%t/named.mlir
// NAMED: weights_format = "int4:32,w=bf16"
// RUN: attune-opt %t/named.mlir --attune-to-dialect --attune-to-linalg | FileCheck %s --check-prefix=BF16
// BF16: xfmr.weight @w.converted.panels : tensor<1x20x16xbf16> = #xfmr.panels<#xfmr.convert<#xfmr.tensor<"w" : tensor<8x20xf32>>, bf16>, 16>
// RUN: attune-opt %t/target.mlir --attune-replace-target="cpu=x86-64-v3 precision=bf16 weights-format=bf16,w=int4:32" \
// RUN:   | FileCheck %s --check-prefix=NATIVE
// NATIVE: weights_format = "w=int4:32"

//--- model.mlir
xfmr.weight @w : tensor<8x20xf32> = #xfmr.tensor<"w" : tensor<8x20xf32>>
func.func @entry(%x: tensor<?x20xf32>) -> tensor<?x8xf32> {
  %w = xfmr.weight_ref @w : tensor<8x20xf32>
  %y = xfmr.linear %x, %w : tensor<?x20xf32>, tensor<8x20xf32>
  return %y : tensor<?x8xf32>
}

//--- target.mlir
module attributes {rt.target = #rt.target<"cpu", {features = [], kernels = "mlir", precision = "f32", vector_bits = 256, vector_registers = 16}>} {
  xfmr.weight @w : tensor<8x20xf32> = #xfmr.tensor<"w" : tensor<8x20xf32>>
  func.func @entry(%x: tensor<?x20xf32>) -> tensor<?x8xf32> {
    %w = xfmr.weight_ref @w : tensor<8x20xf32>
    %y = xfmr.linear %x, %w : tensor<?x20xf32>, tensor<8x20xf32>
    return %y : tensor<?x8xf32>
  }
}
