//===- Emit.h - From LLVM IR to files ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_EMIT_H
#define ATTUNE_COMPILER_OBJECT_EMIT_H

#include "compiler/Object/HostMachine.h"
#include "llvm/IR/Module.h"

#include <string>

namespace llvm {
class PassInstrumentationCallbacks;
} // namespace llvm

namespace attune {

/// The kind of the main output file. PTX is the text of device code.
enum class EmitKind { Object, Shared, Assembly, Ptx };

/// Sets the triple, the data layout and the function attributes of |module|. Call this before any code that reads the
/// sizes of types.
void setTarget(llvm::Module &module, const HostMachine &target);
/// Optimizes |module|. The only library functions that may appear are memcpy, memmove and memset; floating-point
/// operations keep their order. |callbacks| observes LLVM's passes, if it is not null.
void optimizeModule(llvm::Module &module, const HostMachine &target, llvm::PassInstrumentationCallbacks *callbacks = nullptr);

/// Returns object code, or the text of the assembly if |assembly| is true.
Result<std::string> emitCode(llvm::Module &module, const HostMachine &target, bool assembly);

/// Checks that |object| has no undefined symbols but memcpy, memmove and memset, no constructors, and no exported
/// symbols but |visible|. Errors name the symbol.
Status checkObject(const std::string &object, llvm::ArrayRef<std::string> visible);

/// Links |object|, the bytes of an object file, and returns the bytes of the shared object. Uses ld.lld, from the PATH
/// or the LLVM installation, or else a C compiler from the PATH.
Result<std::string> linkShared(const std::string &object);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_EMIT_H
