//===- CpuFeatures.cpp - CPU features of this machine ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Features have LLVM's names. The files in cpu/ have a table of known features for each architecture. A feature that is
// not in the table is an error when a model is opened, instead of a crash when the model runs. When the compiler begins
// to use a feature, the table must get an entry.
//===----------------------------------------------------------------------===//

#include "CpuFeatures.h"
#include "Error.h"

#include <cstdio>
#include <cstring>

#if !defined(__x86_64__) && !defined(__aarch64__) && !(defined(__riscv) && defined(__linux__))
int attune_cpu_has(const char *) { return -1; }

int attune::requestTiles() { return 0; }
#endif

/// Appends |name| to the comma-separated |list|, which has room for |size| bytes; truncates the text if it is too long.
static void append(char *list, size_t size, const char *name) {
  size_t used = strlen(list);
  snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

attune_status attune::checkCpuFeatures(const attune_model_desc &desc) {
  char missing[512] = "", unknown[256] = "";
  bool tiles = false;
  const char *cursor = desc.cpu_features ? desc.cpu_features : "";
  while (*cursor) {
    size_t length = strcspn(cursor, ",");
    char name[64];
    snprintf(name, sizeof(name), "%.*s", static_cast<int>(length < 63 ? length : 63), cursor);
    cursor += length + (cursor[length] == ',');
    // LLVM writes features with a sign, "+avx2" or "-sse4a". The code does not need disabled ones.
    const char *feature = name[0] == '+' ? name + 1 : name;
    if (!*feature || *feature == '-')
      continue;
    int has = attune_cpu_has(feature);
    tiles |= strcmp(feature, "amx-tile") == 0;
    if (has == 0)
      append(missing, sizeof(missing), feature);
    else if (has < 0)
      append(unknown, sizeof(unknown), feature);
  }
  const char *cpu = desc.cpu ? desc.cpu : "unknown";
  if (*missing)
    return fail(ATTUNE_INCOMPATIBLE, "model '%s' was compiled for cpu '%s'; this machine lacks %s", desc.name, cpu, missing);
  if (*unknown)
    return fail(ATTUNE_INCOMPATIBLE, "model '%s' was compiled for cpu '%s' and needs %s, which this runtime cannot check", desc.name, cpu,
                unknown);
  if (int error = tiles ? requestTiles() : 0)
    return fail(ATTUNE_INCOMPATIBLE, "model '%s' was compiled for cpu '%s' and needs amx-tile, which the system does not grant: %s",
                desc.name, cpu, strerror(error));
  return ATTUNE_OK;
}
