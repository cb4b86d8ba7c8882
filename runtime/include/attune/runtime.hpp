//===- runtime.hpp - C++17 wrapper of the runtime's C API ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header only. Objects own their handles and free them; a failing call throws attune::Error with the status and message
// of the C API. Code built without exceptions uses runtime.h.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_HPP
#define ATTUNE_RUNTIME_HPP

#include "attune/runtime.h"

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace attune {

/// The exception that a failing call throws.
class Error : public std::runtime_error {
public:
  Error(attune_status status, const std::string &message) : std::runtime_error(message), code(status) {}
  attune_status status() const { return code; }

private:
  attune_status code;
};

/// Throws unless |status| is ATTUNE_OK.
inline void check(attune_status status) {
  if (status != ATTUNE_OK)
    throw Error(status, attune_last_error());
}

/// The dtype of T; defined for float, int64_t, int32_t and int8_t.
template <typename T>
struct DtypeOf;
template <>
struct DtypeOf<float> {
  static constexpr attune_dtype value = ATTUNE_F32;
};
template <>
struct DtypeOf<int64_t> {
  static constexpr attune_dtype value = ATTUNE_I64;
};
template <>
struct DtypeOf<int32_t> {
  static constexpr attune_dtype value = ATTUNE_I32;
};
template <>
struct DtypeOf<int8_t> {
  static constexpr attune_dtype value = ATTUNE_I8;
};

/// A named tensor in borrowed memory. The memory must outlive the tensor.
class Tensor {
public:
  Tensor(std::string name, attune_dtype dtype, std::vector<int64_t> shape, void *data, size_t bytes)
      : label(std::move(name)), sizes(std::move(shape)), type(dtype), memory(data), memoryBytes(bytes) {}
  /// Returns the tensor of the C API; valid as long as this object.
  attune_tensor c() const {
    return {label.c_str(), type, static_cast<uint32_t>(sizes.size()), sizes.data(), memory, memoryBytes};
  }

private:
  std::string label;
  std::vector<int64_t> sizes;
  attune_dtype type;
  void *memory;
  size_t memoryBytes;
};

/// Views |values| as a tensor. A view of a const vector may only be an input, because inputs are only read.
template <typename T>
Tensor view(std::string name, std::vector<T> &values, std::vector<int64_t> shape) {
  return Tensor(std::move(name), DtypeOf<T>::value, std::move(shape), values.data(), values.size() * sizeof(T));
}
template <typename T>
Tensor view(std::string name, const std::vector<T> &values, std::vector<int64_t> shape) {
  return Tensor(std::move(name), DtypeOf<T>::value, std::move(shape), const_cast<T *>(values.data()),
                values.size() * sizeof(T));
}

/// An output of Session::run that owns its memory, at a multiple of ATTUNE_ALIGNMENT.
class Array {
public:
  Array(std::string name, attune_dtype dtype, std::vector<int64_t> shape, size_t bytes)
      : label(std::move(name)), sizes(std::move(shape)), type(dtype), memoryBytes(bytes) {
    size_t rounded = (bytes / ATTUNE_ALIGNMENT + 1) * ATTUNE_ALIGNMENT;
    memory.reset(std::aligned_alloc(ATTUNE_ALIGNMENT, rounded));
    if (!memory)
      throw Error(ATTUNE_OUT_OF_MEMORY, "no memory for output '" + label + "'");
  }
  const std::string &name() const { return label; }
  const std::vector<int64_t> &shape() const { return sizes; }
  attune_dtype dtype() const { return type; }
  size_t bytes() const { return memoryBytes; }
  /// Returns the elements; throws if T is not the dtype.
  template <typename T>
  const T *data() const {
    if (DtypeOf<T>::value != type)
      throw Error(ATTUNE_INVALID_ARGUMENT, "'" + label + "' holds " + attune_dtype_name(type) + ", asked for " +
                                               attune_dtype_name(DtypeOf<T>::value));
    return static_cast<const T *>(memory.get());
  }
  /// Returns the tensor of the C API; valid as long as this object.
  attune_tensor c() const {
    return {label.c_str(), type, static_cast<uint32_t>(sizes.size()), sizes.data(), memory.get(), memoryBytes};
  }

private:
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::string label;
  std::vector<int64_t> sizes;
  attune_dtype type;
  size_t memoryBytes;
  std::unique_ptr<void, Free> memory;
};

/// An open model. It may be destroyed before its sessions.
class Model {
public:
  /// Opens |desc|; |weights| is a file or a folder, empty = the folder of the program or shared library.
  explicit Model(const attune_model_desc &desc, const std::string &weights = "", bool verifyContents = false) {
    attune_model_options options;
    attune_model_options_init(&options);
    options.weights_path = weights.empty() ? nullptr : weights.c_str();
    options.verify_contents = verifyContents;
    open(desc, options);
  }
  Model(const attune_model_desc &desc, const attune_model_options &options) { open(desc, options); }

  attune_model *get() const { return handle.get(); }
  const attune_model_desc &descriptor() const { return *attune_model_descriptor(handle.get()); }
  /// Returns the names of the classes, in the order of the logits; empty if the model classifies nothing.
  std::vector<std::string> labels() const {
    std::vector<std::string> names;
    for (int64_t i = 0; i < attune_model_num_labels(handle.get()); ++i)
      names.push_back(attune_model_label(handle.get(), i));
    return names;
  }

private:
  struct Close {
    void operator()(attune_model *model) const { attune_model_close(model); }
  };

  void open(const attune_model_desc &desc, const attune_model_options &options) {
    attune_model *model;
    check(attune_model_open(&desc, &options, &model));
    handle.reset(model);
  }

  std::unique_ptr<attune_model, Close> handle;
};

/// Workers that run parallel loops, one loop at a time.
class Pool {
public:
  /// Starts |threads| workers, the calling thread included; 0 = as many as the affinity mask has CPUs.
  explicit Pool(int64_t threads = 0) {
    attune_pool *pool;
    check(attune_pool_create(threads, &pool));
    handle.reset(pool);
  }

  attune_pool *get() const { return handle.get(); }
  int64_t numThreads() const { return attune_pool_num_threads(handle.get()); }
  /// Calls |body|(worker, begin, end) on ranges that together cover [0, n); each but the last is a multiple of |grain|
  /// long. |body| must not throw.
  template <typename Body>
  void parallelFor(int64_t n, int64_t grain, Body &&body) {
    using Function = std::remove_reference_t<Body>;
    attune_pool_parallel_for(
        handle.get(), n, grain,
        [](void *ctx, int64_t worker, int64_t begin, int64_t end) { (*static_cast<Function *>(ctx))(worker, begin, end); },
        const_cast<void *>(static_cast<const void *>(&body)));
  }

private:
  struct Destroy {
    void operator()(attune_pool *pool) const { attune_pool_destroy(pool); }
  };
  std::unique_ptr<attune_pool, Destroy> handle;
};

/// Workspace, caches and workers for one call at a time.
class Session {
public:
  /// Makes a session; |limits| pairs dimension names with their largest values, and |threads| = 0 uses all CPUs of the
  /// affinity mask.
  explicit Session(const Model &model, std::initializer_list<attune_dim_limit> limits = {}, int64_t threads = 0) {
    attune_session_options options;
    attune_session_options_init(&options);
    options.limits = limits.begin();
    options.num_limits = limits.size();
    options.num_threads = threads;
    create(model, options);
  }
  Session(const Model &model, const attune_session_options &options) { create(model, options); }

  attune_session *get() const { return handle.get(); }
  const attune_model *model() const { return attune_session_model(handle.get()); }
  int64_t numThreads() const { return attune_session_num_threads(handle.get()); }

  /// numSlots returns the number of slots of the caches, 0 if the model has none. slotLength returns the number of
  /// tokens in |slot|, -1 if there is no such slot.
  int64_t numSlots() const { return attune_session_num_slots(handle.get()); }
  int64_t slotLength(int64_t slot) const { return attune_session_slot_length(handle.get(), slot); }
  /// Keeps the first |length| tokens of |slot|.
  void truncateSlot(int64_t slot, int64_t length) { check(attune_session_slot_truncate(handle.get(), slot, length)); }
  /// Makes slot |to| a copy of slot |from|.
  void copySlot(int64_t from, int64_t to) { check(attune_session_slot_copy(handle.get(), from, to)); }

  /// Runs |entry| (null = the first) and writes the results to |outputs|, in the caller's memory.
  void run(const char *entry, const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs) {
    runInto(entry, toC(inputs), toC(outputs));
  }
  /// Runs |entry| (null = the first) into new memory; returns all outputs in the order of the entry's signature.
  std::vector<Array> run(const char *entry, const std::vector<Tensor> &inputs) {
    std::vector<attune_tensor> in = toC(inputs);
    std::vector<Array> outputs;
    if (const attune_entry_desc *desc = attune_model_entry(model(), entry)) {
      std::vector<int64_t> dims(desc->num_dims);
      check(attune_infer_dims(model(), entry, in.data(), in.size(), dims.data()));
      for (uint32_t i = 0; i < desc->num_outputs; ++i) {
        const attune_tensor_desc &output = desc->outputs[i];
        std::vector<int64_t> shape(output.rank);
        size_t bytes;
        check(attune_output_shape(model(), entry, i, dims.data(), shape.data(), &bytes));
        outputs.emplace_back(output.name, static_cast<attune_dtype>(output.dtype), std::move(shape), bytes);
      }
    }
    runInto(entry, in, toC(outputs));
    return outputs;
  }

private:
  struct Destroy {
    void operator()(attune_session *session) const { attune_session_destroy(session); }
  };

  void create(const Model &model, const attune_session_options &options) {
    attune_session *session;
    check(attune_session_create(model.get(), &options, &session));
    handle.reset(session);
  }
  void runInto(const char *entry, const std::vector<attune_tensor> &inputs, const std::vector<attune_tensor> &outputs) {
    check(attune_session_run(handle.get(), entry, inputs.data(), inputs.size(), outputs.data(), outputs.size()));
  }
  template <typename List>
  static std::vector<attune_tensor> toC(const List &tensors) {
    std::vector<attune_tensor> result;
    result.reserve(tensors.size());
    for (const auto &tensor : tensors)
      result.push_back(tensor.c());
    return result;
  }

  std::unique_ptr<attune_session, Destroy> handle;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_HPP
