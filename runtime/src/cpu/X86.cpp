//===- X86.cpp - CPU features of an x86-64 machine ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A feature that has vector or tile registers counts as present only if the operating system saves these registers
// (XCR0).
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
#include "../CpuFeatures.h"

#include <cerrno>
#include <cpuid.h>
#include <cstring>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {
/// The registers in which cpuid returns the features of a leaf, as indices of an array of their values.
enum Register : uint8_t { EAX, EBX, ECX, EDX };
/// The state components that the system must save for a feature, as bits of XCR0. None: none; Avx: those of SSE and
/// AVX; Avx512: those of Avx and the three of AVX-512; Amx: the two of AMX.
enum SavedState : uint32_t { None = 0, Avx = 0x6, Avx512 = 0xe6, Amx = 0x60000 };

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  SavedState state;
};
} // namespace

static const Feature features[] = {
    {"x87", 1, 0, EDX, 0, None},
    {"cx8", 1, 0, EDX, 8, None},
    {"cmov", 1, 0, EDX, 15, None},
    {"mmx", 1, 0, EDX, 23, None},
    {"fxsr", 1, 0, EDX, 24, None},
    {"sse", 1, 0, EDX, 25, None},
    {"sse2", 1, 0, EDX, 26, None},
    {"sse3", 1, 0, ECX, 0, None},
    {"pclmul", 1, 0, ECX, 1, None},
    {"ssse3", 1, 0, ECX, 9, None},
    {"fma", 1, 0, ECX, 12, Avx},
    {"cx16", 1, 0, ECX, 13, None},
    {"sse4.1", 1, 0, ECX, 19, None},
    {"sse4.2", 1, 0, ECX, 20, None},
    {"crc32", 1, 0, ECX, 20, None},
    {"movbe", 1, 0, ECX, 22, None},
    {"popcnt", 1, 0, ECX, 23, None},
    {"aes", 1, 0, ECX, 25, None},
    {"xsave", 1, 0, ECX, 26, None},
    {"avx", 1, 0, ECX, 28, Avx},
    {"f16c", 1, 0, ECX, 29, Avx},
    {"rdrnd", 1, 0, ECX, 30, None},
    {"fsgsbase", 7, 0, EBX, 0, None},
    {"bmi", 7, 0, EBX, 3, None},
    {"avx2", 7, 0, EBX, 5, Avx},
    {"bmi2", 7, 0, EBX, 8, None},
    {"invpcid", 7, 0, EBX, 10, None},
    {"avx512f", 7, 0, EBX, 16, Avx512},
    {"avx512dq", 7, 0, EBX, 17, Avx512},
    {"rdseed", 7, 0, EBX, 18, None},
    {"adx", 7, 0, EBX, 19, None},
    {"avx512ifma", 7, 0, EBX, 21, Avx512},
    {"clflushopt", 7, 0, EBX, 23, None},
    {"clwb", 7, 0, EBX, 24, None},
    {"avx512cd", 7, 0, EBX, 28, Avx512},
    {"sha", 7, 0, EBX, 29, None},
    {"avx512bw", 7, 0, EBX, 30, Avx512},
    {"avx512vl", 7, 0, EBX, 31, Avx512},
    {"avx512vbmi", 7, 0, ECX, 1, Avx512},
    {"pku", 7, 0, ECX, 4, None},
    {"waitpkg", 7, 0, ECX, 5, None},
    {"avx512vbmi2", 7, 0, ECX, 6, Avx512},
    {"shstk", 7, 0, ECX, 7, None},
    {"gfni", 7, 0, ECX, 8, None},
    {"vaes", 7, 0, ECX, 9, Avx},
    {"vpclmulqdq", 7, 0, ECX, 10, Avx},
    {"avx512vnni", 7, 0, ECX, 11, Avx512},
    {"avx512bitalg", 7, 0, ECX, 12, Avx512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Avx512},
    {"rdpid", 7, 0, ECX, 22, None},
    {"movdiri", 7, 0, ECX, 27, None},
    {"movdir64b", 7, 0, ECX, 28, None},
    {"serialize", 7, 0, EDX, 14, None},
    {"amx-bf16", 7, 0, EDX, 22, Amx},
    {"avx512vp2intersect", 7, 0, EDX, 8, Avx512},
    {"avx512fp16", 7, 0, EDX, 23, Avx512},
    {"amx-tile", 7, 0, EDX, 24, Amx},
    {"amx-int8", 7, 0, EDX, 25, Amx},
    {"avxvnni", 7, 1, EAX, 4, Avx},
    {"avx512bf16", 7, 1, EAX, 5, Avx512},
    {"amx-fp16", 7, 1, EAX, 21, Amx},
    {"avxifma", 7, 1, EAX, 23, Avx},
    {"avxvnniint8", 7, 1, EDX, 4, Avx},
    {"avxneconvert", 7, 1, EDX, 5, Avx},
    {"avxvnniint16", 7, 1, EDX, 10, Avx},
    {"sgx", 7, 0, EBX, 2, None},
    {"rtm", 7, 0, EBX, 11, None},
    {"cldemote", 7, 0, ECX, 25, None},
    {"enqcmd", 7, 0, ECX, 29, None},
    {"uintr", 7, 0, EDX, 5, None},
    {"tsxldtrk", 7, 0, EDX, 16, None},
    {"pconfig", 7, 0, EDX, 18, None},
    {"sha512", 7, 1, EAX, 0, Avx},
    {"sm3", 7, 1, EAX, 1, Avx},
    {"sm4", 7, 1, EAX, 2, Avx},
    {"cmpccxadd", 7, 1, EAX, 7, None},
    {"amx-complex", 7, 1, EDX, 8, Amx},
    {"prefetchi", 7, 1, EDX, 14, None},
    {"ptwrite", 0x14, 0, EBX, 4, None},
    {"rdpru", 0x80000008, 0, EBX, 4, None},
    {"xsaveopt", 0xd, 1, EAX, 0, None},
    {"xsavec", 0xd, 1, EAX, 1, None},
    {"xsaves", 0xd, 1, EAX, 3, None},
    {"sahf", 0x80000001, 0, ECX, 0, None},
    {"lzcnt", 0x80000001, 0, ECX, 5, None},
    {"sse4a", 0x80000001, 0, ECX, 6, None},
    {"prfchw", 0x80000001, 0, ECX, 8, None},
    {"xop", 0x80000001, 0, ECX, 11, Avx},
    {"fma4", 0x80000001, 0, ECX, 16, Avx},
    {"tbm", 0x80000001, 0, ECX, 21, None},
    {"mwaitx", 0x80000001, 0, ECX, 29, None},
    {"64bit", 0x80000001, 0, EDX, 29, None},
    {"clzero", 0x80000008, 0, EBX, 0, None},
    {"wbnoinvd", 0x80000008, 0, EBX, 9, None},
};

/// Returns the state components that the system saves, the low 32 bits of XCR0; 0 if XCR0 cannot be read (cpuid reports
/// no OSXSAVE).
static uint32_t savedState() {
  unsigned regs[4];
  if (!__get_cpuid(1, &regs[0], &regs[1], &regs[2], &regs[3]) || !(regs[ECX] & (1u << 27)))
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

int attune_cpu_has(const char *name) {
  if (!name)
    return -1;
  for (const Feature &feature : features) {
    if (strcmp(feature.name, name) != 0)
      continue;
    unsigned regs[4] = {0, 0, 0, 0};
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &regs[0], &regs[1], &regs[2], &regs[3]))
      return 0;
    return (regs[feature.reg] >> feature.bit & 1) && (savedState() & feature.state) == feature.state;
  }
  return -1;
}

int attune::requestTiles() {
#if defined(__linux__)
  constexpr long requestPermission = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0 ? 0 : errno;
#else
  return ENOSYS;
#endif
}

#endif
