/*===- HeaderTest.c - The header alone, as strict C11 and C++17 --------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===-----------------------------------------------------------------------===*/

#include "attune/runtime.h"

size_t attune_test_header(void) { return sizeof(attune_tensor) + ATTUNE_OK; }
