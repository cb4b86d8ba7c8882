//===- AArch64.cpp - CPU features of an AArch64 machine -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#if defined(__aarch64__)
#include "../CpuFeatures.h"

#include <cstring>
#include <sys/auxv.h>

namespace {
struct Feature {
  const char *name;
  int type; // AT_HWCAP or AT_HWCAP2
  unsigned bit;
};
} // namespace

static const Feature features[] = {
    {"fp-armv8", AT_HWCAP, 0},   {"neon", AT_HWCAP, 1},     {"aes", AT_HWCAP, 3},      {"sha2", AT_HWCAP, 6},     {"crc", AT_HWCAP, 7},
    {"lse", AT_HWCAP, 8},        {"fullfp16", AT_HWCAP, 9}, {"rdm", AT_HWCAP, 12},     {"dotprod", AT_HWCAP, 20}, {"fp16fml", AT_HWCAP, 23},
    {"sve", AT_HWCAP, 22},       {"sve2", AT_HWCAP2, 1},    {"i8mm", AT_HWCAP2, 13},   {"bf16", AT_HWCAP2, 14},   {"jsconv", AT_HWCAP, 13},
    {"complxnum", AT_HWCAP, 14}, {"flagm", AT_HWCAP, 27},   {"altnzcv", AT_HWCAP2, 7}, {"fptoint", AT_HWCAP2, 8}, {"cssc", AT_HWCAP2, 34},
    {"mops", AT_HWCAP2, 43},
};

int attune_cpu_has(const char *name) {
  if (!name)
    return -1;
  for (const Feature &feature : features)
    if (strcmp(feature.name, name) == 0)
      return getauxval(feature.type) >> feature.bit & 1;
  return -1;
}

int attune::requestTiles() { return 0; }

#endif
