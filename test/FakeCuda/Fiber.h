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

/// A stack and the point at which its code continues. A fiber may be abandoned at any point, because the kernels that
/// run on it own no resources.
class Fiber {
public:
  /// Makes the next switch to this fiber call |entry|, which must not return, on the stack of |bytes| bytes at |stack|.
  void prepare(char *stack, size_t bytes, void (*entry)());
  /// Stores the running code's state in |from| and continues |to|. Returns when another fiber switches to |from|.
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
