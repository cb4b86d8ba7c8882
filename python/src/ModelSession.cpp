//===- ModelSession.cpp - A session for Python ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ModelSession.h"
#include "NumpyArrays.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <unistd.h>

using namespace attune;
using namespace attune::python;

/// Returns |limits| for the C API; the names in the result point into |limits|.
static std::vector<attune_dim_limit> toLimits(const Limits &limits) {
  std::vector<attune_dim_limit> list;
  for (const auto &[name, max] : limits)
    list.push_back({name.c_str(), max});
  return list;
}

static attune_session_options makeOptions(const std::vector<attune_dim_limit> &limits, int64_t threads) {
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits.data();
  options.num_limits = limits.size();
  options.num_threads = threads;
  return options;
}

size_t python::sessionBytes(const CompiledModel &model, const Limits &limits, int64_t threads) {
  std::vector<attune_dim_limit> list = toLimits(limits);
  attune_session_options options = makeOptions(list, threads);
  size_t bytes;
  check(attune_session_memory_bytes(model.get().get(), &options, &bytes));
  return bytes;
}

ModelSession::ModelSession(std::shared_ptr<CompiledModel> model, const Limits &limits, int64_t threads)
    : owner(std::move(model)), process(getpid()) {
  std::vector<attune_dim_limit> list = toLimits(limits);
  attune_session_options options = makeOptions(list, threads);
  nb::gil_scoped_release release;
  session = std::make_unique<Session>(owner->get(), options);
}

ModelSession::~ModelSession() {
  if (!isOwn()) {
    // The workers of the session are not in this process, so destroying the session would wait for them forever.
    (void)session.release();
    return;
  }
  nb::gil_scoped_release release;
  session.reset();
}

bool ModelSession::isOwn() const { return getpid() == process; }

attune_session *ModelSession::get() const {
  if (!isOwn())
    throwInvalid("the session was made before this process was forked; make one in the child");
  return session->get();
}

void ModelSession::run(const attune_entry_desc &entry, const TensorArguments &inputs, nb::handle outputs, nb::dict results) {
  int64_t dims[ATTUNE_MAX_DIMS];
  check(attune_infer_dims(owner->get().get(), entry.name, inputs.data(), inputs.size(), dims));
  run(entry, dims, inputs, outputs, results);
}

void ModelSession::run(const attune_entry_desc &entry, const int64_t *dims, const TensorArguments &inputs, nb::handle outputs,
                       nb::dict results) {
  attune_session *running = get();
  const attune_model *model = owner->get().get();
  int64_t shape[ATTUNE_MAX_RANK];
  TensorArguments arrays(Access::Output, owner->desc(), &entry);
  nb::dict given = outputs.is_none() ? nb::dict() : nb::cast<nb::dict>(outputs);
  arrays.add(given);
  for (uint32_t i = 0; i < entry.num_outputs; ++i) {
    const attune_tensor_desc &output = entry.outputs[i];
    nb::str name(output.name);
    nb::object array = nb::borrow(PyDict_GetItem(given.ptr(), name.ptr()));
    if (!array.is_valid() || array.is_none()) {
      check(attune_output_shape(model, entry.name, i, dims, shape, nullptr));
      array = makeArray(static_cast<attune_dtype>(output.dtype), shape, output.rank);
      arrays.add(output.name, array);
    }
    results[name] = array;
  }
  nb::gil_scoped_release release;
  check(attune_session_run(running, entry.name, inputs.data(), inputs.size(), arrays.data(), arrays.size()));
}

/// Returns the declaration of the cache |name|. Throws an error that lists all caches if there is no such cache.
static const attune_cache_desc &findCache(const attune_model_desc &model, const std::string &name) {
  std::string known;
  for (uint32_t i = 0; i < model.num_caches; ++i) {
    if (name == model.caches[i].name)
      return model.caches[i];
    known += (i ? ", " : "") + std::string(model.caches[i].name);
  }
  throwInvalid("model '" + std::string(model.name) + "' has no cache '" + name + "'" + (known.empty() ? "" : ", its caches: " + known));
}

/// Checks that |slots| is not empty and that the session has all of them. Throws INVALID_ARGUMENT.
static void checkSlots(const attune_session *session, const std::vector<int64_t> &slots) {
  if (slots.empty())
    throwInvalid("slots is empty, at least one slot expected");
  for (int64_t slot : slots)
    if (attune_session_slot_length(session, slot) < 0)
      throwInvalid("the session has no slot " + std::to_string(slot) + ", it has " + std::to_string(attune_session_num_slots(session)));
}

nb::object ModelSession::readCache(const std::string &name, const std::vector<int64_t> &slots, int64_t length) const {
  attune_session *running = get();
  const attune_cache_desc &cache = findCache(owner->desc(), name);
  if (length < 0)
    throwInvalid("length is " + std::to_string(length) + ", at least 0 expected");
  if (!cache.of_sources)
    checkSlots(running, slots);
  // Checks |length| before it takes memory for as many tokens. For caches of sources only the runtime can check it.
  for (int64_t slot : slots)
    if (!cache.of_sources && length > attune_session_slot_length(running, slot))
      throwInvalid("slot " + std::to_string(slot) + " has " + std::to_string(attune_session_slot_length(running, slot)) +
                   " tokens, length is " + std::to_string(length));
  bool isMask = cache.kind == ATTUNE_CACHE_MASK;
  int64_t rows = static_cast<int64_t>(slots.size());
  int64_t shape[4] = {rows, isMask ? length : cache.heads, length, cache.size};
  uint32_t rank = isMask ? 2 : 4;
  nb::object array = makeArray(ATTUNE_F32, shape, rank);
  TensorArgument tensor(name.c_str(), array, Access::Output, nullptr, ATTUNE_DEVICE_CPU);
  attune_tensor view = tensor.c();
  {
    nb::gil_scoped_release release;
    check(attune_session_cache_read(running, slots.data(), &view));
  }
  return array;
}

void ModelSession::writeCache(nb::dict tensors, const std::vector<int64_t> &slots) {
  attune_session *running = get();
  TensorArguments arguments(Access::Input, owner->desc(), nullptr);
  arguments.add(tensors);
  // The numbers of sources are checked by the runtime alone.
  bool onlySources = arguments.size() > 0;
  for (size_t i = 0; i < arguments.size(); ++i)
    onlySources &= findCache(owner->desc(), arguments.data()[i].name).of_sources != 0;
  if (!onlySources)
    checkSlots(running, slots);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments.data()[i].rank == 0 || arguments.data()[i].shape[0] != static_cast<int64_t>(slots.size()))
      throwInvalid("tensor '" + std::string(arguments.data()[i].name) + "' has another number of rows than the " +
                   std::to_string(slots.size()) + " slots");
  nb::gil_scoped_release release;
  check(attune_session_cache_write(running, slots.data(), arguments.data(), arguments.size()));
}

void python::bindSession(nb::module_ &module) {
  nb::class_<ModelSession>(module, "ModelSession")
      .def(nb::init<std::shared_ptr<CompiledModel>, const Limits &, int64_t>(), nb::arg("model"), nb::arg("limits"), nb::arg("threads"))
      .def(
          "run",
          [](ModelSession &self, nb::handle name, nb::dict inputs, nb::handle outputs, nb::dict results) {
            const attune_entry_desc &entry = self.model().entry(name.is_none() ? nullptr : nb::cast<const char *>(name));
            TensorArguments arguments(Access::Input, self.model().desc(), &entry);
            arguments.add(inputs);
            self.run(entry, arguments, outputs, results);
          },
          nb::arg("entry").none(), nb::arg("inputs"), nb::arg("outputs").none(), nb::arg("results"))
      .def("num_threads", [](const ModelSession &self) { return attune_session_num_threads(self.get()); })
      .def("num_slots", [](const ModelSession &self) { return attune_session_num_slots(self.get()); })
      .def(
          "slot_length", [](const ModelSession &self, int64_t slot) { return attune_session_slot_length(self.get(), slot); },
          nb::arg("slot"))
      .def(
          "truncate_slot",
          [](const ModelSession &self, int64_t slot, int64_t length) { check(attune_session_slot_truncate(self.get(), slot, length)); },
          nb::arg("slot"), nb::arg("length"))
      .def(
          "copy_slot",
          [](const ModelSession &self, int64_t from, int64_t to) {
            attune_session *session = self.get();
            nb::gil_scoped_release release;
            check(attune_session_slot_copy(session, from, to));
          },
          nb::arg("from_slot"), nb::arg("to_slot"))
      .def("read_cache", &ModelSession::readCache, nb::arg("name"), nb::arg("slots"), nb::arg("length"))
      .def("write_cache", &ModelSession::writeCache, nb::arg("tensors"), nb::arg("slots"));
  module.def("session_bytes", &sessionBytes, nb::arg("model"), nb::arg("limits"), nb::arg("threads"));
}
