//===- IsolatedRun.cpp - Executions that may crash ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/IsolatedRun.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attune;

namespace {
/// Bytes that the child sends: a word for success, then a message or tensors.
class Message {
public:
  std::string bytes;
  void add(int64_t number) { bytes.append(reinterpret_cast<const char *>(&number), sizeof(number)); }
  void add(const void *data, size_t size) {
    add(static_cast<int64_t>(size));
    bytes.append(static_cast<const char *>(data), size);
  }

  // Reading; false at the end of the bytes.
  bool take(int64_t &number) {
    if (bytes.size() - at < sizeof(number))
      return false;
    std::memcpy(&number, bytes.data() + at, sizeof(number));
    at += sizeof(number);
    return true;
  }
  bool take(std::string &data) {
    int64_t size;
    if (!take(size) || size < 0 || bytes.size() - at < static_cast<size_t>(size))
      return false;
    data = bytes.substr(at, static_cast<size_t>(size));
    at += static_cast<size_t>(size);
    return true;
  }

private:
  size_t at = 0;
};
} // namespace

static void writeAll(int file, const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno != EINTR)
      return;
    done += written > 0 ? static_cast<size_t>(written) : 0;
  }
}

[[noreturn]] static void runChild(int file, const std::function<Result<std::vector<OwnedTensor>>()> &work) {
  // Reports of crashes are for the parent, which knows their reason.
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT})
    std::signal(number, SIG_DFL);
  if (int null = open("/dev/null", O_WRONLY); null >= 0)
    dup2(null, STDERR_FILENO);
  Result<std::vector<OwnedTensor>> outputs = work();
  Message message;
  message.add(outputs ? 1 : 0);
  if (!outputs) {
    message.add(outputs.message().data(), outputs.message().size());
  } else {
    message.add(static_cast<int64_t>(outputs->size()));
    for (const OwnedTensor &tensor : *outputs) {
      message.add(tensor.spec.name.data(), tensor.spec.name.size());
      message.add(static_cast<int64_t>(tensor.spec.dtype));
      message.add(tensor.spec.shape.data(), tensor.spec.shape.size() * sizeof(int64_t));
      message.add(tensor.data.data(), tensor.data.size());
    }
  }
  writeAll(file, message.bytes);
  _exit(0);
}

static bool readTensors(Message &message, std::vector<OwnedTensor> &tensors) {
  int64_t count, dtype;
  if (!message.take(count))
    return false;
  for (int64_t i = 0; i < count; ++i) {
    OwnedTensor tensor;
    std::string shape, data;
    if (!message.take(tensor.spec.name) || !message.take(dtype) || !message.take(shape) || !message.take(data))
      return false;
    tensor.spec.dtype = static_cast<DType>(dtype);
    tensor.spec.shape.resize(shape.size() / sizeof(int64_t));
    std::memcpy(tensor.spec.shape.data(), shape.data(), shape.size());
    tensor.data.assign(data.begin(), data.end());
    tensors.push_back(std::move(tensor));
  }
  return true;
}

RunOutcome attune::runIsolated(const std::function<Result<std::vector<OwnedTensor>>()> &work, int64_t secondsLimit) {
  int ends[2];
  if (pipe(ends) != 0)
    return {RunOutcome::Refused, "cannot create a pipe", {}};
  pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return {RunOutcome::Refused, "cannot start a process", {}};
  }
  if (child == 0) {
    close(ends[0]);
    runChild(ends[1], work);
  }
  close(ends[1]);
  Message message;
  bool late = false;
  for (char buffer[1 << 16];;) {
    pollfd waiting = {ends[0], POLLIN, 0};
    int ready = poll(&waiting, 1, static_cast<int>(secondsLimit * 1000));
    if (ready == 0) {
      kill(child, SIGKILL);
      late = true;
      break;
    }
    ssize_t count = ready < 0 ? -1 : read(ends[0], buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    message.bytes.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (late)
    return {RunOutcome::Crashed, "does not end within " + std::to_string(secondsLimit) + " s", {}};
  if (WIFSIGNALED(status))
    return {RunOutcome::Crashed, "ends by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")", {}};
  RunOutcome outcome;
  int64_t succeeded;
  if (!message.take(succeeded))
    return {RunOutcome::Crashed, "ends with status " + std::to_string(WEXITSTATUS(status)), {}};
  if (succeeded && readTensors(message, outcome.outputs))
    outcome.kind = RunOutcome::Ran;
  else if (!succeeded)
    message.take(outcome.reason);
  return outcome;
}
