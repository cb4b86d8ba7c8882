//===- InstructionSets.h - Code for several instruction sets ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles versions of a function of the compiler, one for each instruction set, and chooses among them at run time:
//
//   #define ATTUNE_SUM(NAME, ATTRIBUTE) ATTRIBUTE float sum##NAME(const float *values) { return sum(values); }
//   ATTUNE_FOR_INSTRUCTION_SETS(ATTUNE_SUM)
//   static const auto chosen = ATTUNE_CHOOSE_VERSION(sum);
//
// The functions that a version calls, such as sum(), must be inlined into it: a function that is not inlined uses only
// the instruction set of the build. If results must not depend on the machine, the file that uses these macros must be
// compiled with -ffp-contract=off, so that no version contains fused multiply-adds.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_INSTRUCTIONSETS_H
#define ATTUNE_SUPPORT_INSTRUCTIONSETS_H

#if defined(__x86_64__)

/// Expands DEFINE(NAME, ATTRIBUTE) for each instruction set. Code for Avx512 uses vectors of 32 bytes, as code for Avx2
/// does, but has 32 registers for them instead of 16.
#define ATTUNE_FOR_INSTRUCTION_SETS(DEFINE)                                                                                                \
  DEFINE(Baseline, )                                                                                                                       \
  DEFINE(Avx2, __attribute__((target("avx2"))))                                                                                            \
  DEFINE(Avx512, __attribute__((target("avx2,avx512f,avx512vl,avx512dq"))))
/// Evaluates to PREFIX followed by the name of the largest of these instruction sets that this CPU supports.
#define ATTUNE_CHOOSE_VERSION(PREFIX)                                                                                                      \
  (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") ? PREFIX##Avx512                                               \
   : __builtin_cpu_supports("avx2")                                         ? PREFIX##Avx2                                                 \
                                                                            : PREFIX##Baseline)

#else

#define ATTUNE_FOR_INSTRUCTION_SETS(DEFINE) DEFINE(Baseline, )
#define ATTUNE_CHOOSE_VERSION(PREFIX) (PREFIX##Baseline)

#endif

#endif // ATTUNE_SUPPORT_INSTRUCTIONSETS_H
