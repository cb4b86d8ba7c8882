//===- DotUnit.h - Instructions for low-precision products ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_DOTUNIT_H
#define ATTUNE_COMPILER_TARGET_CPU_DOTUNIT_H

namespace attune {

/// Instruction sets that multiply low-precision operands. The table is for projections whose weights have no format of
/// their own (`--weights-format`). It has the instruction for each type of input rows and type of packed weight panels;
/// "-" means that there is none. GroupedProduct.cpp and GroupedFloatProduct.cpp have the instructions for weights in
/// formats of integers. In a panel, two or four neighbors in K of one output are side by side (pairs, fours). In the
/// columns avx2 and avx512, vpdpbusd and vdpbf16ps are extensions (AVX-VNNI, AVX512_VNNI, AVX512_BF16) that a CPU with
/// the instruction set may lack: getSchedule chooses i8 and bf16 rows only if the CPU has them.
///
///   rows   panels      portable         avx2            avx512          amx
///   f32    bf16 pairs  fma              fma             fma             fma
///   bf16   bf16 pairs  -                -               vdpbf16ps       tdpbf16ps
///   i16    i8 pairs    multiply, add    vpmaddwd        vpmaddwd        vpmaddwd
///   i8     i8 fours    -                vpdpbusd        vpdpbusd        tdpbusd
enum class DotUnit { Portable, Avx2, Avx512, Amx };

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_DOTUNIT_H
