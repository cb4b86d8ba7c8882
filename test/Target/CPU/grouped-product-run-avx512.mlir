// Products by panels of quantized weights by vpdpbusd in vectors of 512 bits, by the tests of grouped-product-run.mlir.
//
// REQUIRES: avx512-dots
// RUN: attune-opt %S/grouped-product-run.mlir --attune-vectorize-tiles="dot-unit=avx512 vnni" --attune-lower-quantize-rows --canonicalize --cse -o %t.mlir
// RUN: %S/Inputs/run-kernels %t.mlir %S/Inputs/grouped-product-run.c %t %cc cooperlake | FileCheck %s
// CHECK: 0 failures
