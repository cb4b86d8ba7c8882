//===- Settings.h - How the fake driver behaves -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_SETTINGS_H
#define ATTUNE_TEST_FAKECUDA_SETTINGS_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace attune::fake {

/// The settings in the environment variable ATTUNE_FAKE_CUDA, a list such as "lazy,random=3,log=calls.txt".
struct Settings {
  bool lazy = false;   ///< queued work runs when a caller waits for it; asynchronous operations of kernels (cp.async,
                       ///< TMA loads, wgmma) execute as late as allowed
  bool random = false; ///< random=SEED: threads take turns at random, blocks run in random order; with |lazy|, so does
                       ///< queued work that is ready
  uint32_t seed = 0;
  bool watch = true;    ///< watch=0: accesses of kernels are not checked
  uint32_t arch = 10;   ///< arch=90: the compute capability of the GPU, times 10
  uint32_t devices = 1; ///< devices=N: the number of GPUs
  uint64_t memory = 0;  ///< memory=BYTES: the most bytes of device memory that may be allocated; 0 = no limit
  std::string failing;  ///< fail=FUNCTION:N:CODE: call number N (from 1) of FUNCTION returns CODE
  uint32_t failingCall = 0;
  int failingCode = 0;
  FILE *log = nullptr; ///< log=FILE: one line for each call, and one for each launch

  static const Settings &get();
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_SETTINGS_H
