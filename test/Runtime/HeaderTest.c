/*===- HeaderTest.c - The C headers alone, as strict C11 and C++17 -----------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===-----------------------------------------------------------------------===*/

#include "attune/generate.h"
#include "attune/runtime.h"
#include "attune/text.h"
#include "attune/text_generation.h"

/* Callers size arrays by these numbers, so the numbers are part of the interface. */
ATTUNE_ABI_ASSERT(ATTUNE_MAX_DIMS == 16, "ATTUNE_MAX_DIMS");
ATTUNE_ABI_ASSERT(ATTUNE_MAX_RANK == 8, "ATTUNE_MAX_RANK");

size_t attune_test_header(void) { return sizeof(attune_tensor) + ATTUNE_OK; }
