//===- EntryCall.h - One prepared call of an entry ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of an entry: inputs converted to the signature's types, memory for outputs, and a session of exactly the
// size of this call. The call can run repeatedly.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_ENTRYCALL_H
#define ATTUNE_COMPILER_TOOLS_ENTRYCALL_H

#include "compiler/Support/Safetensors.h"
#include "compiler/Support/SafetensorsWriter.h"
#include "compiler/Tools/Artifact.h"

namespace attune {

/// Returns true if |wanted|, a list of names and groups, contains |name| or its group: "hidden_states" for
/// "hidden_states.3".
bool isWanted(const std::vector<std::string> &wanted, const std::string &name);
/// Returns a view of a tensor in memory.
TensorView viewOf(const OwnedTensor &tensor);

/// Checks |dtype| as the type of a file's tensor for the I64 input |desc|: BOOL is an error unless the input is a mask.
Status checkIntegers(const attune_tensor_desc &desc, DType dtype);
/// Returns |input| converted to the type that |entry| of |artifact| expects. Converts floats to F32, integers to I64,
/// and BOOL to I64 if the input is a mask. Fails for an input that the entry does not have and for any other difference
/// of types.
Result<OwnedTensor> convertInput(const Artifact &artifact, const attune_entry_desc &entry, const TensorView &input);
/// Repeats each integer input with one row, such as a mask, token types or positions, to the largest number of rows
/// among |inputs| of |entry|, as transformers broadcasts them. Ids of tokens stay as they are.
void repeatRows(const attune_entry_desc &entry, std::vector<OwnedTensor> &inputs);
/// Allocates output number |output| of |entry| at |dims|, the values of the entry's dimensions.
Result<OwnedTensor> makeOutput(const Artifact &artifact, const attune_entry_desc &entry, uint32_t output, const std::vector<int64_t> &dims);
/// Returns the runtime's view of |tensor|. The view borrows the name, shape and data of |tensor|.
attune_tensor toRuntime(OwnedTensor &tensor);
/// Returns the error of the runtime call that just failed.
Status runtimeError(const Artifact &artifact);

/// A call that is ready to run; move-only.
class EntryCall {
public:
  /// The number of tokens in each cache slot and in each source before a run.
  struct Cached {
    int64_t past = 0, source = 0;
  };
  /// Prepares entry |entryName| ("" = the first) for |inputs|, which are converted as convertInput does. |threads| 0
  /// means one thread for each CPU of the affinity mask; if there is a |host|, its workers are used instead. At every
  /// run, the caches of an entry that appends to its caches hold |cached| tokens, whose keys and values are zeros.
  static Result<EntryCall> prepare(const Artifact &artifact, const std::string &entryName, const std::vector<TensorView> &inputs,
                                   int64_t threads, const attune_host *host = nullptr, Cached cached = {0, 0});

  /// Runs the entry once.
  Status run();

  /// Returns the values of the dimensions of the entry, in its order.
  const std::vector<int64_t> &dims() const { return dimValues; }
  const attune_entry_desc &entry() const { return *entryDesc; }
  int64_t threads() const { return attune_session_num_threads(session.get()); }

  /// Returns the outputs of the last run under their flat names: a group "hidden_states" becomes "hidden_states.0",
  /// "hidden_states.1", …. |wanted| lists names or groups (empty = all); one that the entry does not compute is an
  /// error.
  Result<std::vector<OwnedTensor>> outputs(const std::vector<std::string> &wanted) const;

private:
  Status addInputs(const std::vector<TensorView> &inputs);
  Status makeSession(int64_t threads, const attune_host *host);
  Status makeOutputs();
  Status fillCaches();

  Artifact artifact;
  const attune_entry_desc *entryDesc = nullptr;
  std::vector<OwnedTensor> inputMemory;
  std::vector<OwnedTensor> outputMemory;
  std::vector<attune_tensor> inputTensors;
  std::vector<attune_tensor> outputTensors;
  std::vector<int64_t> dimValues;
  Cached cached;
  int64_t rows = 0;
  // Declared after the artifact, so destroyed before it.
  std::shared_ptr<attune_session> session;

  explicit EntryCall(const Artifact &artifact) : artifact(artifact) {}

public:
  EntryCall(EntryCall &&) = default;
  EntryCall(const EntryCall &) = delete;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_ENTRYCALL_H
