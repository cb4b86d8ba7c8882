//===- Module.cpp - The Python module attune._attune ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's C API for the package attune, whose classes check arguments and document results:
//
//     CompiledModel   a loaded object with its weights         SessionPool    calls of any size
//     ModelSession    memory and workers of one call           TextHandle     tokenizers of a .text file
//     Conversation    a chat                                   DecodeStream   text token by token
//     TextTask        texts to vectors, labels, words, answers
//
// _attune.pyi declares all of it.
//===----------------------------------------------------------------------===//
#include "Conversation.h"
#include "ModelSession.h"
#include "SessionPool.h"
#include "TextTask.h"

using namespace attune::python;

NB_MODULE(_attune, module) {
  // The module's objects may outlive the interpreter's last moments, in threads that end with the process.
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
