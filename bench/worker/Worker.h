//===- Worker.h - One side of a comparison, as a process --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A comparison alternates between processes that are kept ready, because a shared machine is never the same for long. Each holds a subject
// and obeys lines on its standard input, with one line of JSON for each:
//   run SECONDS      one call untimed, then at least two timed:  {"ms": [1.25, 1.24, …]}
//   output FILE      the first output of the last call, as raw float32:  {"elements": N}
// Anything that fails answers {"error": "…"}. The process ends with its input.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_BENCH_WORKER_H
#define ATTUNE_BENCH_WORKER_H

#include "compiler/Support/Json.h"
#include "compiler/Tools/EntryCall.h"

#include <memory>
#include <string>
#include <vector>

namespace attune::bench {

/// What a worker process times.
class Subject {
public:
  virtual ~Subject() = default;
  /// One call, inputs to outputs.
  virtual Status run() = 0;
  /// The first output of the last call.
  virtual Result<std::vector<float>> output() = 0;
};

/// What the command line of a worker says.
struct Request {
  std::string model;
  std::string input;
  std::string library;
  std::string disable;
  /// Onnxruntime: outputs present_X are the inputs past_X, written in place.
  bool inPlace = false;
  int64_t threads = 1;
  int64_t sessions = 1;
  /// Of a generation: beams, and ids that each sequence gets. A step of a decoder is repeated as often.
  int64_t beams = 1, newTokens = 1;
};

/// A compiled object and the file of its inputs.
struct OpenedModel {
  Artefact artefact;
  SafetensorsFile file;

  static Result<OpenedModel> open(const Request &request);
  /// All tensors of the file.
  std::vector<TensorView> inputs() const;
};

/// A compiled object on the runtime, called with the tensors of the input file.
Result<std::unique_ptr<Subject>> makeOurs(const Request &request);
/// A step of a compiled decoder after a prompt; of |request.newTokens| > 1 tokens the prompt and all but the last one.
Result<std::unique_ptr<Subject>> makeOursStep(const Request &request);
/// A generation of |request.newTokens| ids with |request.beams| beams.
Result<std::unique_ptr<Subject>> makeOursGenerate(const Request &request);
/// An ONNX model on the onnxruntime library |request.library|, with all graph optimisations but those of |request.disable|.
Result<std::unique_ptr<Subject>> makeOnnxRuntime(const Request &request);

/// |request.sessions| sessions of |request.threads| threads each on one compiled object, ready to be called.
Result<std::vector<EntryCall>> makeSessions(const Request &request);
/// Calls all of them at the same time, each from a thread of its own, for |seconds|: {"calls_per_s": …, "cpu_ms_per_call": …, "ms": […]}.
Result<Json> runSessions(std::vector<EntryCall> &calls, double seconds);

/// Obeys standard input until it ends.
void serve(Subject &subject);
/// The same for many sessions; only `run SECONDS`.
void serveSessions(std::vector<EntryCall> &calls);
/// The same for the machine itself: `run SECONDS` answers {"gflops": …, "read_bytes_per_s": …}, the best of that time.
void serveMachine(int64_t threads);

} // namespace attune::bench

#endif // ATTUNE_BENCH_WORKER_H
