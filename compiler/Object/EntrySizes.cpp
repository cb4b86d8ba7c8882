//===- EntrySizes.cpp - Formulas of dimensions as C functions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attune/abi.h"
#include "compiler/Object/EntryFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include <cstddef>

using namespace mlir;
using namespace attune;

LLVM::LLVMFuncOp EntryFunctions::startFunction(StringRef kind, Type result, ArrayRef<Type> arguments) {
  builder.setInsertionPointToEnd(entry->getParentOfType<ModuleOp>().getBody());
  auto type = LLVM::LLVMFunctionType::get(result, arguments);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, ("attune_" + kind + "_" + name).str(), type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

Value EntryFunctions::load(Type type, Value base, int64_t byteOffset) {
  Value address = base;
  if (byteOffset != 0)
    address =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(byteOffset)});
  return LLVM::LoadOp::create(builder, loc, type, address, 8);
}

FailureOr<Value> EntryFunctions::loadDim(Value dimValues, Attribute dim) {
  auto name = dyn_cast<StringAttr>(dim);
  auto *it = name ? llvm::find(dims, name.getValue()) : dims.end();
  if (it == dims.end())
    return entry.emitError("expects sizes in terms of the dims of the entry, ") << llvm::join(dims, ", ") << ", but got " << dim;
  return load(i64, dimValues, 8 * (it - dims.begin()));
}

FailureOr<Value> EntryFunctions::evaluate(xfmr::FormulaAttr formula, Value dimValues, Value workers) {
  bool known = true;
  Value size = SizeExpr::fromFormula(formula).emit(builder, loc, [&](Attribute symbol) -> Value {
    FailureOr<Value> value = workers;
    if (auto name = cast<StringAttr>(symbol); name != rt::kWorkers || !workers)
      value = loadDim(dimValues, name);
    known &= succeeded(value);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), succeeded(value) ? *value : constant(0));
  });
  if (!known)
    return failure();
  return arith::IndexCastOp::create(builder, loc, i64, size).getResult();
}

LogicalResult EntryFunctions::buildSize(StringRef kind, xfmr::FormulaAttr formula) {
  LLVM::LLVMFuncOp function = startFunction(kind, i64, {pointer, i64});
  FailureOr<Value> size = formula ? evaluate(formula, function.getArgument(0), function.getArgument(1)) : constant(0);
  if (failed(size))
    return failure();
  LLVM::ReturnOp::create(builder, loc, *size);
  return success();
}

LogicalResult EntryFunctions::buildWork(ArrayAttr kernels) {
  LLVM::LLVMFuncOp function = startFunction("work", LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer});
  for (auto [index, kernel] : llvm::enumerate(kernels.getAsRange<rt::KernelWorkAttr>())) {
    auto store = [&, index = index](FailureOr<Value> value, size_t offset) -> LogicalResult {
      if (failed(value))
        return failure();
      auto position = static_cast<int32_t>(index * sizeof(attune_kernel_work) + offset);
      Value address =
          LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), function.getArgument(1), ArrayRef<LLVM::GEPArg>{position});
      LLVM::StoreOp::create(builder, loc, *value, address, 8);
      return success();
    };
    auto value = [&](xfmr::FormulaAttr formula) { return evaluate(formula, function.getArgument(0), nullptr); };
    if (failed(store(constant(kernel.getCalls()), offsetof(attune_kernel_work, calls))) ||
        failed(store(value(kernel.getFlops()), offsetof(attune_kernel_work, flops))) ||
        failed(store(value(kernel.getWeightBytes()), offsetof(attune_kernel_work, weight_bytes))) ||
        failed(store(value(kernel.getTensorBytes()), offsetof(attune_kernel_work, tensor_bytes))))
      return failure();
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return success();
}
