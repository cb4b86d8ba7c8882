//===- Architectures.cpp - CPU architectures of host code -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/Architectures.h"

using namespace attune;

// The extensions that code for each architecture always uses. The sums of f32 products are defined by fused
// multiply-adds, so each list has the extension with these instructions: `fma`, `neon` and `f`.
static constexpr RequiredFeature kX86Required[] = {{"avx2", "AVX2"}, {"fma", "FMA"}};
static constexpr RequiredFeature kArmRequired[] = {{"neon", "NEON"}};
static constexpr RequiredFeature kRiscvRequired[] = {{"m", "M extension"}, {"f", "F extension"}, {"d", "D extension"}};

static constexpr const char *kX86Features[] = {
    "sse3",        "ssse3",        "sse4.1",     "sse4.2",     "popcnt",     "lzcnt",       "movbe",        "bmi",
    "bmi2",        "adx",          "avx",        "avx2",       "fma",        "f16c",        "gfni",         "avxvnni",
    "avxvnniint8", "avxvnniint16", "avxifma",    "avx512f",    "avx512bw",   "avx512cd",    "avx512dq",     "avx512vl",
    "avx512vnni",  "avx512bf16",   "avx512fp16", "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq"};
static constexpr const char *kArmFeatures[] = {"dotprod", "fullfp16",  "fp16fml", "bf16",  "i8mm",    "sve",     "sve2", "lse",
                                               "rdm",     "complxnum", "jsconv",  "flagm", "altnzcv", "fptoint", "cssc", "mops"};
static constexpr const char *kRiscvFeatures[] = {"v",      "zvl256b", "zvl512b", "zvl1024b", "zba",    "zbb",  "zbs",     "zbc",
                                                 "zicond", "zcb",     "zfa",     "zfh",      "zfhmin", "zvfh", "zvfhmin", "zvbb"};

// APX, and extensions of older AMD CPUs: kX86Features lacks them, so the runtime would not check that the CPU has them.
static constexpr const char *kX86Withheld[] = {"egpr", "push2pop2", "ppx", "ndd", "ccmp", "nf", "cf", "zu", "xop", "fma4", "tbm"};
// Vendor extensions, which operating systems do not report to the runtime.
static constexpr const char *kRiscvWithheld[] = {"x*"};

static const Architecture kArchitectures[] = {
    {llvm::Triple::x86_64, "x86-64-v3", "", "x86-64-v3", kX86Required, kX86Features, kX86Withheld, ""},
    {llvm::Triple::aarch64, "generic", "", "generic", kArmRequired, kArmFeatures, {}, ""},
    {llvm::Triple::riscv64, "generic-rv64", "+m,+a,+f,+d,+c", "generic-rv64,+m,+a,+f,+d,+c", kRiscvRequired, kRiscvFeatures, kRiscvWithheld,
     "lp64d"},
};

const Architecture *attune::findArchitecture(const llvm::Triple &triple) {
  for (const Architecture &architecture : kArchitectures)
    if (architecture.arch == triple.getArch())
      return &architecture;
  return nullptr;
}
