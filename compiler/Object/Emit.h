//===- Emit.h - From LLVM IR to files -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_EMIT_H
#define ATTUNE_COMPILER_OBJECT_EMIT_H

#include "compiler/Object/HostMachine.h"
#include "llvm/IR/Module.h"

#include <string>

namespace attune {

/// The kind of the main output file. PTX is the text of device code.
enum class EmitKind { Object, Shared, Assembly, Ptx };

/// Gives |module| the target's triple, data layout and function attributes; before anything looks at sizes.
void setTarget(llvm::Module &module, const HostMachine &target);
/// LLVM's O3 pipeline. The only library functions it may introduce are memcpy, memmove and memset; floating-point operations keep their
/// order.
void optimizeModule(llvm::Module &module, const HostMachine &target);

/// Object code or assembly text.
Result<std::string> emitCode(llvm::Module &module, const HostMachine &target, bool assembly);

/// Checks what an object promises: no undefined symbols but memcpy, memmove and memset, no constructors, and only |visible| symbols defined
/// for others. Errors name the symbol.
Status checkObject(const std::string &object, llvm::ArrayRef<std::string> visible);

/// Links |object|, the bytes of an object file, to the bytes of a shared object by ld.lld or cc, whichever is found first on the PATH or
/// beside the LLVM installation.
Result<std::string> linkShared(const std::string &object);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_EMIT_H
