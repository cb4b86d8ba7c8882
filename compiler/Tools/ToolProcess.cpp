//===- ToolProcess.cpp - Signals and limits of a tool's process -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signal handlers allocate nothing and call only async-signal-safe functions: system calls, removeTemporaries, and
// functions of this file that use only memory on their own stack or in static variables.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/ToolProcess.h"
#include "compiler/Support/Temporaries.h"
#include "compiler/Tools/Commands.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

using namespace attune;

namespace {
struct SignalName {
  int number;
  const char *name;
};

/// One line of text in a fixed buffer. Text that does not fit is dropped.
class Line {
public:
  void add(const char *part) {
    // Names of files may contain line breaks and escape sequences.
    for (; *part && used + 1 < sizeof(text); ++part)
      text[used++] = static_cast<unsigned char>(*part) < 0x20 || *part == 0x7f ? '?' : *part;
  }
  void add(uint64_t number) {
    char digits[24], *first = digits + sizeof(digits);
    *--first = '\0';
    do
      *--first = char('0' + number % 10);
    while ((number /= 10) != 0);
    add(first);
  }
  /// Writes the line to standard error. Drops the line if the write would block, as on a full pipe, because a blocked
  /// write would keep the process from ending.
  void write() {
    text[used++] = '\n';
    pollfd error = {STDERR_FILENO, POLLOUT, 0};
    if (::poll(&error, 1, 0) != 1 || !(error.revents & POLLOUT))
      return;
    // Clears a line of progress.
    if (::isatty(STDERR_FILENO))
      (void)!::write(STDERR_FILENO, "\r\033[K", 4);
    (void)!::write(STDERR_FILENO, text, used);
  }

private:
  char text[PATH_MAX + 256];
  size_t used = 0;
};

/// A line of /proc/self/maps: "55d0c000-55d0e000 r--s 00001000 fe:00 131 /path". |end| is exclusive, |offset| is in
/// bytes, and |path| is "" for anonymous memory.
struct Mapping {
  uint64_t begin, end, offset, inode;
  const char *path;
};
} // namespace

/// The signals that end the process, except faults. Other signals that end a process by default are not sent to a tool
/// in practice.
static constexpr SignalName interruptions[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                                               {SIGTERM, "SIGTERM"}, {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"},
                                               {SIGALRM, "SIGALRM"}, {SIGXCPU, "SIGXCPU"}, {SIGPIPE, "SIGPIPE"}};

static const char *tool = "";
static pid_t toolProcess = -1;
/// The limit of CPU time, in seconds, at the start of the process. The system raises the limit when it sends SIGXCPU.
static struct rlimit processorTime;
/// True as soon as one thread reports the end of the process; handlers on other threads then print nothing.
static std::atomic<bool> isEnding{false};
/// The state of InterruptScope: |recordsInterrupt| is true while an object lives, |isRecorded| after the first SIGINT.
static std::atomic<bool> recordsInterrupt{false}, isRecorded{false};
static_assert(std::atomic<bool>::is_always_lock_free);
/// The previous handlers of SIGBUS and SIGSEGV. In attune they are LLVM's, which report crashes.
static struct sigaction formerBus, formerSegv;

/// Ends the process by the default action of |signal|, even if |signal| is blocked or has a handler.
static void endBySignal(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(signal);
}

static void onInterruption(int signal) {
  if (signal == SIGINT && recordsInterrupt && ::getpid() == toolProcess && !isRecorded.exchange(true))
    return;
  // A child between fork and exec is not the tool: it ends without a line and leaves temporary files alone.
  if (::getpid() == toolProcess) {
    if (isEnding.exchange(true)) // another thread is ending the process
      return;
    removeTemporaries();
    Line line;
    line.add(tool);
    if (signal == SIGXCPU) {
      line.add(": error: stopped at the limit of CPU time (ulimit -t), ");
      line.add(uint64_t(processorTime.rlim_cur));
      line.add(" seconds");
    } else {
      line.add(": interrupted by ");
      for (const SignalName &entry : interruptions)
        if (entry.number == signal)
          line.add(entry.name);
    }
    if (signal != SIGPIPE)
      line.write();
  }
  endBySignal(signal);
}

/// If |restarts|, system calls such as a read of standard input go on after a SIGINT; otherwise they fail with EINTR.
/// Does nothing if SIGINT is ignored.
static void setRestart(bool restarts) {
  struct sigaction action;
  if (::sigaction(SIGINT, nullptr, &action) != 0 || action.sa_handler != onInterruption)
    return;
  action.sa_flags = restarts ? action.sa_flags | SA_RESTART : action.sa_flags & ~SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
}

InterruptScope::InterruptScope() {
  isRecorded = false;
  recordsInterrupt = true;
  setRestart(false);
}

InterruptScope::~InterruptScope() {
  recordsInterrupt = false;
  setRestart(true);
}

bool InterruptScope::isInterrupted() const { return isRecorded; }

void InterruptScope::clear() { isRecorded = false; }

void attune::endByInterruption() {
  recordsInterrupt = false;
  ::raise(SIGINT);
  ::_exit(128 + SIGINT); // the signal is ignored or blocked
}

/// Does nothing: the write that exceeded the limit fails with an error of its own. SIGXFSZ is not ignored instead,
/// because subprocesses would inherit that; for them, a handled signal gets its default action again.
static void onFileSizeLimit(int) {}

void attune::endWithoutMemory() {
  if (!isEnding.exchange(true)) {
    removeTemporaries();
    Line line;
    line.add(tool);
    line.add(": error: out of memory");
    struct rlimit limit;
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      line.add(" (the limit of address space, ulimit -v, is ");
      line.add(uint64_t(limit.rlim_cur / 1024));
      line.add(" KiB)");
    }
    line.write();
  }
  ::_exit(exitRejected);
}

/// Reinstalls |former|, the previous handler of |signal|. The fault that |info| describes repeats after the return from
/// the present handler, and then reaches |former|.
static void reinstallHandler(int signal, const siginfo_t *info, const struct sigaction &former) {
  ::sigaction(signal, &former, nullptr);
  if (info->si_code <= 0) // a process sent the signal, which does not repeat by itself
    ::raise(signal);
}

/// Ends the process with a line that reports that the stack of |limit| bytes is full. A signal handler calls it, so it
/// calls only async-signal-safe functions.
[[noreturn]] static void endWithoutStack(uint64_t limit) {
  if (!isEnding.exchange(true)) {
    removeTemporaries();
    Line line;
    line.add(tool);
    line.add(": error: out of stack (the limit, ulimit -s, is ");
    line.add(limit / 1024);
    line.add(" KiB)");
    line.write();
  }
  ::_exit(exitRejected);
}

/// Returns the stack pointer at the fault that |context| describes; 0 for machines that this file does not know.
static uintptr_t stackPointer(const void *context) {
  [[maybe_unused]] const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return machine.sp;
#elif defined(__riscv)
  return machine.__gregs[REG_SP];
#else
  return 0;
#endif
}

/// Ends the process with a line if the stack is full and its limit is below 8 MiB, the usual default. The stack is full
/// if the faulting access is less than 64 KiB from the stack pointer. Otherwise returns: with a limit of 8 MiB or more,
/// a full stack counts as a crash by endless recursion.
static void endIfStackIsFull(const siginfo_t *info, const void *context) {
  constexpr uintptr_t kNear = 1 << 16;
  constexpr rlim_t kDefault = 8 << 20;
  uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr), pointer = stackPointer(context);
  struct rlimit limit;
  if (pointer != 0 && address < pointer + kNear && pointer < address + kNear && ::getrlimit(RLIMIT_STACK, &limit) == 0 &&
      limit.rlim_cur < kDefault)
    endWithoutStack(limit.rlim_cur);
}

/// Handles SIGSEGV. LLVM does not check all memory that it allocates. So an access to the first 64 KiB of addresses
/// counts as lack of memory, not as a crash, if the system cannot map 1 MiB, the amount that malloc requests at a time.
static void onSegmentationFault(int signal, siginfo_t *info, void *context) {
  constexpr uintptr_t kNearZero = 1 << 16;
  constexpr size_t kAllocation = 1 << 20;
  if (info->si_code > 0 && ::getpid() == toolProcess)
    endIfStackIsFull(info, context);
  if (info->si_code > 0 && ::getpid() == toolProcess && reinterpret_cast<uintptr_t>(info->si_addr) < kNearZero) {
    void *memory = ::mmap(nullptr, kAllocation, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED && errno == ENOMEM)
      endWithoutMemory();
    if (memory != MAP_FAILED)
      ::munmap(memory, kAllocation);
  }
  reinstallHandler(signal, info, formerSegv);
}

// ---------------------------------------------------------------- files that are truncated while they are mapped

/// Parses the number at |text| and advances |text| past it.
static uint64_t takeNumber(const char *&text, unsigned base) {
  uint64_t number = 0;
  for (;; ++text) {
    unsigned digit = *text >= '0' && *text <= '9' ? *text - '0' : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10 : 99;
    if (digit >= base)
      return number;
    number = number * base + digit;
  }
}

static void skipWord(const char *&text) {
  text += std::strspn(text, " ");
  text += std::strcspn(text, " ");
  text += std::strspn(text, " ");
}

static Mapping parseMapping(const char *line) {
  Mapping mapping;
  mapping.begin = takeNumber(line, 16);
  mapping.end = takeNumber(line += *line == '-', 16);
  skipWord(line); // r--s
  mapping.offset = takeNumber(line, 16);
  skipWord(line); // fe:00
  mapping.inode = takeNumber(line, 10);
  mapping.path = line + std::strspn(line, " ");
  return mapping;
}

/// Calls |visit| with each mapping of the process until |visit| returns true. Returns true if |visit| has returned
/// true.
template <typename Visit>
static bool findMapping(Visit visit) {
  int fd = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  char line[PATH_MAX + 128], buffer[1024];
  size_t length = 0;
  bool found = false;
  for (ssize_t bytes; !found && (bytes = ::read(fd, buffer, sizeof(buffer))) > 0;)
    for (ssize_t i = 0; i < bytes && !found; ++i) {
      if (buffer[i] != '\n') {
        if (length + 1 < sizeof(line))
          line[length++] = buffer[i];
        continue;
      }
      line[length] = '\0';
      length = 0;
      found = visit(parseMapping(line));
    }
  ::close(fd);
  return found;
}

/// Handles SIGBUS: an access to a page of a mapped file that is beyond the end of the file or that the disk cannot
/// read.
static void onBusError(int signal, siginfo_t *info, void *) {
  uint64_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  bool explained = info->si_code == BUS_ADRERR && ::getpid() == toolProcess && findMapping([&](const Mapping &mapping) {
                     if (address < mapping.begin || address >= mapping.end || mapping.inode == 0 || mapping.path[0] != '/')
                       return false;
                     struct stat file;
                     bool isShort = ::stat(mapping.path, &file) == 0 && file.st_ino == mapping.inode &&
                                    uint64_t(file.st_size) <= mapping.offset + (address - mapping.begin);
                     if (isEnding.exchange(true))
                       return true;
                     removeTemporaries();
                     Line line;
                     line.add(tool);
                     line.add(": error: ");
                     line.add(mapping.path);
                     line.add(isShort ? ": was cut short while it was read" : ": was cut short, or its disk failed, while it was read");
                     line.write();
                     return true;
                   });
  if (explained)
    ::_exit(exitRejected);
  reinstallHandler(signal, info, formerBus);
}

// ---------------------------------------------------------------- installation

/// Starts a timer that sends SIGXCPU 50 ms before the limit of CPU time if the soft and the hard limit are equal, as
/// `ulimit -t` sets them. At equal limits, the system sends SIGKILL and no SIGXCPU.
static void startProcessorTimer() {
  constexpr long kBefore = 50'000'000; // nanoseconds
  if (processorTime.rlim_cur == RLIM_INFINITY || processorTime.rlim_cur != processorTime.rlim_max || processorTime.rlim_cur == 0)
    return;
  struct sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGXCPU;
  timer_t timer;
  struct itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(processorTime.rlim_cur - 1);
  when.it_value.tv_nsec = 1'000'000'000 - kBefore;
  if (::timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0)
    ::timer_settime(timer, TIMER_ABSTIME, &when, nullptr);
}

ToolProcess::ToolProcess(const char *name) {
  tool = name;
  toolProcess = ::getpid();
  ::getrlimit(RLIMIT_CPU, &processorTime);
  startProcessorTimer();
  // Opens /dev/null for a closed stream in the wrong direction, so that a use of the stream is still an error.
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  ::sigemptyset(&ignored);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action;
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      ::sigaddset(&ignored, signal);
  }
  // With SIGCHLD ignored, the tool could not wait for subprocesses.
  if (isIgnored(SIGCHLD))
    ::signal(SIGCHLD, SIG_DFL);
  // Delays interruptions until install replaces the handlers of libraries. Such a handler would end the process without
  // a line, even by a signal that was ignored.
  sigset_t delayed;
  ::sigemptyset(&delayed);
  for (const SignalName &entry : interruptions)
    ::sigaddset(&delayed, entry.number);
  ::pthread_sigmask(SIG_BLOCK, &delayed, &mask);
}

void ToolProcess::install() {
  struct sigaction action{};
  ::sigfillset(&action.sa_mask);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::sigdelset(&action.sa_mask, fault);
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  for (const SignalName &entry : interruptions) {
    action.sa_handler = isIgnored(entry.number) ? SIG_IGN : onInterruption;
    ::sigaction(entry.number, &action, nullptr);
  }
  action.sa_handler = isIgnored(SIGXFSZ) ? SIG_IGN : onFileSizeLimit;
  ::sigaction(SIGXFSZ, &action, nullptr);
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  action.sa_sigaction = onBusError;
  ::sigaction(SIGBUS, &action, &formerBus);
  action.sa_sigaction = onSegmentationFault;
  ::sigaction(SIGSEGV, &action, &formerSegv);
  std::set_new_handler(endWithoutMemory);
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}
