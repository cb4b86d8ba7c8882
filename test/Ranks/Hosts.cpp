//===- Hosts.cpp - Hosts with limited links, for tests --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   attune-test-hosts HOSTS GBIT MICROSECONDS COMMAND...
//
// Creates HOSTS hosts, runs COMMAND on the first of them, and removes the hosts when COMMAND has ended. Host N is a
// network namespace with the address 10.77.0.N and the name attuneN; N counts from 1. This process is the switch
// between the hosts:
//
//     host 1: eth0 --- tap --- |        | --- tap --- eth0: host 2
//                              | switch |
//     host 3: eth0 --- tap --- |        | --- tap --- eth0: host 4
//
// A frame leaves its sender when the frames before it have left, at GBIT gigabits per second, and arrives MICROSECONDS
// later. A receiver takes frames at the same rate. No frame is dropped. For COMMAND, the environment variable
// ATTUNE_HOSTS_SHELL names a program that runs a command on a host, as ssh does, with the arguments FLAGS... HOST
// COMMAND..., where HOST is a name or an address. The exit status is that of COMMAND, or 128 plus the signal that ended
// it. It is 77 if this user or system cannot create network namespaces or interfaces of /dev/net/tun; root usually can.
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <queue>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kUnsupported = 77, kMaxHosts = 64;
/// The sizes in bytes of the largest frame and of a frame's header. Few large frames cost the switch less time than
/// many small ones.
constexpr int kMaxFrame = 65000, kFrameHeader = 14;

/// A host: the process that keeps its namespaces, and the switch's end of the host's link.
struct Host {
  pid_t keeper = -1;
  int link = -1;
  /// The times, as nanoseconds() returns them, at which the host has sent all frames so far, and has received all
  /// frames for it so far.
  int64_t sendsFrom = 0, receivesFrom = 0;
};

struct Frame {
  int64_t arrival;
  int to;
  std::vector<unsigned char> bytes;
};
/// Orders a queue by arrival, the next one first.
struct ArrivesLater {
  bool operator()(const Frame &a, const Frame &b) const { return a.arrival > b.arrival; }
};

class Switch {
public:
  Switch(std::vector<Host> &hosts, double gigabits, double microseconds)
      : hosts(hosts), nanosecondsPerByte(8 / gigabits), latency(static_cast<int64_t>(microseconds * 1e3)) {}
  /// Carries frames until the process |command| has ended; returns its wait status.
  int run(pid_t command);

private:
  void take(int from);
  void send(int from, int to, const unsigned char *bytes, size_t size);
  void deliver(int64_t now);

  std::vector<Host> &hosts;
  double nanosecondsPerByte;
  int64_t latency;
  std::priority_queue<Frame, std::vector<Frame>, ArrivesLater> frames;
};

} // namespace

/// The process of COMMAND.
static pid_t commandProcess = -1;

static int64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

[[noreturn]] static void fail(const char *what) {
  const int code = errno;
  fprintf(stderr, "attune-test-hosts: error: %s: %s\n", what, strerror(code));
  for (int refusal : {EPERM, EACCES, ENOENT, ENOSYS, ENODEV, ENOSPC, EUSERS})
    if (code == refusal)
      exit(kUnsupported);
  exit(1);
}

static void check(int result, const char *what) {
  if (result < 0)
    fail(what);
}

//===----------------------------------------------------------------------===//
// Hosts
//===----------------------------------------------------------------------===//

/// Brings the interface |name| of this namespace up. Unless |number| is 0, first gives it the address 10.77.0.|number|.
static void configure(const char *name, int number) {
  int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  check(socket, "cannot create a socket");
  ifreq request = {};
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  if (number != 0) {
    auto *address = reinterpret_cast<sockaddr_in *>(&request.ifr_addr);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(0x0a4d0000u + unsigned(number));
    check(ioctl(socket, SIOCSIFADDR, &request), "cannot set an address");
    address->sin_addr.s_addr = htonl(0xffffff00u);
    check(ioctl(socket, SIOCSIFNETMASK, &request), "cannot set a network mask");
    // The last byte of a hardware address is the number of its host; by it, the switch finds the receiver of a frame.
    request.ifr_hwaddr = {};
    request.ifr_hwaddr.sa_family = 1; // ARPHRD_ETHER
    request.ifr_hwaddr.sa_data[0] = 2;
    request.ifr_hwaddr.sa_data[5] = static_cast<char>(number);
    check(ioctl(socket, SIOCSIFHWADDR, &request), "cannot set a hardware address");
    request.ifr_mtu = kMaxFrame - kFrameHeader;
    check(ioctl(socket, SIOCSIFMTU, &request), "cannot set the size of frames");
    request.ifr_qlen = 10000;
    check(ioctl(socket, SIOCSIFTXQLEN, &request), "cannot set the length of the queue");
  }
  check(ioctl(socket, SIOCGIFFLAGS, &request), "cannot read the flags of an interface");
  request.ifr_flags = short(request.ifr_flags | IFF_UP | IFF_RUNNING);
  check(ioctl(socket, SIOCSIFFLAGS, &request), "cannot start an interface");
  close(socket);
}

/// Creates the interface eth0 of this namespace and returns its descriptor. A read returns a frame that the host sends,
/// and a write delivers a frame to the host.
static int openLink() {
  int link = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  check(link, "cannot open /dev/net/tun");
  ifreq request = {};
  strncpy(request.ifr_name, "eth0", IFNAMSIZ - 1);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  check(ioctl(link, TUNSETIFF, &request), "cannot create an interface");
  return link;
}

static void sendDescriptor(int socket, int descriptor) {
  char byte = 0, control[CMSG_SPACE(sizeof(int))] = {};
  iovec data = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  check(static_cast<int>(sendmsg(socket, &message, 0)), "cannot pass a link");
}

/// Returns the descriptor that sendDescriptor sends to |socket|, -1 if the sender has ended.
static int receiveDescriptor(int socket) {
  char byte, control[CMSG_SPACE(sizeof(int))] = {};
  iovec data = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0)
    return -1;
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  int descriptor = -1;
  if (header)
    memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
  return descriptor;
}

/// Creates host |number|, counted from 1. Ends the program if that fails, as fail does.
static Host createHost(int number) {
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "cannot create a pair of sockets");
  Host host;
  host.keeper = fork();
  check(host.keeper, "cannot create a process");
  if (host.keeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    check(unshare(CLONE_NEWNET | CLONE_NEWUTS), "cannot create a namespace");
    std::string name = "attune" + std::to_string(number);
    check(sethostname(name.c_str(), name.size()), "cannot name a host");
    int link = openLink();
    configure("lo", 0);
    configure("eth0", number);
    sendDescriptor(ends[1], link);
    for (;;)
      pause();
  }
  close(ends[1]);
  host.link = receiveDescriptor(ends[0]);
  close(ends[0]);
  if (host.link < 0) {
    int status = 0;
    waitpid(host.keeper, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  return host;
}

/// Writes the program of ATTUNE_HOSTS_SHELL to |path|.
static void writeShell(const std::string &path, const std::vector<Host> &hosts) {
  FILE *file = fopen(path.c_str(), "w");
  if (!file)
    fail("cannot write the shell");
  fprintf(file, "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\ncase ${1##*[.e]} in\n");
  for (size_t i = 0; i != hosts.size(); ++i)
    fprintf(file, "%zu) host=%d ;;\n", i + 1, int(hosts[i].keeper));
  fprintf(file, "*) echo \"unknown host $1\" >&2; exit 1 ;;\nesac\nshift\nexec nsenter -t $host -n -u -- sh -c \"$*\"\n");
  fclose(file);
  check(chmod(path.c_str(), 0700), "cannot make the shell executable");
}

/// Ends all processes on |host|, also those that the command has left running.
static void endProcesses(const Host &host) {
  struct stat own, other;
  const std::string network = "/ns/net", folder = "/proc/";
  if (stat((folder + std::to_string(host.keeper) + network).c_str(), &own) != 0)
    return;
  if (DIR *processes = opendir(folder.c_str())) {
    while (dirent *entry = readdir(processes)) {
      const int process = atoi(entry->d_name);
      if (process > 1 && stat((folder + entry->d_name + network).c_str(), &other) == 0 && other.st_ino == own.st_ino &&
          other.st_dev == own.st_dev)
        kill(process, SIGKILL);
    }
    closedir(processes);
  }
  waitpid(host.keeper, nullptr, 0);
}

//===----------------------------------------------------------------------===//
// The switch
//===----------------------------------------------------------------------===//

void Switch::send(int from, int to, const unsigned char *bytes, size_t size) {
  Host &sender = hosts[from], &receiver = hosts[to];
  auto duration = static_cast<int64_t>(double(size) * nanosecondsPerByte);
  sender.sendsFrom = std::max(sender.sendsFrom, nanoseconds()) + duration;
  // The receiver takes the bytes of a frame |latency| after the sender has sent them, or later if it is still receiving
  // an earlier frame.
  receiver.receivesFrom = std::max(sender.sendsFrom + latency, receiver.receivesFrom + duration);
  frames.push({receiver.receivesFrom, to, std::vector<unsigned char>(bytes, bytes + size)});
}

void Switch::take(int from) {
  unsigned char buffer[kMaxFrame + 256];
  for (int i = 0; i != 16; ++i) {
    ssize_t size = read(hosts[from].link, buffer, sizeof buffer);
    if (size < kFrameHeader)
      return;
    if (buffer[0] & 1) { // to all hosts
      for (int to = 0; to != static_cast<int>(hosts.size()); ++to)
        if (to != from)
          send(from, to, buffer, size_t(size));
    } else if (int to = buffer[5] - 1; to >= 0 && to < static_cast<int>(hosts.size()) && to != from) {
      send(from, to, buffer, size_t(size));
    }
  }
}

void Switch::deliver(int64_t now) {
  while (!frames.empty() && frames.top().arrival <= now) {
    const Frame &frame = frames.top();
    (void)!write(hosts[frame.to].link, frame.bytes.data(), frame.bytes.size());
    frames.pop();
  }
}

int Switch::run(pid_t command) {
  std::vector<pollfd> links;
  for (Host &host : hosts)
    links.push_back({host.link, POLLIN, 0});
  for (;;) {
    int status;
    if (waitpid(command, &status, WNOHANG) == command)
      return status;
    // Checks every 20 ms whether the command has ended.
    int64_t wait = frames.empty() ? 20000000 : std::clamp<int64_t>(frames.top().arrival - nanoseconds(), 0, 20000000);
    timespec timeout = {0, static_cast<long>(wait)};
    if (ppoll(links.data(), links.size(), &timeout, nullptr) > 0)
      for (size_t i = 0; i != links.size(); ++i)
        if (links[i].revents)
          take(static_cast<int>(i));
    deliver(nanoseconds());
  }
}

int main(int argc, char **argv) {
  char *end;
  long count = argc > 4 ? strtol(argv[1], &end, 10) : 0;
  double gigabits = argc > 4 ? atof(argv[2]) : 0, microseconds = argc > 4 ? atof(argv[3]) : -1;
  if (count < 1 || count > kMaxHosts || !(gigabits > 0) || !(microseconds >= 0)) {
    fprintf(stderr, "usage: attune-test-hosts HOSTS GBIT MICROSECONDS COMMAND...\n");
    return 1;
  }
  std::vector<Host> hosts;
  for (int i = 0; i != count; ++i)
    hosts.push_back(createHost(i + 1));
  char folder[] = "/tmp/attune-hosts-XXXXXX";
  if (!mkdtemp(folder))
    fail("cannot create a folder");
  const std::string shell = folder + std::string("/shell");
  writeShell(shell, hosts);
  setenv("ATTUNE_HOSTS_SHELL", shell.c_str(), 1);

  commandProcess = fork();
  check(commandProcess, "cannot create a process");
  if (commandProcess == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    std::string keeper = std::to_string(hosts[0].keeper);
    std::vector<const char *> words = {"nsenter", "-t", keeper.c_str(), "-n", "-u", "--"};
    words.insert(words.end(), argv + 4, argv + argc);
    words.push_back(nullptr);
    execvp(words[0], const_cast<char **>(words.data()));
    fail("cannot run nsenter");
  }
  // Passes a signal on to the command; when the command has ended, this process ends, too.
  for (int number : {SIGTERM, SIGINT, SIGHUP})
    signal(number, [](int number) { kill(commandProcess, number); });
  // Ranks that wait for a message may use all CPUs, so the switch asks for a real-time priority.
  sched_param priority = {};
  priority.sched_priority = 1;
  (void)sched_setscheduler(0, SCHED_FIFO, &priority);
  prctl(PR_SET_TIMERSLACK, 1);
  int status = Switch(hosts, gigabits, microseconds).run(commandProcess);
  unlink(shell.c_str());
  rmdir(folder);
  for (const Host &host : hosts)
    endProcesses(host);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
