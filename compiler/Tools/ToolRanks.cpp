//===- ToolRanks.cpp - A tool as one of several ranks ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/ToolRanks.h"
#include "compiler/Tools/Flags.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace attune;

namespace {
/// The connection of this process with the other ranks.
struct Process {
  attune_transport *transport = nullptr;
  bool failed = false; // join has failed
  bool inspects = false;
  bool agreed = false; // the last error is known to all ranks
};
Process process;

/// The record that each rank exchanges in agree; |failed| is 0 or 1, and |message| may be cut.
struct StatusRecord {
  int32_t failed;
  char message[508];
};

/// The record that each rank exchanges in agreeOnModel; |name| may be cut.
struct ModelRecord {
  uint32_t abi;
  uint32_t ranks;
  uint8_t buildId[16];
  char name[104];
};

/// A launcher of an MPI. |count| and |rank| are the environment variables in which it passes the number of processes
/// and the rank of this process; |library| is the transport for this MPI.
struct Launcher {
  const char *count, *rank, *library;
};
} // namespace

static constexpr Launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "libattune_mpi_openmpi.so"},
                                         {"PMI_SIZE", "PMI_RANK", "libattune_mpi_mpich.so"}};

/// Returns the launcher that has started this process as one of several; null if there is none.
static const Launcher *findLauncher() {
  for (const Launcher &launcher : launchers)
    if (const char *count = std::getenv(launcher.count); count && std::atoi(count) > 1)
      return &launcher;
  return nullptr;
}

/// Returns the value of ATTUNE_TRANSPORT, "" if it is not set.
static std::string givenTransport() {
  const char *path = std::getenv("ATTUNE_TRANSPORT");
  return path ? path : "";
}

bool ranks::areStarted() { return !givenTransport().empty() || findLauncher() != nullptr; }

/// Loads the transport: the library that ATTUNE_TRANSPORT names, or the library for the launcher. Looks for the latter
/// beside this program, then in the folder lib beside the program's folder, then where the system looks for libraries.
static Result<attune_transport_open_fn> loadTransport() {
  std::vector<std::string> paths = {givenTransport()};
  const Launcher *launcher = findLauncher();
  if (paths[0].empty() && launcher) {
    std::error_code ignored;
    std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    paths = {folder / launcher->library, folder / "../lib" / launcher->library, launcher->library};
  }
  std::string reason;
  for (const std::string &path : paths) {
    bool isPath = path.find('/') != std::string::npos;
    if (isPath && !std::filesystem::exists(path) && paths.size() > 1)
      continue;
    // RTLD_GLOBAL: Open MPI loads parts of itself, which need its symbols.
    if (void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
      if (void *open = ::dlsym(library, "attune_transport_open"))
        return reinterpret_cast<attune_transport_open_fn>(open);
      return Status::error(path + ": expected the function 'attune_transport_open', which is missing");
    }
    reason = ::dlerror();
  }
  return Status::error("several ranks were started, but their transport cannot be loaded: " + reason);
}

/// Returns the value of ATTUNE_RANKS_TIMEOUT in seconds; 0, which stands for the default of the transport, if it is not
/// set.
static Result<double> stallSeconds() {
  const char *text = std::getenv("ATTUNE_RANKS_TIMEOUT");
  if (!text || !*text)
    return 0.0;
  Result<double> seconds = parseNumber(text);
  if (!seconds || !(*seconds > 0 && *seconds <= 86400))
    return Status::error("ATTUNE_RANKS_TIMEOUT: expected seconds, more than 0 and at most 86400, got '" + std::string(text) + "'");
  return seconds;
}

Result<attune_transport *> ranks::join() {
  if (process.transport)
    return process.transport;
  process.failed = true;
  Result<double> seconds = stallSeconds();
  if (!seconds)
    return seconds.status();
  Result<attune_transport_open_fn> open = loadTransport();
  if (!open)
    return open.status();
  attune_transport_options options = {ATTUNE_ABI_VERSION, 0, *seconds, nullptr};
  char message[512] = "";
  attune_transport *opened = (*open)(&options, message, sizeof(message));
  if (!opened)
    return Status::error(message);
  process.transport = opened;
  process.failed = false;
  if (!isFirst()) {
    std::fflush(stdout);
    if (!std::freopen("/dev/null", "w", stdout))
      return Status::error("cannot open /dev/null");
  }
  return opened;
}

bool ranks::isFirst() { return !process.transport || process.transport->ranks.rank == 0; }

/// Sends |own| to the other ranks, and returns the records of all ranks in the order of ranks.
template <typename Record>
static Result<std::vector<Record>> exchange(const Record &own) {
  attune_transport &transport = *process.transport;
  std::vector<Record> all(static_cast<size_t>(transport.ranks.count));
  if (transport.exchange(transport.context, &own, sizeof(own), all.data()) != 0)
    return Status::error(transport.error(transport.context));
  return all;
}

Status ranks::agree(const Status &own) {
  if (!areStarted() || process.inspects)
    return own;
  Result<attune_transport *> joined = join();
  if (!joined)
    return joined.status();
  StatusRecord record = {};
  record.failed = own.failed();
  std::snprintf(record.message, sizeof(record.message), "%s", own.failed() ? own.message().c_str() : "");
  Result<std::vector<StatusRecord>> all = exchange(record);
  if (!all)
    return all.status();
  auto failed = std::find_if(all->begin(), all->end(), [](const StatusRecord &one) { return one.failed != 0; });
  if (failed == all->end())
    return {};
  process.agreed = true;
  failed->message[sizeof(failed->message) - 1] = 0;
  bool same = std::all_of(all->begin(), all->end(),
                          [&](const StatusRecord &one) { return std::strncmp(one.message, failed->message, sizeof(one.message)) == 0; });
  return Status::error(same ? failed->message : "rank " + std::to_string(failed - all->begin()) + ": " + failed->message);
}

/// Returns the build id in |record| as 32 hexadecimal digits.
static std::string buildIdOf(const ModelRecord &record) {
  char text[33];
  for (int i = 0; i < 16; ++i)
    std::snprintf(text + 2 * i, 3, "%02x", record.buildId[i]);
  return text;
}

/// Returns the model's name in |record|, which may come from another rank.
static std::string nameOf(const ModelRecord &record) { return {record.name, strnlen(record.name, sizeof(record.name))}; }

Status ranks::agreeOnModel(const attune_model_desc &desc) {
  if (!areStarted() || process.inspects)
    return {};
  Result<attune_transport *> joined = join();
  if (!joined)
    return joined.status();
  ModelRecord own = {};
  own.abi = desc.abi_version;
  own.ranks = std::max<uint32_t>(desc.num_ranks, 1);
  std::memcpy(own.buildId, desc.build_id, sizeof(own.buildId));
  std::snprintf(own.name, sizeof(own.name), "%s", desc.name);
  Result<std::vector<ModelRecord>> all = exchange(own);
  if (!all)
    return all.status();
  for (size_t rank = 1; rank < all->size(); ++rank) {
    const ModelRecord &first = all->front(), &other = (*all)[rank];
    if (std::memcmp(&first, &other, sizeof(first)) == 0)
      continue;
    process.agreed = true;
    return Status::error("rank 0 has build " + buildIdOf(first) + " of model '" + nameOf(first) + "', rank " + std::to_string(rank) +
                         " has " + buildIdOf(other) + " of '" + nameOf(other) + "': expected the same object on all ranks");
  }
  if (own.ranks == all->size())
    return {};
  process.agreed = true;
  if (own.ranks == 1)
    return Status::error("model '" + std::string(own.name) + "' is not divided, but " + std::to_string(all->size()) +
                         " ranks were started; attune compile --ranks=" + std::to_string(all->size()) + " divides it");
  return Status::error("model '" + std::string(own.name) + "' is divided among " + std::to_string(own.ranks) + " ranks, but " +
                       std::to_string(all->size()) + " were started");
}

bool ranks::decide(bool decision) {
  if (!process.transport)
    return decision;
  Result<std::vector<uint8_t>> all = exchange<uint8_t>(decision);
  // After an error of the exchange, the next call of the model fails and reports it.
  return all ? all->front() != 0 : decision;
}

void ranks::inspectOnly() { process.inspects = true; }
bool ranks::isInspecting() { return process.inspects; }

bool ranks::printsError(std::string &message) {
  if (!areStarted() || process.inspects)
    return true;
  if (!process.transport && !process.failed) {
    if (Result<attune_transport *> joined = join(); !joined)
      message += "; " + joined.message();
  }
  if (!process.transport) {
    // No transport connects the ranks, so all of them reach this point. Only the one that the launcher numbers 0
    // prints; without a launcher, all print.
    const Launcher *launcher = findLauncher();
    const char *rank = launcher ? std::getenv(launcher->rank) : nullptr;
    return !rank || std::atoi(rank) == 0;
  }
  attune_transport &transport = *process.transport;
  if (process.agreed)
    return isFirst();
  // A rank waits 50 ms for each rank before it, at most 1 s. So if several ranks have an error, the first of them
  // prints it and ends the others.
  usleep(static_cast<useconds_t>(50000 * std::min<int64_t>(transport.ranks.rank, 20)));
  if (transport.is_ending(transport.context))
    return false;
  const char *reason = transport.error(transport.context);
  message = "rank " + std::to_string(transport.ranks.rank) + " of " + std::to_string(transport.ranks.count) + ": " + message +
            (*reason && message.find(reason) == std::string::npos ? "; " + std::string(reason) : "");
  return true;
}

void ranks::endAfterError(int status) {
  if (process.transport && !process.agreed && !process.inspects)
    process.transport->abort(process.transport->context, status);
}

void ranks::leave() {
  attune_transport *transport = std::exchange(process.transport, nullptr);
  if (!transport)
    return;
  // Rank 0 may be writing. A rank that ends early would make mpirun end the others.
  uint8_t done = 1;
  std::vector<uint8_t> all(static_cast<size_t>(transport->ranks.count));
  if (transport->exchange(transport->context, &done, 1, all.data()) != 0)
    transport->abort(transport->context, 1);
  transport->close(transport->context);
}
