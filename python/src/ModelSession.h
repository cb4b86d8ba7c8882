//===- ModelSession.h - A session for Python --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_MODELSESSION_H
#define ATTUNE_PYTHON_MODELSESSION_H

#include "CompiledModel.h"
#include "TensorArgument.h"

#include <map>

namespace attune::python {

/// The largest value of each dimension of a session, by the name of the dimension.
using Limits = std::map<std::string, int64_t>;

/// Workspace, caches and workers for one call at a time; keeps its model open. A session belongs to the process that
/// made it: its workers do not exist in a child after fork.
class ModelSession {
public:
  /// Makes a session; releases the GIL meanwhile. |threads| = 0: as many as the affinity mask has CPUs.
  ModelSession(std::shared_ptr<CompiledModel> model, const Limits &limits, int64_t threads);
  ModelSession(const ModelSession &) = delete;
  ModelSession &operator=(const ModelSession &) = delete;
  /// Destroys the session, or abandons it in a child after fork.
  ~ModelSession();

  const CompiledModel &model() const { return *owner; }
  /// Returns the session; throws in a child after fork.
  attune_session *get() const;
  /// Returns true if this process made the session.
  bool isOwn() const;

  /// Runs |entry| on |inputs|. |outputs| is a dictionary of the caller's arrays by the names of outputs, or None. Adds
  /// all outputs to |results|, in the signature's order: the caller's arrays, and new NumPy arrays for the other
  /// outputs.
  void run(const attune_entry_desc &entry, const TensorArguments &inputs, nb::handle outputs, nb::dict results);
  /// Does the same with |dims|, which the caller has inferred from |inputs| (attune_infer_dims).
  void run(const attune_entry_desc &entry, const int64_t *dims, const TensorArguments &inputs, nb::handle outputs, nb::dict results);

  /// Returns the first |length| tokens of |slots| in the cache |name| as a new NumPy array of F32, [slots, heads,
  /// length, size], or [slots, length] for a mask. For a cache of sources, |slots| has numbers of sources.
  nb::object readCache(const std::string &name, const std::vector<int64_t> &slots, int64_t length) const;
  /// Fills |slots| with the keys and values in |tensors|, a dictionary of arrays by the names of caches, as
  /// attune_session_cache_write does; row i of each array goes to slots[i].
  void writeCache(nb::dict tensors, const std::vector<int64_t> &slots);

private:
  std::shared_ptr<CompiledModel> owner;
  std::unique_ptr<Session> session;
  int process;
};

/// Returns the host memory in bytes that a session with these limits and threads takes (attune_session_memory_bytes).
size_t sessionBytes(const CompiledModel &model, const Limits &limits, int64_t threads);

/// Adds the class ModelSession and the function session_bytes to |module|.
void bindSession(nb::module_ &module);

} // namespace attune::python

#endif // ATTUNE_PYTHON_MODELSESSION_H
