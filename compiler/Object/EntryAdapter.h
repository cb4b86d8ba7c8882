//===- EntryAdapter.h - attune_call to arguments of an entry ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_ENTRYADAPTER_H
#define ATTUNE_COMPILER_OBJECT_ENTRYADAPTER_H

#include "compiler/Object/DescriptorSignature.h"
#include "compiler/Object/EntryEmitter.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

namespace attune {

/// A builder of the C function `attune_entry_E(host, call)` of the entry E, which unpacks an attune_call and calls E.
/// The function returns 0 or, if kernels run on a device, the first error of a launch or of a TMA descriptor.
class EntryAdapter : EntryEmitter {
public:
  EntryAdapter(mlir::func::FuncOp entry, llvm::ArrayRef<CacheSignature> caches, bool device)
      : EntryEmitter(entry), caches(caches), device(device), converter(entry.getContext()) {}

  mlir::LogicalResult build();

private:
  /// Creates the memref descriptor of a dense buffer at |data| with |sizes|, as |type|.
  mlir::Value describe(mlir::MemRefType type, mlir::Value data, llvm::ArrayRef<mlir::Value> sizes);
  mlir::FailureOr<mlir::Value> buildTensor(unsigned argument, mlir::MemRefType type, mlir::Value data, mlir::Value dimValues);
  /// Creates the argument of the entry with |role| and |type|. |state| is the value of the host argument: |host|, or
  /// the result of buildLaunchState if kernels run on a device.
  mlir::Value buildRole(mlir::rt::Role role, mlir::Type type, mlir::Value host, mlir::Value state, mlir::Value call);
  /// Creates a structure on the stack with the host and the first error of the call, 0 so far.
  mlir::Value buildLaunchState(mlir::Value host);
  /// Creates the memref descriptor of the cache |cacheName|. |state| is the address of the session's caches,
  /// |stateDims| the address of their sizes (attune_call::state_dims).
  mlir::Value buildCache(mlir::MemRefType type, llvm::StringRef cacheName, mlir::Value state, mlir::Value stateDims);

  llvm::ArrayRef<CacheSignature> caches;
  bool device;
  mlir::LLVMTypeConverter converter;
};

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_ENTRYADAPTER_H
