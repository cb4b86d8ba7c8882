/*===- OpenTransport.c - Opening a transport on MPI --------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * OpenTransport LIBRARY [LEVEL|communicator]: opens the transport LIBRARY. With LEVEL, it first initializes MPI with
 * this thread level, as an application does. With the word "communicator", it gives the transport a communicator
 * although MPI is not initialized. Prints the thread level of MPI, or -1 if MPI is not initialized; then the number of
 * ranks that share CPUs with this one, or the transport's error; and whether MPI is finalized. Finds the functions of
 * MPI through LIBRARY, so that one program serves all implementations.
 *===-----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "attune/ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Replaces the C library's function. Refuses a mask as small as cpu_set_t, as systems with over 1024 CPUs do. */
int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *mask) {
  if (bytes < 256) {
    errno = EINVAL;
    return -1;
  }
  CPU_ZERO_S(bytes, mask);
  return syscall(SYS_sched_getaffinity, thread, bytes, mask) < 0 ? -1 : 0;
}

int main(int argc, char **argv) {
  void *library = argc < 2 ? NULL : dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    fprintf(stderr, "expected a transport, got %s\n", argc < 2 ? "nothing" : dlerror());
    return 1;
  }
  int (*initialize)(int *, char ***, int, int *) = (int (*)(int *, char ***, int, int *))dlsym(library, "MPI_Init_thread");
  int (*query)(int *) = (int (*)(int *))dlsym(library, "MPI_Query_thread");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
  int (*isInitialized)(int *) = (int (*)(int *))dlsym(library, "MPI_Initialized");
  int (*isFinalized)(int *) = (int (*)(int *))dlsym(library, "MPI_Finalized");
  attune_transport_open_fn open = (attune_transport_open_fn)dlsym(library, "attune_transport_open");

  /* MPI_THREAD_SINGLE, FUNNELED, SERIALIZED and MULTIPLE are 0 to 3 in Open MPI and MPICH. */
  int level = -1, initialized = 0, finalized = 0;
  int givesCommunicator = argc > 2 && strcmp(argv[2], "communicator") == 0, initializes = argc > 2 && !givesCommunicator;
  if (initializes)
    initialize(NULL, NULL, atoi(argv[2]), &level);
  /* An MPI_Comm has at most 8 bytes. */
  char message[256] = "", communicator[8] = "";
  attune_transport_options options = {ATTUNE_ABI_VERSION, 0, 0, communicator};
  attune_transport *transport = open(givesCommunicator ? &options : NULL, message, sizeof(message));
  isInitialized(&initialized);
  isFinalized(&finalized);
  if (initialized && !finalized)
    query(&level);
  if (transport)
    snprintf(message, sizeof(message), "opened, %lld ranks share CPUs", (long long)transport->ranks.sharing);
  printf("level %d: %s%s\n", level, message, finalized ? "; MPI is finalized" : "");
  fflush(stdout);
  if (transport)
    transport->close(transport->context);
  if (initializes)
    finalize();
  return 0;
}
