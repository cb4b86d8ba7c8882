//===- CacheElements.cpp - Elements of caches in memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled with -ffp-contract=off: with a fused multiply-add, some quantized values would differ from those that
// compiled code writes.
//===----------------------------------------------------------------------===//

#include "CacheElements.h"

#include <cmath>
#include <cstring>

using namespace attune;

static uint32_t bitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static float floatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static uint16_t toBf16(float value) {
  uint32_t bits = bitsOf(value);
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40); // a quiet NaN
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float fromBf16(uint16_t half) { return floatOf(static_cast<uint32_t>(half) << 16); }

static uint16_t toF16(float value) {
  uint32_t bits = bitsOf(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000) // 65520, half way from the largest f16 to the next power of two, and beyond
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) { // below 2^-14: f16 are 2^-24 apart there, as f32 are from 0.5 to 1
    uint32_t shifted = bitsOf(floatOf(magnitude) + 0.5f);
    return static_cast<uint16_t>(sign | (shifted - 0x3f000000));
  }
  return static_cast<uint16_t>(sign | (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

static float fromF16(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return floatOf(sign | 0x7f800000 | magnitude << 13);
  // The bits of an f16, moved to those of an f32, are its value times 2^-112, also if it is subnormal.
  return floatOf(sign | bitsOf(floatOf(magnitude << 13) * 0x1p112f));
}

namespace {
/// The addresses of one token in a head of a slot: component i is |step| * i bytes after |first|; |scale| is the
/// address of the scale, in a cache of I8 only.
struct Place {
  char *first, *scale;
  int64_t step;

  Place(const attune_cache_desc &cache, char *head, int64_t token) {
    int64_t bytes = cacheTokenBytes(cache.dtype, cache.size), element = cacheElementBytes(cache.dtype);
    if (cache.kind == ATTUNE_CACHE_KEYS) {
      char *panel = head + token / ATTUNE_CACHE_PANEL * ATTUNE_CACHE_PANEL * bytes;
      int64_t column = token % ATTUNE_CACHE_PANEL;
      first = panel + column * element;
      step = ATTUNE_CACHE_PANEL * element;
      scale = panel + cache.size * step + column * static_cast<int64_t>(sizeof(float));
    } else {
      first = head + token * bytes;
      step = element;
      scale = first + cache.size;
    }
  }
};
} // namespace

void attune::loadToken(const attune_cache_desc &cache, const char *head, int64_t token, float *components) {
  Place place(cache, const_cast<char *>(head), token);
  float scale = 1;
  if (cache.dtype == ATTUNE_I8)
    memcpy(&scale, place.scale, sizeof(scale));
  for (int64_t i = 0; i < cache.size; ++i) {
    const char *at = place.first + i * place.step;
    uint16_t half;
    if (cache.dtype == ATTUNE_F32)
      memcpy(&components[i], at, sizeof(float));
    else if (cache.dtype == ATTUNE_I8)
      components[i] = static_cast<float>(static_cast<int8_t>(*at)) * scale;
    else
      memcpy(&half, at, sizeof(half)), components[i] = cache.dtype == ATTUNE_BF16 ? fromBf16(half) : fromF16(half);
  }
}

/// Writes |components| as 8-bit integers with a scale, the largest magnitude divided by 127. An infinity or NaN among
/// them makes the scale NaN. If all magnitudes are below 2^-119, the scale and the integers are 0.
static void storeQuantized(const attune_cache_desc &cache, const Place &place, const float *components) {
  uint32_t largest = 0; // the bits of the largest magnitude; those of a NaN are larger than those of numbers
  for (int64_t i = 0; i < cache.size; ++i) {
    uint32_t magnitude = bitsOf(components[i]) & 0x7fffffff;
    largest = magnitude > largest ? magnitude : largest;
  }
  float magnitude = floatOf(largest), scale = 0, inverse = 0;
  bool isFinite = largest < 0x7f800000;
  if (!isFinite)
    scale = floatOf(0x7fc00000);
  else if (magnitude >= 0x1p-119f) // below, the inverse of the scale could be infinite
    scale = magnitude / 127, inverse = 127 / magnitude;
  memcpy(place.scale, &scale, sizeof(scale));
  for (int64_t i = 0; i < cache.size; ++i) {
    // The f32 sum with 1.5 * 2^23 has the nearest integer (ties to even) in its low bits.
    float shifted = isFinite ? components[i] * inverse + 12582912.0f : 12582912.0f;
    place.first[i * place.step] = static_cast<char>(bitsOf(shifted) & 0xff);
  }
}

void attune::storeToken(const attune_cache_desc &cache, char *head, int64_t token, const float *components) {
  Place place(cache, head, token);
  if (cache.dtype == ATTUNE_I8)
    return storeQuantized(cache, place, components);
  for (int64_t i = 0; i < cache.size; ++i) {
    char *at = place.first + i * place.step;
    uint16_t half = cache.dtype == ATTUNE_BF16 ? toBf16(components[i]) : cache.dtype == ATTUNE_F16 ? toF16(components[i]) : uint16_t(0);
    if (cache.dtype == ATTUNE_F32)
      memcpy(at, &components[i], sizeof(float));
    else
      memcpy(at, &half, sizeof(half));
  }
}
