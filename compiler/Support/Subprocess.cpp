//===- Subprocess.cpp - Programs that end with their parent process -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux implementation of Subprocess.
//===----------------------------------------------------------------------===//

#include "compiler/Support/Subprocess.h"
#include "compiler/Support/MemoryFile.h"
#include "compiler/Support/Temporaries.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attune;

std::string SubprocessEnd::text() const {
  if (timedOut)
    return "took longer than " + std::to_string(seconds) + " seconds";
  if (signal != 0)
    return ::strsignal(signal);
  return "status " + std::to_string(status);
}

/// Replaces the forked process by the program, with the argument vector |words|. If that fails, writes errno to the
/// descriptor |report| and exits. |nowhere| is a descriptor of /dev/null. Calls only functions that are safe in signal
/// handlers: other threads of the parent, which do not exist in the child, may have held locks.
[[noreturn]] static void becomeProgram(const SubprocessOptions &options, char *const *words, pid_t parent, int nowhere, int report) {
  // Reset the parent's handlers; ignored signals stay ignored.
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL)
      continue;
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  bool isReady = ::prctl(PR_SET_PDEATHSIG, options.signalAtParentsEnd) == 0;
  if (::getppid() != parent) // the parent ended before the call above
    ::_exit(127);
  int streams[] = {options.input, options.output, options.errors};
  for (int to = 0; to < 3; ++to)
    isReady = isReady && ::dup2(streams[to] < 0 ? nowhere : streams[to], to) == to;
  for (int fd : options.inherited)
    isReady = isReady && ::fcntl(fd, F_SETFD, 0) == 0;
  if (isReady) {
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    ::execv(options.program.c_str(), words);
  }
  int error = errno;
  (void)!::write(report, &error, sizeof(error));
  ::_exit(127);
}

Result<Subprocess> Subprocess::start(const SubprocessOptions &options) {
  std::vector<char *> words{const_cast<char *>(options.program.c_str())};
  for (const std::string &argument : options.arguments)
    words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  auto failure = [&](int error) { return Status::error("cannot start '" + options.program + "': " + std::strerror(error)); };
  int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC), report[2];
  if (nowhere < 0)
    return failure(errno);
  if (::pipe2(report, O_CLOEXEC) != 0) {
    Status status = failure(errno);
    ::close(nowhere);
    return status;
  }
  pid_t parent = ::getpid(), pid;
  int error;
  {
    // The pause keeps the parent's signal handlers from running in the child.
    SignalPause pause;
    pid = ::fork();
    error = errno;
    if (pid == 0)
      becomeProgram(options, words.data(), parent, nowhere, report[1]);
  }
  ::close(nowhere);
  ::close(report[1]);
  if (pid > 0) {
    ssize_t got;
    do
      got = ::read(report[0], &error, sizeof(error));
    while (got < 0 && errno == EINTR);
    if (got == sizeof(error)) {
      ::waitpid(pid, nullptr, 0);
      pid = -1;
    }
  }
  ::close(report[0]);
  if (pid < 0)
    return failure(error);
  return Subprocess(pid);
}

Result<SubprocessEnd> Subprocess::run(const SubprocessOptions &options, unsigned seconds) {
  Result<Subprocess> process = start(options);
  if (!process)
    return process.status();
  return process->wait(seconds);
}

Status Subprocess::runTool(SubprocessOptions options, const std::string &name) {
  Result<MemoryFile> log = MemoryFile::create("attune-tool.log");
  if (!log)
    return log.status();
  options.errors = log->descriptor();
  if (options.output < 0)
    options.output = log->descriptor();
  options.signalAtParentsEnd = SIGTERM; // tools have temporary files
  Result<SubprocessEnd> end = run(options);
  if (!end)
    return end.status();
  if (end->succeeded())
    return Status();
  std::string line;
  if (Result<std::string> text = log->read())
    if (size_t begin = text->find_first_not_of(" \t\r\n"); begin != std::string::npos)
      line = text->substr(begin, text->find_first_of("\r\n", begin) - begin);
  return Status::error(name + " failed: " + (line.empty() ? end->text() : line));
}

/// Waits until the process |pid| has ended. Returns false if it still runs after |seconds|.
static bool waitFor(pid_t pid, unsigned seconds) {
  int fd = int(::syscall(SYS_pidfd_open, pid, 0));
  timespec begin, now;
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  for (;;) {
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = int64_t(seconds) * 1000 - (now.tv_sec - begin.tv_sec) * 1000 - (now.tv_nsec - begin.tv_nsec) / 1000000;
    siginfo_t info = {};
    bool hasEnded = ::waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
    if (hasEnded || left <= 0) {
      if (fd >= 0)
        ::close(fd);
      return hasEnded;
    }
    // Kernels before 5.3 have no process descriptors: poll every 10 ms.
    pollfd ended = {fd, POLLIN, 0};
    ::poll(&ended, fd >= 0, int(fd >= 0 ? left : std::min<int64_t>(left, 10)));
  }
}

SubprocessEnd Subprocess::wait(unsigned seconds) {
  SubprocessEnd end;
  end.seconds = seconds;
  if (seconds != 0 && !waitFor(pid, seconds)) {
    end.timedOut = true;
    ::kill(pid, SIGKILL);
  }
  int status = 0;
  pid_t reaped;
  do
    reaped = ::waitpid(pid, &status, 0);
  while (reaped < 0 && errno == EINTR);
  pid = -1;
  if (reaped < 0 || end.timedOut)
    return end;
  if (WIFEXITED(status))
    end.status = WEXITSTATUS(status);
  else
    end.signal = WTERMSIG(status);
  return end;
}

Subprocess::~Subprocess() {
  if (pid < 0)
    return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}
