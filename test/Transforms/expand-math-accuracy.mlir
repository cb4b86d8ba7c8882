//===- expand-math-accuracy.mlir - Errors of the polynomials, measured ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function as a loop over vectors with a scalar tail, swept over the floats against the C library in double. The tail computes the
// same values as the vectors once more: their bits must agree.
//
// REQUIRES: avx2
// RUN: attune-opt %s --attune-expand-math -o %t.mlir
// RUN: %S/../Target/CPU/Inputs/run-kernels %t.mlir %S/Inputs/expand-math-accuracy.c %t %cc x86-64-v3 x86-64-v4

func.func @kernel_exp2(%x: memref<?xf32>, %y: memref<?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %rest = arith.remui %n, %c16 : index
  %whole = arith.subi %n, %rest : index
  scf.for %i = %c0 to %whole step %c16 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %r = math.exp2 %v : vector<16xf32>
    vector.store %r, %y[%i] : memref<?xf32>, vector<16xf32>
  }
  scf.for %i = %whole to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = math.exp2 %v : f32
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return
}

func.func @kernel_exp(%x: memref<?xf32>, %y: memref<?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %rest = arith.remui %n, %c16 : index
  %whole = arith.subi %n, %rest : index
  scf.for %i = %c0 to %whole step %c16 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %r = math.exp %v : vector<16xf32>
    vector.store %r, %y[%i] : memref<?xf32>, vector<16xf32>
  }
  scf.for %i = %whole to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = math.exp %v : f32
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return
}

func.func @kernel_erf(%x: memref<?xf32>, %y: memref<?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %rest = arith.remui %n, %c16 : index
  %whole = arith.subi %n, %rest : index
  scf.for %i = %c0 to %whole step %c16 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %r = math.erf %v : vector<16xf32>
    vector.store %r, %y[%i] : memref<?xf32>, vector<16xf32>
  }
  scf.for %i = %whole to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = math.erf %v : f32
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return
}

func.func @kernel_tanh(%x: memref<?xf32>, %y: memref<?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %rest = arith.remui %n, %c16 : index
  %whole = arith.subi %n, %rest : index
  scf.for %i = %c0 to %whole step %c16 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %r = math.tanh %v : vector<16xf32>
    vector.store %r, %y[%i] : memref<?xf32>, vector<16xf32>
  }
  scf.for %i = %whole to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = math.tanh %v : f32
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return
}

func.func @kernel_log(%x: memref<?xf32>, %y: memref<?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %rest = arith.remui %n, %c16 : index
  %whole = arith.subi %n, %rest : index
  scf.for %i = %c0 to %whole step %c16 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %r = math.log %v : vector<16xf32>
    vector.store %r, %y[%i] : memref<?xf32>, vector<16xf32>
  }
  scf.for %i = %whole to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = math.log %v : f32
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return
}

func.func @kernel_rsqrt(%x: memref<?xf32>, %y: memref<?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %rest = arith.remui %n, %c16 : index
  %whole = arith.subi %n, %rest : index
  scf.for %i = %c0 to %whole step %c16 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %r = math.rsqrt %v : vector<16xf32>
    vector.store %r, %y[%i] : memref<?xf32>, vector<16xf32>
  }
  scf.for %i = %whole to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = math.rsqrt %v : f32
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return
}

