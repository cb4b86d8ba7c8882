//===- EntryEmitter.cpp - Functions for one entry --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/EntryEmitter.h"
#include "compiler/Transforms/DimBounds.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;

EntryEmitter::EntryEmitter(func::FuncOp entry)
    : entry(entry), dims(getEntryDims(entry)), loc(entry.getLoc()), builder(entry.getContext()),
      pointer(LLVM::LLVMPointerType::get(entry.getContext())), i64(builder.getI64Type()) {}

LLVM::LLVMFuncOp EntryEmitter::startFunction(StringRef kind, Type result, ArrayRef<Type> arguments) {
  builder.setInsertionPointToEnd(entry->getParentOfType<ModuleOp>().getBody());
  auto type = LLVM::LLVMFunctionType::get(result, arguments);
  StringRef name = xfmr::getEntry(entry).getName();
  auto function = LLVM::LLVMFuncOp::create(builder, loc, ("attune_" + kind + "_" + name).str(), type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

Value EntryEmitter::load(Type type, Value base, int64_t byteOffset) {
  Value address = base;
  if (byteOffset != 0)
    address =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(byteOffset)});
  return LLVM::LoadOp::create(builder, loc, type, address, 8);
}

FailureOr<Value> EntryEmitter::loadDim(Value dimValues, Attribute dim) {
  auto name = dyn_cast<StringAttr>(dim);
  auto *it = name ? llvm::find(dims, name.getValue()) : dims.end();
  if (it == dims.end())
    return entry.emitError("expects sizes in terms of the dims of the entry, ") << llvm::join(dims, ", ") << ", but got " << dim;
  return load(i64, dimValues, 8 * (it - dims.begin()));
}
