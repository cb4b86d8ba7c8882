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

/// Sets the triple, the data layout and the function attributes of |module|. Must run before all code that reads the
/// sizes of types, since the data layout decides them.
void setTarget(llvm::Module &module, const HostMachine &target);
/// Optimizes |module|, then splits its long blocks (SplitLongBlocks.h). LLVM's passes introduce calls of no library
/// functions but memcpy, memmove and memset, and keep the order of floating-point operations. |callbacks|, if not null,
/// observes the passes.
void optimizeModule(llvm::Module &module, const HostMachine &target, llvm::PassInstrumentationCallbacks *callbacks = nullptr);

/// Returns the bytes of an object file, or the text of the assembly if |assembly| is true. Fails if |module| is
/// invalid.
Result<std::string> emitCode(llvm::Module &module, const HostMachine &target, bool assembly);

/// Checks that |object|, the bytes of an object file, has no undefined symbols but memcpy, memmove and memset, no
/// exported symbols but |visible|, and no constructors. Errors name the symbol, or the section of constructors.
Status checkObject(const std::string &object, llvm::ArrayRef<std::string> visible);

/// Links |object|, the bytes of an object file, and returns the bytes of the shared object. Uses ld.lld, from the PATH
/// or the LLVM installation, or else a C compiler from the PATH. Fails if there is none of these, or if the linker
/// fails.
Result<std::string> linkShared(const std::string &object);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_EMIT_H
