//===- SessionPool.h - Sessions for calls of any size -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model that is called like a function needs a session that is large enough for the call and that no other thread
// uses. Sizes are rounded up to powers of two, so calls of similar sizes share a session. A few idle sessions are kept.
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

  /// Runs |entry| (None = the first) on a session that no other call uses meanwhile, see ModelSession::run. Fails with
  /// INVALID_ARGUMENT for an entry that uses caches.
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

  /// Returns the limits of a session for a call of |entry| with |dims|: |dims| rounded up, and 1 for the dimensions
  /// that only other entries have.
  Limits limitsFor(const attune_entry_desc &entry, const int64_t *dims) const;
  /// Removes an idle session that is large enough for |wanted| from |idle| and returns it; makes a session if there is
  /// none.
  Sized take(const Limits &wanted);
  /// Adds |used| to |idle|. If there are then more than kMaxIdle, destroys the session that was idle for longest.
  void giveBack(Sized used);

  std::shared_ptr<CompiledModel> model;
  int64_t threads;
  /// The idle sessions in the order of their last use, the most recent one at the end.
  std::vector<Sized> idle;
};

/// Adds the class SessionPool to |module|.
void bindSessionPool(nb::module_ &module);

} // namespace attune::python

#endif // ATTUNE_PYTHON_SESSIONPOOL_H
