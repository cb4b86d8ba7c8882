//===- MpiTransport.cpp - Ranks on MPI ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One source for all implementations of MPI, from which the build makes a library for each, since their binary
// interfaces differ. Ranks on one host exchange through a window of shared memory, which MPI only allocates. Ranks on
// several hosts use MPI_Iallgather and test for its end. A blocking call would spin, which stops the other rank where
// two ranks share a CPU, and it could not end with an error after a time limit.
//
//===----------------------------------------------------------------------===//

#include "CpuMask.h"
#include "SharedWindow.h"
#include "Waiting.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <new>
#include <unistd.h>
#include <vector>

using namespace attune::ranks;

namespace {

/// The connection of this process with the other ranks.
class MpiTransport {
public:
  bool open(const attune_transport_options &options, char *message, size_t messageBytes);
  int32_t gather(const attune_gather &gather);
  int32_t exchange(const void *part, uint64_t bytes, void *parts);
  [[noreturn]] void abort(int32_t code);
  void close();

  bool isEnding() const { return usesWindow && window.isAborted(); }

  attune_transport transport = {};
  const char *error() const { return *text ? text : window.error(); }

private:
  bool start(const attune_transport_options &options);
  bool countSharing(int localCount);
  bool openWindow();
  bool allGather(const void *part, uint64_t bytes, void *parts);

  MPI_Comm world = MPI_COMM_NULL, local = MPI_COMM_NULL;
  MPI_Win memory = MPI_WIN_NULL;
  SharedWindow window;
  bool ownsMpi = false, isLocal = false, usesWindow = false;
  double limit = 30;
  char text[256] = "";
};

} // namespace

/// Returns the number of processes that mpirun says it has started; 1 if it says nothing.
static long startedCount() {
#if defined(OPEN_MPI)
  const char *count = getenv("OMPI_COMM_WORLD_SIZE");
#else
  const char *count = getenv("PMI_SIZE");
#endif
  return count ? strtol(count, nullptr, 10) : 1;
}

/// Initializes MPI unless the application has done so. Sets |world| to a copy of the application's communicator, or of
/// MPI_COMM_WORLD without one, so that messages of the application do not mix with those of the transport. Sets
/// |local|, |isLocal| and transport.ranks. Returns false after an error; |text| then describes the error, or is ""
/// after a failure of MPI.
bool MpiTransport::start(const attune_transport_options &options) {
  int initialized = 0, provided = 0, count = 0, rank = 0;
  MPI_Initialized(&initialized);
  if (!initialized && options.communicator) {
    snprintf(text, sizeof(text), "MPI is not initialized, expected an application that does so before it gives a communicator");
    return false;
  }
  if (!initialized) {
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
      return false;
    ownsMpi = true;
  }
  if (MPI_Query_thread(&provided) == MPI_SUCCESS && provided < MPI_THREAD_SERIALIZED) {
    snprintf(text, sizeof(text), "MPI was initialized for calls of one thread, expected MPI_THREAD_SERIALIZED");
    return false;
  }
  MPI_Comm given = MPI_COMM_WORLD;
  if (options.communicator)
    memcpy(&given, options.communicator, sizeof(given));
  if (MPI_Comm_dup(given, &world) != MPI_SUCCESS)
    return false;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &count);
  transport.ranks.rank = rank;
  transport.ranks.count = count;
  if (count > ATTUNE_MAX_RANKS) {
    snprintf(text, sizeof(text), "%d ranks were started, at most %d expected", count, ATTUNE_MAX_RANKS);
    return false;
  }
  // If the mpirun of one MPI starts a program with another MPI, each process is a job of its own with one rank.
  if (!options.communicator && count != startedCount()) {
    snprintf(text, sizeof(text), "mpirun started %ld processes, but MPI connects %d: it is that of another MPI", startedCount(), count);
    return false;
  }
  int localRank = 0, localCount = 1;
  if (MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &local) != MPI_SUCCESS)
    return false;
  MPI_Comm_rank(local, &localRank);
  MPI_Comm_size(local, &localCount);
  isLocal = localCount == count;
  return countSharing(localCount);
}

/// Sets ranks.sharing to the number of ranks of this host, this one included, that share a CPU with this rank: mpirun
/// may have bound each rank to CPUs of its own.
bool MpiTransport::countSharing(int localCount) {
  const CpuMask mask = CpuMask::ofThread();
  std::vector<CpuMask> masks(static_cast<size_t>(localCount));
  if (MPI_Allgather(&mask, sizeof(mask), MPI_BYTE, masks.data(), sizeof(mask), MPI_BYTE, local) != MPI_SUCCESS)
    return false;
  int64_t sharing = std::count_if(masks.begin(), masks.end(), [&](const CpuMask &other) { return mask.intersects(other); });
  transport.ranks.sharing = std::max<int64_t>(sharing, 1); // an unknown mask is empty and shares no CPU, not even with itself
  return true;
}

/// Makes and opens |window| if there are several ranks and all are on this host; sets |usesWindow|. Returns false after
/// an error of MPI.
bool MpiTransport::openWindow() {
  int64_t count = transport.ranks.count;
  if (!isLocal || count == 1)
    return true;
  bool first = transport.ranks.rank == 0;
  void *base = nullptr;
  MPI_Aint bytes = first ? static_cast<MPI_Aint>(SharedWindow::bytes(count)) + 4096 : 0;
  int unit = 0;
  if (MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, local, &base, &memory) != MPI_SUCCESS ||
      MPI_Win_shared_query(memory, 0, &bytes, &unit, &base) != MPI_SUCCESS)
    return false;
  auto address = (reinterpret_cast<uintptr_t>(base) + 4095) / 4096 * 4096;
  SharedWindow::clear(reinterpret_cast<void *>(address), transport.ranks.rank);
  if (MPI_Barrier(local) != MPI_SUCCESS)
    return false;
  window.open(reinterpret_cast<void *>(address), transport.ranks.rank, count, limit);
  usesWindow = true;
  return true;
}

/// Connects this rank. After an error writes a line about it to |message| and returns false; this object can only be
/// deleted then.
bool MpiTransport::open(const attune_transport_options &options, char *message, size_t messageBytes) {
  if (options.stall_seconds > 0)
    limit = options.stall_seconds;
  if (start(options) && openWindow())
    return true;
  snprintf(message, messageBytes, "%s", *text ? text : "MPI cannot be initialized");
  // An error with a text occurs in all ranks, so they close MPI together. After an error of MPI itself the state of MPI
  // is undefined, and MPI_Finalize would wait for ranks that are still in the operation that failed here.
  if (*text)
    close();
  return false;
}

/// Copies the |bytes| bytes at |part| of every rank to |parts|, in the order of ranks. If |part| is MPI_IN_PLACE, the
/// part of this rank is in |parts| already. Returns false after an error, which |text| then describes. All later calls
/// fail then, because the failed operation cannot be canceled and ranks may be at different operations.
bool MpiTransport::allGather(const void *part, uint64_t bytes, void *parts) {
  if (*text)
    return false;
  // MPI counts the bytes of a part by an int.
  constexpr uint64_t most = uint64_t(1) << 30;
  if (bytes > most) {
    snprintf(text, sizeof(text), "%llu bytes are gathered at once, at most %llu expected", static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(most));
    return false;
  }
  MPI_Request request;
  int status = MPI_Iallgather(part, static_cast<int>(bytes), MPI_BYTE, parts, static_cast<int>(bytes), MPI_BYTE, world, &request);
  bool came = status == MPI_SUCCESS && Waiting(10, limit).wait([&] {
    int done = 0;
    status = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0 || status != MPI_SUCCESS;
  });
  if (status != MPI_SUCCESS) {
    char why[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(status, why, &length);
    snprintf(text, sizeof(text), "%.*s", length, why);
  } else if (!came) {
    snprintf(text, sizeof(text), "another rank has not answered for %g seconds", limit);
  }
  return came && status == MPI_SUCCESS;
}

int32_t MpiTransport::exchange(const void *part, uint64_t bytes, void *parts) {
  if (usesWindow)
    return window.exchange(part, bytes, parts);
  return allGather(part, bytes, parts) ? 0 : 1;
}

int32_t MpiTransport::gather(const attune_gather &gather) {
  if (usesWindow)
    return window.gather(gather);
  size_t row = static_cast<size_t>(gather.units * gather.unit_bytes), bytes = static_cast<size_t>(gather.rows) * row;
  char *parts = static_cast<char *>(gather.scratch), *own = parts + transport.ranks.rank * bytes;
  for (int64_t t = 0; t < gather.rows; ++t)
    memcpy(own + t * row, static_cast<const char *>(gather.data) + t * gather.data_stride, row);
  if (!allGather(MPI_IN_PLACE, bytes, parts))
    return 1;
  for (int64_t r = 0; r < transport.ranks.count; ++r)
    for (int64_t t = 0; t < gather.rows; ++t)
      memcpy(static_cast<char *>(gather.result) + t * gather.result_stride + gather.begins[r] * gather.unit_bytes,
             parts + r * bytes + t * row, row);
  return 0;
}

void MpiTransport::abort(int32_t code) {
  if (usesWindow)
    window.setAborted();
  // Gives mpirun time to forward the error that this process has printed, before it ends all processes.
  usleep(100000);
  // Ends this process even if MPI_Abort waits for a host that does not answer.
  alarm(2);
  MPI_Abort(world, code);
  _exit(code);
}

void MpiTransport::close() {
  if (memory != MPI_WIN_NULL)
    MPI_Win_free(&memory);
  if (local != MPI_COMM_NULL)
    MPI_Comm_free(&local);
  if (world != MPI_COMM_NULL)
    MPI_Comm_free(&world);
  if (ownsMpi)
    MPI_Finalize();
}

static MpiTransport &self(void *context) { return *static_cast<MpiTransport *>(context); }

extern "C" __attribute__((visibility("default"))) attune_transport *attune_transport_open(const attune_transport_options *options,
                                                                                          char *message, size_t messageBytes) {
  attune_transport_options own = {ATTUNE_ABI_VERSION, 0, 0, nullptr};
  if (options)
    own = *options;
  if (own.abi_version != ATTUNE_ABI_VERSION) {
    snprintf(message, messageBytes, "the transport has ABI version %u, its caller %u", ATTUNE_ABI_VERSION, own.abi_version);
    return nullptr;
  }
  auto *created = new (std::nothrow) MpiTransport;
  if (!created) {
    snprintf(message, messageBytes, "no memory for the transport");
    return nullptr;
  }
  attune_transport &transport = created->transport;
  transport.context = transport.ranks.context = created;
  transport.ranks.all_gather = [](void *context, const attune_gather *gather) { return self(context).gather(*gather); };
  transport.exchange = [](void *context, const void *part, uint64_t bytes, void *parts) {
    return self(context).exchange(part, bytes, parts);
  };
  transport.error = [](void *context) { return self(context).error(); };
  transport.is_ending = [](void *context) -> int32_t { return self(context).isEnding(); };
  transport.abort = [](void *context, int32_t code) { self(context).abort(code); };
  transport.close = [](void *context) {
    self(context).close();
    delete &self(context);
  };
  if (created->open(own, message, messageBytes))
    return &transport;
  delete created;
  return nullptr;
}
