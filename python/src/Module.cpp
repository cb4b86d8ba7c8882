//===- Module.cpp - The Python module attune._attune ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binds the runtime's C API for the Python package attune, whose own classes check the types of arguments and document
// results. This module has the classes
//
//     CompiledModel   a loaded object with its weights         SessionPool    calls of any size
//     ModelSession    memory and workers of one call           TextHandle     tokenizers of a .text file
//     Conversation    a chat                                   DecodeStream   text token by token
//     TextTask        texts to vectors, labels, words, answers
//
// and some functions. _attune.pyi declares all of them.
//===----------------------------------------------------------------------===//
#include "Conversation.h"
#include "ModelSession.h"
#include "SessionPool.h"
#include "TextTask.h"

using namespace attune::python;

NB_MODULE(_attune, module) {
  // Nanobind would report objects that live when the interpreter ends as leaks. Threads that end only with the process
  // may still have some.
  nb::set_leak_warnings(false);
  module.attr("__version__") = ATTUNE_VERSION;
  module.attr("ABI_VERSION") = ATTUNE_ABI_VERSION;
  bindErrors(module);
  bindModel(module);
  bindSession(module);
  bindSessionPool(module);
  bindText(module);
  bindGeneration(module);
  bindConversation(module);
  bindTextTask(module);
  module.def("available_cpus", &attune_available_cpus);
  module.def("cpu_has", [](const char *feature) { return attune_cpu_has(feature); }, nb::arg("feature"));
}
