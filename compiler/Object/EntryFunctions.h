//===- EntryFunctions.h - C functions of entries ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_ENTRYFUNCTIONS_H
#define ATTUNE_COMPILER_OBJECT_ENTRYFUNCTIONS_H

#include "compiler/Object/DescriptorSignature.h"
#include "compiler/Transforms/DimBounds.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// Builds the functions that the descriptor of one entry points to, at the end of its module. Errors are reported at the entry.
class EntryFunctions {
public:
  EntryFunctions(mlir::func::FuncOp entry, llvm::StringRef name, llvm::ArrayRef<CacheSignature> caches, bool device)
      : entry(entry), name(name), dims(getEntryDims(entry)), caches(caches), device(device), loc(entry.getLoc()),
        builder(entry.getContext()), converter(entry.getContext()), pointer(mlir::LLVM::LLVMPointerType::get(entry.getContext())),
        i64(builder.getI64Type()) {}

  /// `attune_entry_E(host, call)`, which takes an attune_call apart and calls the entry.
  mlir::LogicalResult buildEntry();
  /// `attune_KIND_E(dims, workers)`, the value of |formula|, 0 if that is null.
  mlir::LogicalResult buildSize(llvm::StringRef kind, mlir::xfmr::FormulaAttr formula);
  /// `attune_work_E(dims, out)`, an attune_kernel_work for each of |kernels|.
  mlir::LogicalResult buildWork(mlir::ArrayAttr kernels);

private:
  /// The value of |formula| for the dims at |dimValues|, as i64; `workers` is allowed in it if |workers| is given.
  mlir::FailureOr<mlir::Value> evaluate(mlir::xfmr::FormulaAttr formula, mlir::Value dimValues, mlir::Value workers);
  mlir::LLVM::LLVMFuncOp startFunction(llvm::StringRef kind, mlir::Type result, llvm::ArrayRef<mlir::Type> arguments);
  mlir::Value constant(int64_t value) { return mlir::LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(value)); }
  mlir::Value load(mlir::Type type, mlir::Value base, int64_t byteOffset);
  mlir::FailureOr<mlir::Value> loadDim(mlir::Value dimValues, mlir::Attribute dim);
  /// The descriptor of a dense buffer at |data| with these sizes, as |type|.
  mlir::Value describe(mlir::MemRefType type, mlir::Value data, llvm::ArrayRef<mlir::Value> sizes);
  mlir::FailureOr<mlir::Value> buildTensor(unsigned argument, mlir::MemRefType type, mlir::Value data, mlir::Value dimValues);
  /// The argument |role| of the entry, of type |type|: |state| for the host, which is |host| or the state of its launches.
  mlir::Value buildRole(mlir::rt::Role role, mlir::Type type, mlir::Value host, mlir::Value state, mlir::Value call);
  /// The host and the first error of a launch, on the stack.
  mlir::Value buildLaunchState(mlir::Value host);
  /// The cache |cacheName| of the session whose caches are at |state|.
  mlir::Value buildCache(mlir::MemRefType type, llvm::StringRef cacheName, mlir::Value state, mlir::Value stateDims);

  mlir::func::FuncOp entry;
  llvm::StringRef name;
  llvm::SmallVector<llvm::StringRef> dims;
  llvm::ArrayRef<CacheSignature> caches;
  bool device;
  mlir::Location loc;
  mlir::OpBuilder builder;
  mlir::LLVMTypeConverter converter;
  mlir::Type pointer, i64;
};

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_ENTRYFUNCTIONS_H
