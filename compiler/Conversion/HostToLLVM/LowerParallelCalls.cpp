//===- LowerParallelCalls.cpp - Calls of the host's parallel_for ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects rt.parallel_call. Leaves calls through the function pointer attune_host::parallel_for (attune/abi.h), with a
// structure of the captures on the stack, and for each body a function of the type attune_body_fn that unpacks the
// captures and calls the body. Of a captured buffer, the structure has only the parts that the buffer's type does not
// give: the pointer, and dynamic sizes, strides and offset.
//
//===----------------------------------------------------------------------===//

#include "attune/abi.h"
#include "compiler/Conversion/HostToLLVM/Passes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cstddef>

namespace attune {
#define GEN_PASS_DEF_LOWERPARALLELCALLS
#include "compiler/Conversion/HostToLLVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// The lowering of one rt.parallel_call.
class CallLowering {
public:
  explicit CallLowering(rt::ParallelCallOp call)
      : call(call), loc(call.getLoc()), builder(call), converter(call.getContext()), pointer(LLVM::LLVMPointerType::get(call.getContext())),
        i64(builder.getI64Type()) {}
  LogicalResult run();

private:
  Value constant(int64_t value) { return LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(value)); }
  Value cast(Value value, Type type) { return UnrealizedConversionCastOp::create(builder, loc, type, value).getResult(0); }
  Value member(Value base, Type aggregate, int32_t index) {
    return LLVM::GEPOp::create(builder, loc, pointer, aggregate, base, ArrayRef<LLVM::GEPArg>{0, index});
  }
  Value hostMember(Type type, int32_t byteOffset) {
    Value address = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), call.getHost(), ArrayRef<LLVM::GEPArg>{byteOffset});
    return LLVM::LoadOp::create(builder, loc, type, address, 8);
  }
  void pack(Value capture, SmallVectorImpl<Value> &members);
  Value unpack(Type type, llvm::function_ref<Value(Type)> next);
  LLVM::LLVMFuncOp buildTrampoline(LLVM::LLVMStructType context, StringAttr name);

  rt::ParallelCallOp call;
  Location loc;
  OpBuilder builder;
  LLVMTypeConverter converter;
  Type pointer, i64;
};

} // namespace

/// Appends to |members| the parts of |capture| that the structure of captures has: of a buffer, the pointer and what is
/// dynamic of its offset, sizes and strides; any other capture as a whole.
void CallLowering::pack(Value capture, SmallVectorImpl<Value> &members) {
  auto type = dyn_cast<MemRefType>(capture.getType());
  Type converted = converter.convertType(capture.getType());
  Value value = converted == capture.getType() ? capture : cast(capture, converted);
  if (!type) {
    members.push_back(value);
    return;
  }
  MemRefDescriptor descriptor(value);
  members.push_back(descriptor.alignedPtr(builder, loc));
  auto [strides, offset] = type.getStridesAndOffset();
  if (ShapedType::isDynamic(offset))
    members.push_back(descriptor.offset(builder, loc));
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    if (type.isDynamicDim(dim))
      members.push_back(descriptor.size(builder, loc, dim));
    if (ShapedType::isDynamic(strides[dim]))
      members.push_back(descriptor.stride(builder, loc, dim));
  }
}

/// Returns a capture of |captureType|, composed of the members that pack appended for it. |next| loads the next member
/// of the structure; its argument is the member's type.
Value CallLowering::unpack(Type captureType, llvm::function_ref<Value(Type)> next) {
  auto type = dyn_cast<MemRefType>(captureType);
  Type converted = converter.convertType(captureType);
  if (!type) {
    Value value = next(converted);
    return converted == captureType ? value : cast(value, captureType);
  }
  auto descriptor = MemRefDescriptor::poison(builder, loc, converted);
  Value data = next(pointer);
  descriptor.setAllocatedPtr(builder, loc, data);
  descriptor.setAlignedPtr(builder, loc, data);
  auto [strides, offset] = type.getStridesAndOffset();
  descriptor.setOffset(builder, loc, ShapedType::isDynamic(offset) ? next(i64) : constant(offset));
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    descriptor.setSize(builder, loc, dim, type.isDynamicDim(dim) ? next(i64) : constant(type.getDimSize(dim)));
    descriptor.setStride(builder, loc, dim, ShapedType::isDynamic(strides[dim]) ? next(i64) : constant(strides[dim]));
  }
  return cast(descriptor, type);
}

/// Builds the function |name| of the type attune_body_fn. Its first argument points to the structure of captures, of
/// type |context|. It calls the body with these captures and with its other arguments: worker, begin and end.
LLVM::LLVMFuncOp CallLowering::buildTrampoline(LLVM::LLVMStructType context, StringAttr name) {
  OpBuilder::InsertionGuard guard(builder);
  auto body = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getBodyAttr());
  builder.setInsertionPointAfter(body);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(call.getContext()), {pointer, i64, i64, i64});
  auto trampoline = LLVM::LLVMFuncOp::create(builder, loc, name, type, LLVM::Linkage::Internal);
  builder.setInsertionPointToStart(trampoline.addEntryBlock(builder));
  int32_t index = 0;
  auto next = [&](Type memberType) -> Value {
    return LLVM::LoadOp::create(builder, loc, memberType, member(trampoline.getArgument(0), context, index++));
  };
  SmallVector<Value> operands;
  for (Type captureType : call.getCaptures().getTypes())
    operands.push_back(unpack(captureType, next));
  for (Value range : trampoline.getArguments().drop_front())
    operands.push_back(cast(range, builder.getIndexType()));
  func::CallOp::create(builder, loc, body, operands);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return trampoline;
}

LogicalResult CallLowering::run() {
  StringAttr name = builder.getStringAttr(call.getBody() + "_body");
  if (SymbolTable::lookupNearestSymbolFrom(call, name))
    return call.emitError("symbol '") << name.getValue() << "' is taken";
  SmallVector<Value> members;
  for (Value capture : call.getCaptures()) {
    if (auto type = dyn_cast<MemRefType>(capture.getType()); type && !type.isStrided())
      return call.emitError("cannot pass a buffer of this layout: ") << type;
    pack(capture, members);
  }
  auto context = LLVM::LLVMStructType::getLiteral(call.getContext(), llvm::map_to_vector(members, [](Value v) { return v.getType(); }));
  LLVM::LLVMFuncOp trampoline = buildTrampoline(context, name);

  Value storage;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&call->getParentOfType<FunctionOpInterface>().getFunctionBody().front());
    storage = LLVM::AllocaOp::create(builder, loc, pointer, context, constant(1), 8);
  }
  for (auto [index, value] : llvm::enumerate(members))
    LLVM::StoreOp::create(builder, loc, value, member(storage, context, index));
  Value count = cast(call.getCount(), i64), grain = cast(call.getGrain(), i64);
  Value pool = hostMember(pointer, offsetof(attune_host, pool)), parallelFor = hostMember(pointer, offsetof(attune_host, parallel_for));
  Value body = LLVM::AddressOfOp::create(builder, loc, trampoline);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(call.getContext()), {pointer, i64, i64, pointer, pointer});
  LLVM::CallOp::create(builder, loc, type, ValueRange{parallelFor, pool, count, grain, body, storage});
  call.erase();
  return success();
}

namespace {
struct LowerParallelCalls : attune::impl::LowerParallelCallsBase<LowerParallelCalls> {
  void runOnOperation() override {
    SmallVector<rt::ParallelCallOp> calls;
    getOperation().walk([&](rt::ParallelCallOp call) { calls.push_back(call); });
    for (rt::ParallelCallOp call : calls)
      if (failed(CallLowering(call).run()))
        return signalPassFailure();
  }
};
} // namespace
