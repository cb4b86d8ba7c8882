//===- Worker.h - One side of a comparison, as a process --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A comparison alternates between processes that are kept ready, because the speed of a shared machine changes all the
// time. Each process has a subject. It executes the commands on its standard input and answers each one with a line of
// JSON:
//   run SECONDS      one call untimed, then at least two timed:  {"ms": [1.25, 1.24, …]}
//   output FILE      the first output of the last call, as raw float32:  {"elements": N}
// Anything that fails answers {"error": "…"}. The process ends with its input.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_BENCH_WORKER_H
#define ATTUNE_BENCH_WORKER_H

#include "compiler/Support/Json.h"
#include "compiler/Tools/EntryCall.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace attune::bench {

using Clock = std::chrono::steady_clock;

/// Returns the seconds since |start|.
inline double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The subject that a worker process times.
class Subject {
public:
  virtual ~Subject() = default;
  /// Runs one call, from inputs to outputs.
  virtual Status run() = 0;
  /// Returns the first output of the last call.
  virtual Result<std::vector<float>> output() = 0;
};

/// The command line of a worker.
struct Request {
  std::string model;
  std::string input;
  std::string library;
  std::string disable;
  /// For onnxruntime: true if outputs present_X are written to the memory of the inputs past_X.
  bool inPlace = false;
  int64_t threads = 1;
  int64_t sessions = 1;
  /// Generation: number of beams, and new ids of each sequence. Decoder steps: number of tokens of a call, see
  /// OursStep.cpp.
  int64_t beams = 1, newTokens = 1;
};

/// A compiled object and the file of its inputs.
struct OpenedModel {
  Artifact artifact;
  SafetensorsFile file;

  static Result<OpenedModel> open(const Request &request);
  /// Returns all tensors of the file.
  std::vector<TensorView> inputs() const;
};

/// Makes a subject that calls a compiled object with the tensors of the input file.
Result<std::unique_ptr<Subject>> makeOurs(const Request &request);
/// Makes a subject that appends one token to a prompt in a compiled decoder; if |request.newTokens| > 1, one that reads
/// the prompt and appends all tokens but the last.
Result<std::unique_ptr<Subject>> makeOursStep(const Request &request);
/// Makes a subject that reads the prompt of makeOursStep.
Result<std::unique_ptr<Subject>> makeOursPrefill(const Request &request);
/// Makes a subject that generates |request.newTokens| ids with |request.beams| beams.
Result<std::unique_ptr<Subject>> makeOursGenerate(const Request &request);
/// Makes a subject that runs an ONNX model by the onnxruntime library |request.library|, with all graph optimizations
/// except those of |request.disable|.
Result<std::unique_ptr<Subject>> makeOnnxRuntime(const Request &request);

/// Makes |request.sessions| sessions of |request.threads| threads each on one compiled object, ready to be called.
Result<std::vector<EntryCall>> makeSessions(const Request &request);
/// Runs all |calls| at the same time, each in a thread of its own, for |seconds|. Returns {"calls_per_s": …,
/// "cpu_ms_per_call": …, "ms": […]}.
Result<Json> runSessions(std::vector<EntryCall> &calls, double seconds);

/// Executes the commands on standard input until it ends.
void serve(Subject &subject);
/// Executes commands on standard input, as serve does, for many sessions; the only command is `run SECONDS`.
void serveSessions(std::vector<EntryCall> &calls);
/// Executes commands, as serve does, that measure the machine itself: `run SECONDS` answers {"gflops": …, "byte_gops":
/// …, "read_bytes_per_s": …}, the highest rates of that time.
void serveMachine(int64_t threads);

} // namespace attune::bench

#endif // ATTUNE_BENCH_WORKER_H
