//===- LspProxy.cpp - Longer hovers of a language server ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/LspProxy.h"
#include "compiler/Support/Json.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attune;

/// The size in bytes of the longest message that is read. A longer message ends the connection.
static constexpr size_t kMostBytes = size_t(256) << 20;

namespace {
/// A stream of messages, each after a header `Content-Length: N`.
class Messages {
public:
  explicit Messages(int descriptor) : descriptor(descriptor) {}

  /// Reads the bytes that have arrived. Returns false at the end of the stream, after an error, and if a message is too
  /// long.
  bool fill() {
    char part[65536];
    ssize_t count = ::read(descriptor, part, sizeof(part));
    if (count < 0 && errno == EINTR)
      return true;
    if (count > 0)
      bytes.append(part, count);
    return count > 0 && bytes.size() <= kMostBytes;
  }
  /// Removes and returns the next message, header and body; nullopt if it has not arrived completely.
  std::optional<std::pair<std::string, std::string>> next() {
    size_t end = bytes.find("\r\n\r\n");
    if (end == std::string::npos)
      return std::nullopt;
    std::string header = bytes.substr(0, end + 4);
    size_t begin = header.find("Content-Length:");
    size_t length = begin == std::string::npos ? 0 : std::strtoull(header.c_str() + begin + 15, nullptr, 10);
    if (length > kMostBytes || bytes.size() < header.size() + length)
      return std::nullopt;
    std::string body = bytes.substr(header.size(), length);
    bytes.erase(0, header.size() + length);
    return std::pair(header, body);
  }

private:
  int descriptor;
  std::string bytes;
};

/// A stream to a process that may be busy. Bytes wait here until that process reads them. A write that waits could be a
/// deadlock, because the process may itself be waiting until this one reads its output.
class Outlet {
public:
  explicit Outlet(int descriptor) : descriptor(descriptor) {}

  void add(const std::string &text) { bytes += text; }
  bool isEmpty() const { return done == bytes.size(); }
  /// Returns an entry for poll() that waits for room to write if bytes are waiting, else for nothing.
  pollfd request() const { return {isEmpty() ? -1 : descriptor, POLLOUT, 0}; }
  /// Writes some of the waiting bytes. Does not wait if poll() has found room. Returns false if the reader is gone.
  bool write() {
    // A pipe in which poll() has found room takes PIPE_BUF bytes at once. A longer write could wait for more room.
    ssize_t count = ::write(descriptor, bytes.data() + done, std::min<size_t>(bytes.size() - done, PIPE_BUF));
    if (count < 0)
      return errno == EINTR || errno == EAGAIN;
    done += size_t(count);
    if (isEmpty() || done >= kMostDone) {
      bytes.erase(0, done);
      done = 0;
    }
    return true;
  }

private:
  /// The most bytes that stay in |bytes| after they have been written. To remove them after each write would move the
  /// rest of a long text each time.
  static constexpr size_t kMostDone = size_t(1) << 20;

  int descriptor;
  std::string bytes;
  size_t done = 0;
};

/// The open documents of the client, and its hover requests that have no answer yet.
class Session {
public:
  using Hover = std::function<std::string(const std::string &, unsigned, unsigned)>;
  explicit Session(const Hover &hover) : hover(hover) {}

  /// Records the document or the hover request that a message of the client has, if any.
  void readRequest(const std::string &body) {
    Json message = Json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (!message.is_object() || !message.value("params", Json()).is_object())
      return;
    std::string method = textAt(message, "/method"), uri = textAt(message, "/params/textDocument/uri");
    if (method == "textDocument/didOpen") {
      documents[uri] = textAt(message, "/params/textDocument/text");
    } else if (method == "textDocument/didChange") {
      // The server requests full synchronization, so a change contains the whole document.
      documents[uri] = textAt(message, "/params/contentChanges/0/text");
    } else if (method == "textDocument/didClose") {
      documents.erase(uri);
    } else if (method == "textDocument/hover" && message.contains("id")) {
      requests[message["id"].dump()] = {uri, numberAt(message, "/params/position/line"), numberAt(message, "/params/position/character")};
    }
  }

  /// Returns the server's message |body|, with more text if it answers a hover.
  std::string extendAnswer(const std::string &body) {
    Json message = Json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (!message.is_object() || !message.contains("id") || message.contains("method"))
      return body;
    auto request = requests.find(message["id"].dump());
    if (request == requests.end())
      return body;
    Place place = request->second;
    requests.erase(request);
    auto document = documents.find(place.uri);
    std::string text = document == documents.end() ? "" : hover(document->second, place.line, place.column);
    if (text.empty())
      return body;
    std::string known = textAt(message, "/result/contents/value");
    if (!message.contains("result") || !message["result"].is_object())
      message["result"] = Json::object();
    message["result"]["contents"] = {{"kind", "markdown"}, {"value", known.empty() ? text : text + "\n\n---\n" + known}};
    return message.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

private:
  struct Place {
    std::string uri;
    unsigned line, column;
  };
  static std::string textAt(const Json &message, const char *path) {
    Json::json_pointer place(path);
    return message.contains(place) && message.at(place).is_string() ? message.at(place).get<std::string>() : "";
  }
  static unsigned numberAt(const Json &message, const char *path) {
    Json::json_pointer place(path);
    return message.contains(place) && message.at(place).is_number_unsigned() ? message.at(place).get<unsigned>() : 0;
  }

  const Hover &hover;
  std::map<std::string, std::string> documents;
  std::map<std::string, Place> requests;
};
} // namespace

int attune::runLspProxy(const std::function<int()> &server,
                        const std::function<std::string(const std::string &text, unsigned line, unsigned column)> &hover) {
  int toServer[2], fromServer[2];
  if (::pipe(toServer) != 0 || ::pipe(fromServer) != 0)
    return std::perror("attune-lsp-server: pipe"), 1;
  pid_t child = ::fork();
  if (child < 0)
    return std::perror("attune-lsp-server: fork"), 1;
  if (child == 0) {
    ::dup2(toServer[0], 0);
    ::dup2(fromServer[1], 1);
    for (int descriptor : {toServer[0], toServer[1], fromServer[0], fromServer[1]})
      ::close(descriptor);
    std::exit(server());
  }
  ::close(toServer[0]);
  ::close(fromServer[1]);
  std::signal(SIGPIPE, SIG_IGN);
  Session session(hover);
  Messages requests(0), answers(fromServer[0]);
  Outlet toTheServer(toServer[1]), toTheClient(1);
  // poll() ignores entries whose descriptor is negative.
  enum { Requests, Answers, ToTheServer, ToTheClient };
  pollfd ready[] = {{0, POLLIN, 0}, {fromServer[0], POLLIN, 0}, {-1, 0, 0}, {-1, 0, 0}};
  bool hasInput = true; // the standard input of the server is open
  while (ready[Answers].fd >= 0 || !toTheClient.isEmpty()) {
    if (hasInput && ready[Requests].fd < 0 && toTheServer.isEmpty()) {
      ::close(toServer[1]);
      hasInput = false;
    }
    ready[ToTheServer] = hasInput ? toTheServer.request() : pollfd{-1, 0, 0};
    ready[ToTheClient] = toTheClient.request();
    if (::poll(ready, std::size(ready), -1) < 0) {
      if (errno == EINTR)
        continue;
      break;
    }
    if (ready[Requests].revents != 0) {
      if (!requests.fill())
        ready[Requests].fd = -1;
      while (auto message = requests.next()) {
        session.readRequest(message->second);
        toTheServer.add(message->first + message->second);
      }
    }
    if (ready[Answers].revents != 0) {
      if (!answers.fill())
        ready[Answers].fd = -1;
      while (auto message = answers.next()) {
        std::string body = session.extendAnswer(message->second);
        toTheClient.add("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
      }
    }
    if (ready[ToTheServer].revents != 0 && !toTheServer.write()) {
      ::close(toServer[1]);
      hasInput = false;
      ready[Requests].fd = -1;
    }
    if (ready[ToTheClient].revents != 0 && !toTheClient.write())
      break;
  }
  // With its pipes closed, a server that still runs ends when it next reads or writes.
  if (hasInput)
    ::close(toServer[1]);
  ::close(fromServer[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
