//===- Judge.cpp - Are the numbers of a module right? ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/Judge.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attune;

/// The factor by which the error of a phase may exceed the measured error of f32, because of sums in other orders and
/// of approximations of functions.
static constexpr double kErrorFactor = 32;
/// The least error of f32 that an output is assumed to have, relative to its largest absolute value. It replaces a
/// smaller measured error.
static constexpr double kLeastError = 4 * 0x1p-24;
/// The same two numbers for modules that round values to a smaller type: operands of projections of low precision, or
/// keys and values for caches. A small error in f32 may round such a value to its other neighbor, which changes outputs
/// far more. The measured error includes this effect, since it comes from a run that disturbs these values
/// (disturbRounded), and the effect does not grow with the number of operations. So the factor is smaller and the least
/// error larger.
static constexpr double kRoundedErrorFactor = 4, kLeastRoundedError = 0x1p-10;

/// Returns the elements of |tensor|, which is of F32, F64 or I64.
static std::vector<double> readValues(const OwnedTensor &tensor) {
  auto read = [&](auto zero) {
    std::vector<decltype(zero)> raw(tensor.data.size() / sizeof(zero));
    std::memcpy(raw.data(), tensor.data.data(), raw.size() * sizeof(zero));
    return std::vector<double>(raw.begin(), raw.end());
  };
  switch (tensor.spec.dtype) {
  case DType::F32:
    return read(float());
  case DType::F64:
    return read(double());
  default:
    return read(int64_t());
  }
}

static bool holdsIntegers(const TensorSpec &spec) { return spec.dtype != DType::F32 && spec.dtype != DType::F64; }

static Result<std::vector<OwnedTensor>> execute(mlir::ModuleOp module, const PlainWeights &weights, const PlainInputs &inputs,
                                                const PlainOptions &options, const PlainSignature *signature) {
  Result<std::unique_ptr<PlainModel>> model = PlainModel::create(module, weights, options, signature);
  return model ? runPlainly(**model, inputs) : Result<std::vector<OwnedTensor>>(model.status());
}

/// Multiplies each element of |buffer| by a pseudo-random factor in [1 - 2^-19, 1 + 2^-19).
static void disturb(const PlainBuffer &buffer) {
  uint32_t state = 0x9e3779b9;
  for (int64_t i = 0, end = buffer.elements(); i < end; ++i) {
    state = state * 1664525 + 1013904223;
    auto at = buffer.indicesOf(i);
    buffer.set<double>(at, buffer.get<double>(at) * (1 + (double(state) * 0x1p-31 - 1) * 0x1p-19));
  }
}

/// Disturbs the values that |call| rounds: the input of a projection of low precision, or the keys and values for a
/// cache. The change exceeds that of sums in another order, so some values are rounded to their other neighbor. Returns
/// false, so that the reference function computes the operation.
static bool disturbRounded(OpCall &call) {
  if (auto linear = llvm::dyn_cast<mlir::xfmr::LinearOp>(call.op); linear && linear.getPrecision() != mlir::xfmr::Precision::F32)
    disturb(call.operands[linear.getInputMutable().getOperandNumber()]);
  auto update = llvm::dyn_cast<mlir::xfmr::KvCacheUpdateOp>(call.op);
  if (update && !mlir::getElementTypeOrSelf(update.getKeyCache().getType()).isF32()) {
    disturb(call.operands[update.getKeyMutable().getOperandNumber()]);
    disturb(call.operands[update.getValueMutable().getOperandNumber()]);
  }
  return false;
}

Result<Judge> Judge::create(mlir::ModuleOp module, const PlainWeights &weights, const PlainInputs &inputs, bool isRounded) {
  PlainOptions wide;
  wide.wide = true;
  auto begin = std::chrono::steady_clock::now();
  Result<std::vector<OwnedTensor>> exact = execute(module, weights, inputs, wide, nullptr);
  if (!exact)
    return exact.status();
  Result<std::vector<OwnedTensor>> rounded = execute(module, weights, inputs, {}, nullptr);
  if (!rounded)
    return rounded.status();
  std::vector<OwnedTensor> noisy;
  if (isRounded) {
    PlainOptions options;
    options.substitute = disturbRounded;
    Result<std::vector<OwnedTensor>> disturbed = execute(module, weights, inputs, options, nullptr);
    if (!disturbed)
      return disturbed.status();
    noisy = std::move(*disturbed);
  }
  Judge judge(weights, inputs);
  // Later phases have more code, which takes longer to translate.
  constexpr double kSlowdown = 20, kLeastSeconds = 30;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  judge.limit = unsigned(std::max(kLeastSeconds, kSlowdown * seconds));
  for (size_t i = 0; i < exact->size(); ++i) {
    const OwnedTensor &tensor = (*exact)[i];
    Expected one{tensor.spec, readValues(tensor), 0};
    std::vector<double> narrow = readValues((*rounded)[i]), noise = isRounded ? readValues(noisy[i]) : narrow;
    double most = 0;
    for (size_t k = 0; k < one.values.size(); ++k) {
      if (!std::isfinite(one.values[k]))
        continue;
      most = std::max(most, std::abs(one.values[k]));
      if (std::isfinite(narrow[k]))
        one.allowed = std::max(one.allowed, std::abs(one.values[k] - narrow[k]));
      if (std::isfinite(noise[k]))
        one.allowed = std::max(one.allowed, std::abs(one.values[k] - noise[k]));
    }
    double factor = isRounded ? kRoundedErrorFactor : kErrorFactor, least = isRounded ? kLeastRoundedError : kLeastError;
    one.allowed = holdsIntegers(tensor.spec) ? 0 : factor * std::max(one.allowed, least * most);
    judge.expected.push_back(std::move(one));
  }
  return judge;
}

//===--- Judgments of another process --------------------------------------===//
//
// The process that executes a module judges it, too, and sends back one record with the fields of the judgment. In the
// record, a number has 8 bytes, and a text follows its length in bytes.

/// Sends |bytes| bytes through the pipe |end|. Returns silently if the pipe cannot be written; the reader then finds a
/// record that is too short.
static void sendBytes(int end, const void *data, size_t bytes) {
  for (const char *at = static_cast<const char *>(data); bytes > 0;) {
    ssize_t sent = write(end, at, bytes);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return;
    at += sent;
    bytes -= size_t(sent);
  }
}

static void sendText(int end, const std::string &text) {
  uint64_t bytes = text.size();
  sendBytes(end, &bytes, sizeof(bytes));
  sendBytes(end, text.data(), text.size());
}

static void sendJudgment(int end, const Judgment &judgment) {
  const WrongValue &worst = judgment.worst;
  uint64_t head[] = {uint64_t(judgment.kind), worst.shape.size(), uint64_t(worst.index)};
  sendBytes(end, head, sizeof(head));
  sendBytes(end, worst.shape.data(), worst.shape.size() * sizeof(int64_t));
  double numbers[] = {worst.got, worst.expected, worst.allowed};
  sendBytes(end, numbers, sizeof(numbers));
  sendText(end, judgment.reason);
  sendText(end, worst.output);
}

namespace {
/// Reads a record from a pipe. Its functions return false if the pipe ends before the record does, or if the record has
/// impossible sizes.
class RecordReader {
public:
  explicit RecordReader(int end) : end(end) {}

  bool read(void *data, size_t bytes) {
    for (char *at = static_cast<char *>(data); bytes > 0;) {
      ssize_t got = ::read(end, at, bytes);
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        return false;
      at += got;
      bytes -= size_t(got);
    }
    return true;
  }
  bool read(std::string &text) {
    uint64_t bytes = 0;
    // The record comes from a process whose memory a wrong module may have changed.
    if (!read(&bytes, sizeof(bytes)) || bytes > 65536)
      return false;
    text.resize(bytes);
    return read(text.data(), bytes);
  }
  bool read(Judgment &judgment) {
    uint64_t head[3];
    double numbers[3];
    if (!read(head, sizeof(head)) || head[0] > Judgment::Unknown || head[1] > 8)
      return false;
    judgment.kind = Judgment::Kind(head[0]);
    WrongValue &worst = judgment.worst;
    worst.index = int64_t(head[2]);
    worst.shape.resize(head[1]);
    if (!read(worst.shape.data(), head[1] * sizeof(int64_t)) || !read(numbers, sizeof(numbers)))
      return false;
    worst.got = numbers[0];
    worst.expected = numbers[1];
    worst.allowed = numbers[2];
    return read(judgment.reason) && read(worst.output);
  }

private:
  int end;
};
} // namespace

Judgment Judge::judge(mlir::ModuleOp module, const PlainSignature *signature, const PlainOptions &options) const {
  return judgeCall([&] { return execute(module, weights, *inputs, options, signature); });
}

/// Redirects standard error to /dev/null. The C library would report damaged memory there, but the judgment already
/// says that the module crashes.
static void silenceErrors() {
  int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0)
    dup2(nothing, STDERR_FILENO);
}

/// The longest elapsed time that a judgment may take, as a multiple of the limit of its CPU time.
static constexpr unsigned kPatience = 10;

/// Waits until the pipe |end| has data or its writer has ended. Returns false if neither happens within |seconds|.
static bool waitForRecord(int end, unsigned seconds) {
  auto last = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(last - std::chrono::steady_clock::now()).count();
    if (left <= 0)
      return false;
    struct pollfd ready = {end, POLLIN, 0};
    int count = poll(&ready, 1, int(std::min<int64_t>(left, 1000000)));
    if (count > 0 || (count < 0 && errno != EINTR))
      return true;
  }
}

Judgment Judge::judgeCall(const std::function<Result<std::vector<OwnedTensor>>()> &call) const {
  Judgment judgment;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    judgment.reason = "no pipe: " + std::string(strerror(errno));
    return judgment;
  }
  fflush(nullptr);
  pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    // The signal handlers of the tools would report a crash of the compiler.
    for (int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU})
      signal(number, SIG_DFL);
    silenceErrors();
    struct rlimit cpu = {};
    getrlimit(RLIMIT_CPU, &cpu);
    cpu.rlim_cur = std::min<rlim_t>(cpu.rlim_max, limit);
    setrlimit(RLIMIT_CPU, &cpu);
    Result<std::vector<OwnedTensor>> outputs = call();
    if (outputs)
      judgment = judgeOutputs(*outputs);
    else
      judgment.reason = outputs.message().substr(0, 65536);
    sendJudgment(ends[1], judgment);
    _exit(0);
  }
  close(ends[1]);
  if (process < 0) {
    judgment.reason = "no process: " + std::string(strerror(errno));
    close(ends[0]);
    return judgment;
  }
  // Threads that wait for each other take no CPU time, so elapsed time is limited, too.
  bool isLate = !waitForRecord(ends[0], kPatience * limit);
  if (isLate)
    kill(process, SIGKILL);
  bool isWhole = !isLate && RecordReader(ends[0]).read(judgment);
  close(ends[0]);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR)
    ;
  if (isWhole)
    return judgment;
  judgment = {};
  judgment.kind = Judgment::Wrong;
  judgment.reason = isLate ? "it does not end within " + std::to_string(kPatience * limit) + " seconds"
                    : WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU
                        ? "it does not end within " + std::to_string(limit) + " seconds of CPU time"
                        : "it crashes: " + std::string(WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no result");
  return judgment;
}

std::string Judgment::text() const {
  if (kind == Unknown)
    return "not judged: " + reason;
  return kind == Right ? "right" : reason.empty() ? "WRONG" : "WRONG: " + reason;
}

/// Returns the tensor of |outputs| with the name, the shape and the kind of elements (integers or floats) of |spec|;
/// null if there is none.
static const OwnedTensor *findOutput(const std::vector<OwnedTensor> &outputs, const TensorSpec &spec) {
  for (const OwnedTensor &output : outputs) {
    DType dtype = output.spec.dtype;
    bool isKnown = holdsIntegers(spec) ? dtype == DType::I64 : dtype == DType::F32 || dtype == DType::F64;
    if (output.spec.name == spec.name && output.spec.shape == spec.shape && isKnown)
      return &output;
  }
  return nullptr;
}

/// Returns the message for an output that findOutput does not find.
static std::string describeMissing(const TensorSpec &spec) { return "output '" + spec.name + "' is missing, or has another shape or type"; }

Status Judge::expect(const std::vector<OwnedTensor> &outputs) {
  for (Expected &one : expected) {
    const OwnedTensor *found = findOutput(outputs, one.spec);
    if (!found)
      return Status::error(describeMissing(one.spec));
    one.values = readValues(*found);
  }
  return {};
}

/// Returns the error of |got| as a multiple of |allowed|: 0 for equal numbers and for two NaNs, infinity if the error
/// is not finite or if |allowed| is 0.
static double measureError(double got, double wanted, double allowed) {
  if (got == wanted || (std::isnan(got) && std::isnan(wanted)))
    return 0;
  double error = std::abs(got - wanted);
  return std::isfinite(error) && allowed > 0 ? error / allowed : HUGE_VAL;
}

std::vector<std::pair<std::string, Judgment>> Judge::judgeEach(const std::vector<OwnedTensor> &outputs) const {
  std::vector<std::pair<std::string, Judgment>> judgments;
  for (const Expected &one : expected) {
    Judgment &result = judgments.emplace_back(one.spec.name, Judgment()).second;
    const OwnedTensor *found = findOutput(outputs, one.spec);
    if (!found) {
      result.reason = describeMissing(one.spec);
      continue;
    }
    result.kind = Judgment::Right;
    double worst = 1;
    std::vector<double> values = readValues(*found);
    for (size_t i = 0; i < values.size(); ++i) {
      double got = values[i], wanted = one.values[i], ratio = measureError(got, wanted, one.allowed);
      if (ratio <= worst)
        continue;
      worst = ratio;
      result.kind = Judgment::Wrong;
      result.worst = {one.spec.name, one.spec.shape, int64_t(i), got, wanted, one.allowed};
    }
  }
  return judgments;
}

Judgment Judge::judgeOutputs(const std::vector<OwnedTensor> &outputs) const {
  Judgment result;
  result.kind = Judgment::Right;
  double worst = 1;
  for (auto &[name, judgment] : judgeEach(outputs)) {
    if (judgment.kind == Judgment::Unknown)
      return judgment;
    const WrongValue &value = judgment.worst;
    double ratio = judgment.kind == Judgment::Wrong ? measureError(value.got, value.expected, value.allowed) : 0;
    if (ratio <= worst)
      continue;
    worst = ratio;
    result = std::move(judgment);
  }
  return result;
}
