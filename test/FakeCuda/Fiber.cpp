//===- Fiber.cpp - Threads of a block on one thread of the host -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Fiber.h"

#include <cstdint>
#include <cstring>

using namespace attune::fake;

#if defined(__x86_64__)

// Pushes the callee-saved registers onto the stack, stores the stack pointer to *%rdi, and continues the fiber whose
// stack pointer is %rsi. (swapcontext also makes a system call for the signal mask each time and takes twenty times as
// long.)
asm(R"(
.text
.type attune_fake_switch,@function
attune_fake_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size attune_fake_switch, .-attune_fake_switch
)");
extern "C" __attribute__((visibility("hidden"))) void attune_fake_switch(void **save, void *top);

void Fiber::prepare(char *stack, size_t bytes, void (*entry)()) {
  // The stack holds the words that attune_fake_switch pops: six registers and the address to return to. One more word
  // makes the stack aligned as after a call.
  auto end = reinterpret_cast<uintptr_t>(stack + bytes) / 64 * 64;
  auto *words = reinterpret_cast<uintptr_t *>(end) - 8;
  std::memset(words, 0, 8 * sizeof(uintptr_t));
  words[6] = reinterpret_cast<uintptr_t>(entry);
  top = words;
}

void Fiber::switchTo(Fiber &from, Fiber &to) { attune_fake_switch(&from.top, to.top); }

#else

void Fiber::prepare(char *stack, size_t bytes, void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}

void Fiber::switchTo(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }

#endif
