//===- header.cpp - A generated header in C++ ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "bert.h"

static_assert(bert_forward_input_input_ids == 0, "positions of inputs are constants");
