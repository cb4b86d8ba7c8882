// Products by panels of quantized weights by vpdpbusd in vectors of 256 bits, by the tests of grouped-product-run.mlir.
//
// REQUIRES: avxvnni
// RUN: attune-opt %S/grouped-product-run.mlir --attune-vectorize-tiles="dot-unit=avx2 vnni" --attune-lower-quantize-rows --canonicalize --cse -o %t.mlir
// RUN: %S/Inputs/run-kernels %t.mlir %S/Inputs/grouped-product-run.c %t %cc alderlake | FileCheck %s
// CHECK: 0 failures
