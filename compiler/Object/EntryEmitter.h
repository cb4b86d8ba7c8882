//===- EntryEmitter.h - Functions for one entry -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_ENTRYEMITTER_H
#define ATTUNE_COMPILER_OBJECT_ENTRYEMITTER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// A builder of C functions of one entry, which the entry's descriptor points to. It adds the functions at the end of
/// the module and reports errors at the location of the entry.
class EntryEmitter {
protected:
  explicit EntryEmitter(mlir::func::FuncOp entry);

  /// Creates the hidden function `attune_KIND_E` for the entry E, with an empty body, in which the builder inserts from
  /// then on.
  mlir::LLVM::LLVMFuncOp startFunction(llvm::StringRef kind, mlir::Type result, llvm::ArrayRef<mlir::Type> arguments);
  mlir::Value constant(int64_t value) { return mlir::LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(value)); }
  mlir::Value load(mlir::Type type, mlir::Value base, int64_t byteOffset);
  /// Loads the value of |dim|, the name of a dim of the entry, from the array |dimValues|. Fails with an error if the
  /// entry has no such dim.
  mlir::FailureOr<mlir::Value> loadDim(mlir::Value dimValues, mlir::Attribute dim);

  mlir::func::FuncOp entry;
  llvm::SmallVector<llvm::StringRef> dims;
  mlir::Location loc;
  mlir::OpBuilder builder;
  mlir::Type pointer, i64;
};

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_ENTRYEMITTER_H
