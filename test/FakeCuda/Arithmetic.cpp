//===- Arithmetic.cpp - Operations of one thread ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include <cmath>

using namespace attune;
using namespace attune::fake;

uint16_t fake::toBf16(float value) {
  auto bits = static_cast<uint32_t>(fromFloat(value));
  return static_cast<uint16_t>(value != value ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float fake::fromF16(uint64_t word) {
  uint32_t sign = (word & 0x8000) << 16, exponent = word >> 10 & 31, fraction = word & 1023;
  if (exponent == 31)
    return toFloat(sign | 0x7f800000 | fraction << 13);
  float magnitude = exponent ? std::ldexp(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25)
                             : std::ldexp(static_cast<float>(fraction), -24);
  return sign ? -magnitude : magnitude;
}

uint16_t fake::toF16(float value) {
  auto sign = static_cast<uint16_t>(fromFloat(value) >> 16 & 0x8000);
  float magnitude = std::fabs(value);
  if (magnitude != magnitude)
    return 0x7fff;
  if (magnitude >= 65520.0f)
    return sign | 0x7c00;
  int exponent = magnitude < 0x1p-14f ? -14 : std::ilogb(magnitude);
  // A carry out of the fraction correctly increments the exponent.
  auto fraction = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(exponent + 14) << 10) + fraction));
}

/// Executes an operation on one f32.
template <float (*compute)(float)>
static void unary(const emulated::Operation &, const uint64_t *inputs, uint64_t *outputs) {
  outputs[0] = fromFloat(compute(toFloat(inputs[0])));
}

/// Executes an operation on two f32.
template <float (*compute)(float, float)>
static void binary(const emulated::Operation &, const uint64_t *inputs, uint64_t *outputs) {
  outputs[0] = fromFloat(compute(toFloat(inputs[0]), toFloat(inputs[1])));
}

static float exponential(float x) { return std::exp2(x); }
static float logarithm(float x) { return std::log2(x); }
static float reciprocal(float x) { return 1 / x; }
static float inverseRoot(float x) { return 1 / std::sqrt(x); }
static float root(float x) { return std::sqrt(x); }
static float sine(float x) { return std::sin(x); }
static float cosine(float x) { return std::cos(x); }
static float tangent(float x) { return std::tanh(x); }
static float absolute(float x) { return std::fabs(x); }
static float larger(float x, float y) { return std::fmax(x, y); }
static float smaller(float x, float y) { return std::fmin(x, y); }
static float quotient(float x, float y) { return x / y; }
static float tf32(float x) { return toFloat((fromFloat(x) + 0x1000) & ~uint64_t(0x1fff)); }

static void fusedMultiply(const emulated::Operation &, const uint64_t *inputs, uint64_t *outputs) {
  outputs[0] = fromFloat(std::fma(toFloat(inputs[0]), toFloat(inputs[1]), toFloat(inputs[2])));
}

/// Executes cvt.rn.bf16x2.f32 or cvt.rn.f16x2.f32. The first operand becomes the upper half of the result.
template <uint16_t (*convert)(float)>
static void convertPair(const emulated::Operation &, const uint64_t *inputs, uint64_t *outputs) {
  outputs[0] = static_cast<uint32_t>(convert(toFloat(inputs[0]))) << 16 | convert(toFloat(inputs[1]));
}

template <uint16_t (*convert)(float)>
static void convertOne(const emulated::Operation &, const uint64_t *inputs, uint64_t *outputs) {
  outputs[0] = convert(toFloat(inputs[0]));
}

/// Executes ex2.approx.ftz.bf16x2.
static void exponentialPair(const emulated::Operation &, const uint64_t *inputs, uint64_t *outputs) {
  outputs[0] = static_cast<uint32_t>(toBf16(std::exp2(fromBf16(inputs[0] >> 16)))) << 16 | toBf16(std::exp2(fromBf16(inputs[0])));
}

/// Executes fences, prefetches and griddepcontrol, which need no code: operations and launches run in order here.
static void nothing(const emulated::Operation &, const uint64_t *, uint64_t *) {}

const HandlerEntry fake::arithmeticHandlers[] = {{"ex2.approx.ftz.bf16x2", exponentialPair},
                                                 {"ex2.approx", unary<exponential>},
                                                 {"lg2.approx", unary<logarithm>},
                                                 {"rcp.approx", unary<reciprocal>},
                                                 {"rcp.rn", unary<reciprocal>},
                                                 {"rsqrt.approx", unary<inverseRoot>},
                                                 {"sqrt", unary<root>},
                                                 {"sin.approx", unary<sine>},
                                                 {"cos.approx", unary<cosine>},
                                                 {"tanh.approx.f32", unary<tangent>},
                                                 {"nvvm.fabs", unary<absolute>},
                                                 {"nvvm.fmax", binary<larger>},
                                                 {"nvvm.fmin", binary<smaller>},
                                                 {"div.approx", binary<quotient>},
                                                 {"div.rn", binary<quotient>},
                                                 {"nvvm.fma.rn", fusedMultiply},
                                                 {"f2tf32.rna", unary<tf32>},
                                                 {"cvt.rna.tf32.f32", unary<tf32>},
                                                 {"ff2bf16x2.rn", convertPair<toBf16>},
                                                 {"cvt.rn.bf16x2.f32", convertPair<toBf16>},
                                                 {"ff2f16x2.rn", convertPair<toF16>},
                                                 {"cvt.rn.f16x2.f32", convertPair<toF16>},
                                                 {"f2bf16.rn", convertOne<toBf16>},
                                                 {"membar", nothing},
                                                 {"fence", nothing},
                                                 {"prefetch", nothing},
                                                 {"griddepcontrol", nothing},
                                                 {nullptr, nullptr}};
