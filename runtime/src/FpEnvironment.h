//===- FpEnvironment.h - Rounding and denormals during a call -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results are bit for bit the same for every number of threads only if all threads have the same floating-point modes.
// If a caller flushes denormals (or rounds up), worker 0, which is the caller's thread, would otherwise compute other
// results than the other workers.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_FPENVIRONMENT_H
#define ATTUNE_RUNTIME_FPENVIRONMENT_H

#include <cstdint>

namespace attune {

#if defined(__x86_64__)
inline uint64_t readFpEnvironment() { return __builtin_ia32_stmxcsr(); }
inline void writeFpEnvironment(uint64_t value) { __builtin_ia32_ldmxcsr(static_cast<uint32_t>(value)); }
constexpr uint64_t defaultFpEnvironment = 0x1f80; // nearest, denormals kept, exceptions masked
#elif defined(__aarch64__)
inline uint64_t readFpEnvironment() {
  uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
inline void writeFpEnvironment(uint64_t value) { __asm__ volatile("msr fpcr, %0" : : "r"(value)); }
constexpr uint64_t defaultFpEnvironment = 0;
#else
inline uint64_t readFpEnvironment() { return 0; }
inline void writeFpEnvironment(uint64_t) {}
constexpr uint64_t defaultFpEnvironment = 0;
#endif

/// Sets the default modes of the calling thread and does not restore the former ones; for threads that the runtime
/// owns. Has an effect on x86-64 and AArch64 only.
inline void resetFpEnvironment() { writeFpEnvironment(defaultFpEnvironment); }

/// Sets the default modes of the calling thread for a scope and restores the former ones at its end. Has an effect on
/// x86-64 and AArch64 only.
class FpEnvironmentScope {
public:
  FpEnvironmentScope() : saved(readFpEnvironment()) { resetFpEnvironment(); }
  ~FpEnvironmentScope() { writeFpEnvironment(saved); }

private:
  uint64_t saved;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_FPENVIRONMENT_H
