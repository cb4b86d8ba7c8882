//===- EntrySizes.cpp - Formulas of dimensions as C functions --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attune/abi.h"
#include "compiler/Object/EntryFunctions.h"
#include "compiler/Transforms/DimBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
  const auto *it = llvm::find(dims, dim);
  if (it == dims.end())
    return entry.emitError("dimension ") << dim << " is not among the dims of the entry, " << dims;
  return load(i64, dimValues, 8 * (it - dims.begin()));
}

FailureOr<Value> EntryFunctions::evaluate(StringRef what, StringAttr text, Value dimValues, Value workers) {
  std::optional<SizeExpr> formula = SizeExpr::parse(text ? text.getValue() : "0");
  if (!formula)
    return entry.emitError("cannot read the formula of '") << what << "', got " << text;
  bool known = true;
  Value size = formula->emit(builder, loc, [&](StringRef symbol) -> Value {
    FailureOr<Value> value = workers;
    if (symbol != "workers" || !workers)
      value = loadDim(dimValues, builder.getStringAttr(symbol));
    known &= succeeded(value);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), succeeded(value) ? *value : constant(0));
  });
  if (!known)
    return failure();
  return arith::IndexCastOp::create(builder, loc, i64, size).getResult();
}

LogicalResult EntryFunctions::buildSize(StringRef kind, DictionaryAttr formulas) {
  LLVM::LLVMFuncOp function = startFunction(kind, i64, {pointer, i64});
  auto text = formulas ? formulas.getAs<StringAttr>(name) : StringAttr();
  FailureOr<Value> size = evaluate(kind, text, function.getArgument(0), function.getArgument(1));
  if (failed(size))
    return failure();
  LLVM::ReturnOp::create(builder, loc, *size);
  return success();
}

LogicalResult EntryFunctions::buildWork(ArrayAttr kernels) {
  LLVM::LLVMFuncOp function = startFunction("work", LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer});
  constexpr std::pair<const char *, size_t> fields[] = {{"calls", offsetof(attune_kernel_work, calls)},
                                                        {"flops", offsetof(attune_kernel_work, flops)},
                                                        {"weight_bytes", offsetof(attune_kernel_work, weight_bytes)},
                                                        {"tensor_bytes", offsetof(attune_kernel_work, tensor_bytes)}};
  for (auto [index, kernel] : llvm::enumerate(kernels.getAsRange<DictionaryAttr>()))
    for (auto [field, offset] : fields) {
      FailureOr<Value> value = evaluate(field, kernel.getAs<StringAttr>(field), function.getArgument(0), nullptr);
      if (failed(value))
        return failure();
      auto position = static_cast<int32_t>(index * sizeof(attune_kernel_work) + offset);
      Value address =
          LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), function.getArgument(1), ArrayRef<LLVM::GEPArg>{position});
      LLVM::StoreOp::create(builder, loc, *value, address, 8);
    }
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return success();
}
