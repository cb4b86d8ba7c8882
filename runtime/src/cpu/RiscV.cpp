//===- RiscV.cpp - CPU features of a RISC-V machine -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#if defined(__riscv) && defined(__linux__)
#include "../CpuFeatures.h"

#include <cstring>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
/// An extension, and its bit in the answer of riscv_hwprobe for key IMA_EXT_0 (Linux 6.4 and later).
struct Feature {
  const char *name;
  unsigned bit;
};
/// A feature that promises vector registers of at least |bits| bits.
struct VectorLength {
  const char *name;
  unsigned long bits;
};
} // namespace

static const Feature features[] = {{"zba", 3},     {"zbb", 4},   {"zbs", 5},      {"zbc", 7},  {"zvbb", 17},   {"zfh", 27},
                                   {"zfhmin", 28}, {"zvfh", 30}, {"zvfhmin", 31}, {"zfa", 32}, {"zicond", 35}, {"zcb", 44}};
static const VectorLength lengths[] = {{"zvl256b", 256}, {"zvl512b", 512}, {"zvl1024b", 1024}};

/// Returns true if the system reports (AT_HWCAP) the extension that is named by |letter|, "a" to "z".
static bool hasLetter(char letter) { return getauxval(AT_HWCAP) >> (letter - 'a') & 1; }

/// Returns the number of bits of a vector register, 0 without vectors.
static unsigned long vectorBits() {
  if (!hasLetter('v'))
    return 0;
  unsigned long bytes;
  __asm__("csrr %0, 0xc22" : "=r"(bytes)); // vlenb
  return bytes * 8;
}

/// Sets |out| to the answer of riscv_hwprobe for IMA_EXT_0. Returns false if the system does not know the call or the
/// key.
static bool probeExtensions(uint64_t &out) {
  constexpr long riscvHwprobe = 258;
  struct {
    int64_t key;
    uint64_t value;
  } pair = {4, 0};
  bool known = syscall(riscvHwprobe, &pair, 1, 0, nullptr, 0) == 0 && pair.key == 4;
  out = pair.value;
  return known;
}

int attune_cpu_has(const char *name) {
  if (!name)
    return -1;
  if (name[0] >= 'a' && name[0] <= 'z' && !name[1])
    return hasLetter(name[0]);
  for (const VectorLength &length : lengths)
    if (strcmp(length.name, name) == 0)
      return vectorBits() >= length.bits;
  uint64_t extensions;
  for (const Feature &feature : features)
    if (strcmp(feature.name, name) == 0)
      return probeExtensions(extensions) ? int(extensions >> feature.bit & 1) : -1;
  return -1;
}

int attune::requestTiles() { return 0; }

#endif
