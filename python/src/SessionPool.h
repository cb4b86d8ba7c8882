//===- SessionPool.h - Sessions for calls of any size -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model that is called like a function needs a session that is large enough for the call and that no other thread
// uses. Sizes are rounded up to powers of two, so calls of similar sizes share a session; a few idle ones are kept.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_SESSIONPOOL_H
#define ATTUNE_PYTHON_SESSIONPOOL_H

#include "ModelSession.h"

namespace attune::python {

/// The sessions of one model for entries without caches. All members are called with the GIL, which guards them.
class SessionPool {
public:
  /// |threads| is the number of workers of each session, 0 = all CPUs of the affinity mask.
  SessionPool(std::shared_ptr<CompiledModel> model, int64_t threads) : model(std::move(model)), threads(threads) {}
  SessionPool(const SessionPool &) = delete;
  SessionPool &operator=(const SessionPool &) = delete;

  /// Runs |entry| (none = the first) on a session of its own, see ModelSession::run.
  void run(nb::handle entry, nb::dict inputs, nb::handle outputs, nb::dict results);
  /// Destroys the idle sessions.
  void clear();

private:
  /// An idle session and the sizes that it was made for.
  struct Sized {
    Limits limits;
    std::unique_ptr<ModelSession> session;
  };
  /// The most idle sessions that are kept.
  static constexpr size_t kMaxIdle = 4;

  /// Returns limits for a call with |dims|: those rounded up, and 1 for the dimensions of other entries.
  Limits limitsFor(const attune_entry_desc &entry, const int64_t *dims) const;
  /// Returns an idle session that is large enough for |wanted|, or a new one.
  Sized take(const Limits &wanted);
  /// Keeps |used| for later calls; if there are more than kMaxIdle, the session that was idle for longest leaves.
  void giveBack(Sized used);

  std::shared_ptr<CompiledModel> model;
  int64_t threads;
  /// The last one was used last.
  std::vector<Sized> idle;
};

/// Adds the class SessionPool to |module|.
void bindSessionPool(nb::module_ &module);

} // namespace attune::python

#endif // ATTUNE_PYTHON_SESSIONPOOL_H
