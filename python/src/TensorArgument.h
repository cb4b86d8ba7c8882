//===- TensorArgument.h - Arrays of Python as tensors -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views an object of Python as a tensor of the runtime, without a copy where its memory allows it:
//
//     buffer protocol (NumPy, memoryview)   viewed
//     DLPack (PyTorch, JAX, CuPy, …)        viewed
//     numbers and lists of numbers          inputs are converted by NumPy, outputs are refused
//     strided or unaligned arrays           inputs are copied, outputs are refused
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_TENSORARGUMENT_H
#define ATTUNE_PYTHON_TENSORARGUMENT_H

#include "Errors.h"

#include <nanobind/ndarray.h>

namespace attune::python {

/// The direction of a tensor.
enum class Access { Input, Output };

/// One object of Python as a tensor. Keeps the memory of the Python object alive. The GIL must be held when a
/// TensorArgument is made and destroyed. Cannot be copied or moved.
class TensorArgument {
public:
  /// Views |value|. |name| must outlive this object. |signature| is the tensor's declaration in the entry, or null if
  /// the entry has none of this name; |device| is that of the model. Throws INVALID_ARGUMENT if |value| cannot be
  /// viewed or converted.
  TensorArgument(const char *name, nb::handle value, Access access, const attune_tensor_desc *signature, attune_device device);
  TensorArgument(const TensorArgument &) = delete;
  TensorArgument &operator=(const TensorArgument &) = delete;
  ~TensorArgument();

  /// Returns the tensor of the C API; valid as long as this object.
  attune_tensor c() const;

private:
  /// The element type of an array: the attune_dtype, or -1 if the runtime has no such type, the name for messages, and
  /// the bytes of an element.
  struct ElementType {
    int dtype = -1;
    std::string name;
    size_t bytes = 0;
  };

  /// Views |value| by the protocol that it supports. Returns false if |value| must be converted to a dense array first.
  bool view(nb::handle value);
  bool viewBuffer(nb::handle value);
  bool viewDlpack(nb::handle value);
  bool finishView(void *pointer, int rank, bool contiguous);
  /// Returns |value| as a dense NumPy array; a list of numbers gets the type of |signature|.
  nb::object convert(nb::handle value) const;
  void checkDtype() const;
  std::string label() const;

  const char *name;
  Access access;
  const attune_tensor_desc *signature;
  attune_device device;
  ElementType type;
  uint32_t rank = 0;
  int64_t shape[ATTUNE_MAX_RANK] = {};
  void *data = nullptr;
  // The owners of the memory at |data|: |buffer| if |hasBuffer|, else |array| or |constantArray|. |owner| is the
  // converted copy, if there is one.
  Py_buffer buffer = {};
  bool hasBuffer = false;
  nb::object owner;
  nb::ndarray<> array;
  nb::ndarray<nb::ro> constantArray;
};

/// The tensors of a call by name.
class TensorArguments {
public:
  /// |entry| declares the tensors; null if no entry does, as for caches. |model| and |entry| must outlive this object.
  TensorArguments(Access access, const attune_model_desc &model, const attune_entry_desc *entry)
      : access(access), model(model), entry(entry) {}

  /// Adds the items of |named|, a dictionary of arrays by their names; skips arrays that are None.
  void add(nb::dict named);
  /// Adds the tensor |value|; |name| must outlive this object.
  void add(const char *name, nb::handle value);
  const attune_tensor *data() const { return tensors.data(); }
  size_t size() const { return tensors.size(); }

private:
  Access access;
  const attune_model_desc &model;
  const attune_entry_desc *entry;
  std::vector<std::unique_ptr<TensorArgument>> arguments;
  std::vector<attune_tensor> tensors;
  std::vector<nb::object> names;
};

} // namespace attune::python

#endif // ATTUNE_PYTHON_TENSORARGUMENT_H
