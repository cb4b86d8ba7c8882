//===- SessionPool.cpp - Sessions for calls of any size -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SessionPool.h"

#include <algorithm>
#include <nanobind/stl/shared_ptr.h>

using namespace attune;
using namespace attune::python;

/// Returns the least power of two that is at least |size|, or |max| if that is less and not 0.
static int64_t roundUp(int64_t size, int64_t max) {
  int64_t rounded = 1;
  while (rounded < size && rounded < (int64_t(1) << 40))
    rounded *= 2;
  rounded = std::max(rounded, size);
  return max ? std::min(rounded, max) : rounded;
}

Limits SessionPool::limitsFor(const attune_entry_desc &entry, const int64_t *dims) const {
  Limits limits;
  const attune_model_desc &desc = model->desc();
  for (uint32_t e = 0; e < desc.num_entries; ++e)
    for (uint32_t d = 0; d < desc.entries[e].num_dims; ++d)
      if (desc.entries[e].dims[d].origin != ATTUNE_DIM_TOTAL_LENGTH)
        limits[desc.entries[e].dims[d].name] = 1;
  for (uint32_t d = 0; d < entry.num_dims; ++d)
    if (entry.dims[d].origin != ATTUNE_DIM_TOTAL_LENGTH)
      limits[entry.dims[d].name] = roundUp(dims[d], entry.dims[d].max);
  return limits;
}

SessionPool::Sized SessionPool::take(const Limits &wanted) {
  auto fits = [&](const Sized &candidate) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto &limit) { return candidate.limits.at(limit.first) >= limit.second; });
  };
  for (size_t i = idle.size(); i-- > 0;)
    if (!idle[i].session->isOwn())
      idle.erase(idle.begin() + static_cast<ptrdiff_t>(i));
  auto found = std::find_if(idle.rbegin(), idle.rend(), fits);
  if (found != idle.rend()) {
    Sized taken = std::move(*found);
    idle.erase(std::next(found).base());
    return taken;
  }
  return {wanted, std::make_unique<ModelSession>(model, wanted, threads)};
}

void SessionPool::giveBack(Sized used) {
  idle.push_back(std::move(used));
  if (idle.size() > kMaxIdle) {
    Sized oldest = std::move(idle.front());
    idle.erase(idle.begin());
    // |oldest| is destroyed after the changes of |idle|, because its destructor releases the GIL, and other threads may
    // then use this pool.
  }
}

void SessionPool::run(nb::handle entryName, nb::dict inputs, nb::handle outputs, nb::dict results) {
  const attune_entry_desc &entry = model->entry(entryName.is_none() ? nullptr : nb::cast<const char *>(entryName));
  if (entry.cache_use != ATTUNE_CACHE_UNUSED)
    throwInvalid("entry '" + std::string(entry.name) + "' uses the caches of a session: call it by model.session(…).run(…)");
  TensorArguments arguments(Access::Input, model->desc(), &entry);
  arguments.add(inputs);
  int64_t dims[ATTUNE_MAX_DIMS];
  check(attune_infer_dims(model->get().get(), entry.name, arguments.data(), arguments.size(), dims));
  Sized used = take(limitsFor(entry, dims));
  try {
    used.session->run(entry, dims, arguments, outputs, results);
  } catch (const Error &error) {
    if (error.status() == ATTUNE_INVALID_ARGUMENT)
      giveBack(std::move(used));
    throw;
  }
  giveBack(std::move(used));
}

void SessionPool::clear() {
  // Destructors release the GIL, and other threads may then use this pool.
  std::vector<Sized> gone = std::move(idle);
  idle.clear();
}

void python::bindSessionPool(nb::module_ &module) {
  nb::class_<SessionPool>(module, "SessionPool")
      .def(nb::init<std::shared_ptr<CompiledModel>, int64_t>(), nb::arg("model"), nb::arg("threads"))
      .def("run", &SessionPool::run, nb::arg("entry").none(), nb::arg("inputs"), nb::arg("outputs").none(), nb::arg("results"))
      .def("clear", &SessionPool::clear);
}
