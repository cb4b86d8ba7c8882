/*===- ranks.h - Processes that run a model together ------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A model that `attune compile --ranks=N` has divided runs in N processes, its ranks. A transport connects them: a
 * library with the function attune_transport_open. libattune_mpi_openmpi and libattune_mpi_mpich are transports on MPI;
 * attune-run loads the one for the MPI whose mpirun started it, or the library that the environment variable
 * ATTUNE_TRANSPORT names.
 *
 * An application opens a transport itself and passes the address of attune_transport::ranks in attune_model_options.
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_RANKS_H
#define ATTUNE_RANKS_H

#include "attune/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most ranks of a model. */
#define ATTUNE_MAX_RANKS 256

/* A connection of this process with the other ranks. One thread at a time may use it. On MPI, an application that
   initializes MPI itself must ask for MPI_THREAD_SERIALIZED or more; if the transport initializes MPI, the thread that
   opens the transport must also close it. */
typedef struct attune_transport {
  attune_ranks ranks;  /* for attune_model_options */
  void *context;       /* passed to the functions below */
  /* Copies the |bytes| bytes at |part| of every rank to |parts|, in the order of ranks. All ranks call it, with the
     same |bytes|. Returns 0, or another value after an error, which |error| then describes. After an error of exchange
     or ranks.all_gather, all later calls of both fail. Messages that are under way may still write to the memory that
     the failed call was given, so this memory must not be freed before |abort|. */
  int32_t (*exchange)(void *context, const void *part, uint64_t bytes, void *parts);
  /* Returns a description of the last error of exchange or ranks.all_gather, one line. */
  const char *(*error)(void *context);
  /* Returns 1 if this process knows that a rank has called abort, else 0. A transport between hosts may always
     return 0. */
  int32_t (*is_ending)(void *context);
  /* Ends the processes of all ranks with the exit code |code|; does not return. */
  void (*abort)(void *context, int32_t code);
  /* Closes the connection and frees the transport. All ranks call it. */
  void (*close)(void *context);
} attune_transport;

/* The options of a transport. */
typedef struct attune_transport_options {
  uint32_t abi_version;  /* ATTUNE_ABI_VERSION */
  uint32_t reserved;     /* 0 */
  double stall_seconds;  /* an operation that waits longer than this for another rank fails; 0 = 30 */
  const void *communicator; /* points to an MPI_Comm of the application, which must initialize and finalize MPI itself;
                               null = MPI_COMM_WORLD */
} attune_transport_options;

/* Opens a transport. All ranks call it. |options| may be null. After an error returns null and writes a line about the
   error to |message|, which has room for |message_bytes| bytes, the NUL included. */
attune_transport *attune_transport_open(const attune_transport_options *options, char *message, size_t message_bytes);
/* The type of attune_transport_open, for dlsym. */
typedef attune_transport *(*attune_transport_open_fn)(const attune_transport_options *options, char *message, size_t message_bytes);

#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_RANKS_H */
