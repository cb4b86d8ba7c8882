//===- Fiber.h - Threads of a block on one thread of the host ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_FIBER_H
#define ATTUNE_TEST_FAKECUDA_FIBER_H

#include <cstddef>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace attune::fake {

/// A stack and the state of the execution on it. A fiber may be abandoned at any time, because the code on it owns
/// nothing.
class Fiber {
public:
  /// Makes the next switch call |entry|, which must not return, on the |bytes| of |stack|.
  void prepare(char *stack, size_t bytes, void (*entry)());
  /// Continues with |to|; returns when another fiber switches back to |from|.
  static void switchTo(Fiber &from, Fiber &to);

private:
#if defined(__x86_64__)
  void *top = nullptr;
#else
  ucontext_t context;
#endif
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_FIBER_H
