//===- LocalTransport.cpp - Ranks on this host without MPI ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transport for tests. `ranks.py` starts the ranks and sets ATTUNE_LOCAL_RANKS to "RANK:COUNT:FILE": the number of
// the rank, the number of all ranks, and a file of zeros that the ranks map as shared memory.
//===----------------------------------------------------------------------===//
#include "runtime/mpi/SharedWindow.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace attune::ranks;

namespace {
struct Local {
  attune_transport transport = {};
  SharedWindow window;
};
Local local;
} // namespace

static SharedWindow &windowOf(void *context) { return static_cast<Local *>(context)->window; }

extern "C" __attribute__((visibility("default"))) attune_transport *attune_transport_open(const attune_transport_options *options,
                                                                                          char *message, size_t messageBytes) {
  long long rank = 0, count = 0;
  char path[4096];
  const char *text = getenv("ATTUNE_LOCAL_RANKS");
  if (!text || sscanf(text, "%lld:%lld:%4095s", &rank, &count, path) != 3) {
    snprintf(message, messageBytes, "ATTUNE_LOCAL_RANKS: expected RANK:COUNT:FILE");
    return nullptr;
  }
  int file = open(path, O_RDWR | O_CLOEXEC);
  size_t bytes = SharedWindow::bytes(count);
  void *memory = file < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    snprintf(message, messageBytes, "cannot map '%s'", path);
    return nullptr;
  }
  close(file);
  local.window.open(memory, rank, count, options->stall_seconds);
  cpu_set_t mask;
  attune_transport &transport = local.transport;
  transport.ranks = {rank, count, count, &local,
                     [](void *context, const attune_gather *gather) { return windowOf(context).gather(*gather); }};
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0)
    transport.ranks.sharing = 1;
  transport.context = &local;
  transport.exchange = [](void *context, const void *part, uint64_t size, void *parts) {
    return windowOf(context).exchange(part, size, parts);
  };
  transport.error = [](void *context) { return windowOf(context).error(); };
  transport.is_ending = [](void *context) -> int32_t { return windowOf(context).isAborted(); };
  transport.abort = [](void *context, int32_t code) {
    windowOf(context).setAborted();
    _exit(code);
  };
  transport.close = [](void *) {};
  return &transport;
}
