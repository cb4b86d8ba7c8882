//===- StopMatcher.cpp - Texts that end a generation ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StopMatcher.h"

#include <cstring>

using namespace attune::text;

size_t StopSet::memoryBytes(const char *const *strings, size_t count) {
  size_t bytes = count * (sizeof(size_t) + sizeof(uint32_t *));
  for (size_t i = 0; i < count; ++i)
    bytes += (strlen(strings[i]) + 1) * sizeof(uint32_t);
  return bytes;
}

void StopSet::open(const char *const *given, size_t number, void *memory) {
  strings = given;
  count = number;
  sizes = static_cast<size_t *>(memory);
  borders = reinterpret_cast<uint32_t **>(sizes + count);
  uint32_t *next = reinterpret_cast<uint32_t *>(borders + count);
  for (size_t i = 0; i < count; ++i) {
    sizes[i] = strlen(strings[i]);
    borders[i] = next;
    next += sizes[i] + 1;
    borders[i][0] = 0;
    if (sizes[i])
      borders[i][1] = 0;
    for (size_t matched = 1; matched < sizes[i]; ++matched)
      borders[i][matched + 1] = static_cast<uint32_t>(advance(i, borders[i][matched], static_cast<uint8_t>(strings[i][matched])));
  }
}

size_t StopSet::advance(size_t index, size_t matched, uint8_t byte) const {
  const char *string = strings[index];
  while (matched > 0 && static_cast<uint8_t>(string[matched]) != byte)
    matched = borders[index][matched];
  return static_cast<uint8_t>(string[matched]) == byte ? matched + 1 : 0;
}

void StopMatcher::open(const StopSet &stops, size_t *memory) {
  set = &stops;
  states = memory;
  reset();
}

void StopMatcher::reset() {
  seen = shown = 0;
  waiting = nullptr;
  for (size_t i = 0; i < set->size(); ++i)
    states[i] = 0;
}

bool StopMatcher::scan(const char *data, size_t bytes) {
  for (const char *end = data + bytes; data < end; ++data) {
    ++seen;
    size_t longest = 0;
    for (size_t i = 0; i < set->size(); ++i) {
      states[i] = set->advance(i, states[i], static_cast<uint8_t>(*data));
      if (states[i] == set->bytes(i) && states[i] > longest)
        longest = states[i];
    }
    if (longest) {
      shown = seen - longest;
      return true;
    }
  }
  size_t most = 0;
  for (size_t i = 0; i < set->size(); ++i)
    if (states[i] > most) {
      most = states[i];
      waiting = set->string(i);
    }
  shown = seen - most;
  return false;
}
