/*===- Check.h - Assertions of the runtime's test programs ------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_TEST_CHECK_H
#define ATTUNE_TEST_CHECK_H

#include "attune/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with a message unless |cond| holds. */
#define CHECK(cond)                                                                                                    \
  do {                                                                                                                 \
    if (!(cond)) {                                                                                                     \
      fprintf(stderr, "%s:%d: check failed: %s (last error: %s)\n", __FILE__, __LINE__, #cond, attune_last_error());   \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* Ends the program unless |call| succeeds. */
#define CHECK_OK(call) CHECK((call) == ATTUNE_OK)

/* Ends the program unless |call| fails with |status| and a message that contains |text|. */
#define CHECK_FAILS(call, status, text)                                                                                \
  do {                                                                                                                 \
    attune_status got = (call);                                                                                        \
    if (got != (status) || !strstr(attune_last_error(), (text))) {                                                     \
      fprintf(stderr, "%s:%d: %s\n  gave     %s: %s\n  expected %s: …%s…\n", __FILE__, __LINE__, #call,                \
              attune_status_name(got), attune_last_error(), attune_status_name(status), (text));                       \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

#endif /* ATTUNE_TEST_CHECK_H */
