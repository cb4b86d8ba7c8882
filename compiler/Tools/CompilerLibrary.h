/*===- CompilerLibrary.h - The compiler in the caller's process -------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C functions of libattune_compiler.so, by which the Python package compiles in the process of its caller.
 *
 * The functions install no signal handlers, change no limits and print only what flags ask for. So a fault that the tool
 * would report in one line before it ends, such as a lack of memory or a model file that is cut short while it is read,
 * ends the caller's process without that line.
 *
 * Threads. Calls from several threads may run at once. The thread of a caller should have 8 MiB of stack, as tools
 * have.
 *===----------------------------------------------------------------------===*/
#ifndef ATTUNE_COMPILER_TOOLS_COMPILERLIBRARY_H
#define ATTUNE_COMPILER_TOOLS_COMPILERLIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The callbacks of a compilation, on the thread that compiles. Each callback may be null. */
typedef struct attune_compiler_events {
  /** The first argument of each callback. */
  void *context;
  /** Called with a warning, one line in UTF-8. */
  void (*warning)(void *context, const char *message);
  /**
   * Called whenever the percentage of |work|, "packing" or "calibrating", changes. |done| and |total| count bytes of
   * weights or parts of the calibration.
   */
  void (*progress)(void *context, const char *work, uint64_t done, uint64_t total);
  /** Points to a number that another thread sets to nonzero to end the compilation; null for none. */
  const int *stop;
} attune_compiler_events;

/**
 * Names the program `attune` of the same build, by whose build id the compile cache distinguishes builds. Must be called
 * before the first compilation.
 */
void attune_compiler_set_program(const char *path);

/**
 * Executes `attune compile` with |arguments|, the |count| words after `compile`. On success returns 0 and sets
 * |*result| to the path of the shared object in the cache if --cached is given, to "" otherwise; on failure returns 1
 * and sets |*result| to the error, one line. The object and the files beside it are written completely or not at all,
 * also if |events->stop| ends the compilation. The caller passes |*result|, which is null if there is no memory for it,
 * to attune_compiler_free. |events| may be null.
 */
int attune_compiler_compile(const char *const *arguments, size_t count, const attune_compiler_events *events, char **result);

/** Frees a result. */
void attune_compiler_free(char *result);

#ifdef __cplusplus
}
#endif

#endif /* ATTUNE_COMPILER_TOOLS_COMPILERLIBRARY_H */
