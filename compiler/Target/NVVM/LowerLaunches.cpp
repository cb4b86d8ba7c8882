//===- LowerLaunches.cpp - Calls of the host's launch ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects gpu.launch_func in functions whose first argument points to the state of a call (see
// `attune-entry-wrappers`). The state is an `!llvm.struct<(ptr, i32)>`: a pointer to the host (`attune_host` in
// attune/abi.h) and the first error of the call. Each launch becomes a call of `launch_on`, an internal function, which
// calls the host. `rt.tensor_map` becomes a call of the host, too; `rt.device_arch_is` and `rt.worker_count` become
// loads of members of the host. A kernel's number is its index in the gpu.module.
//
//===----------------------------------------------------------------------===//

#include "attune/abi.h"
#include "compiler/Target/NVVM/Passes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <cstddef>

namespace attune {
#define GEN_PASS_DEF_LOWERLAUNCHES
#include "compiler/Target/NVVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

static constexpr llvm::StringLiteral kLaunchFunction = "launch_on";

namespace {

/// Emits LLVM code that loads and stores members of structures. A member is |bytes| bytes after the pointer |base|.
struct StructureEmitter {
  explicit StructureEmitter(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc), pointer(LLVM::LLVMPointerType::get(builder.getContext())), i32(builder.getI32Type()),
        i64(builder.getI64Type()) {}

  Value constant(Type type, int64_t value) { return LLVM::ConstantOp::create(builder, loc, type, builder.getIntegerAttr(type, value)); }
  Value cast(Value value, Type type) { return UnrealizedConversionCastOp::create(builder, loc, type, value).getResult(0); }
  Value at(Value base, int64_t bytes) {
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  }
  void store(Value value, Value base, int64_t bytes) { LLVM::StoreOp::create(builder, loc, value, at(base, bytes)); }
  Value load(Type type, Value base, int64_t bytes) { return LLVM::LoadOp::create(builder, loc, type, at(base, bytes)); }

  OpBuilder &builder;
  Location loc;
  Type pointer, i32, i64;
};

struct LowerLaunches : attune::impl::LowerLaunchesBase<LowerLaunches> {
  void runOnOperation() override;

private:
  LLVM::LLVMFuncOp buildLaunchFunction();
  LogicalResult lower(gpu::LaunchFuncOp launch, LLVM::LLVMFuncOp function, int64_t number);
  void lower(rt::TensorMapOp op);
  void lowerQuestion(Operation *op);
};

} // namespace

/// Creates `launch_on(state, function, shared_bytes, blocks, threads, args)`, which launches the kernel with the number
/// |function| and stores the result of the launch as the call's error. It does nothing if |blocks| is not positive or
/// the call has an error already.
LLVM::LLVMFuncOp LowerLaunches::buildLaunchFunction() {
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  Location loc = getOperation().getLoc();
  StructureEmitter e(builder, loc);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {e.pointer, e.i32, e.i32, e.i64, e.i32, e.pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, kLaunchFunction, type, LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(builder);
  Block *some = builder.createBlock(&function.getBody()), *done = builder.createBlock(&function.getBody());
  Value state = function.getArgument(0), args = function.getArgument(5);

  builder.setInsertionPointToStart(entry);
  Value ok = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, e.load(e.i32, state, 8), e.constant(e.i32, 0));
  Value isWork = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sgt, function.getArgument(3), e.constant(e.i64, 0));
  auto structure = LLVM::LLVMArrayType::get(builder.getI8Type(), sizeof(attune_launch));
  Value launch = LLVM::AllocaOp::create(builder, loc, e.pointer, structure, e.constant(e.i64, 1), 8);
  LLVM::CondBrOp::create(builder, loc, LLVM::AndOp::create(builder, loc, ok, isWork), some, done);

  builder.setInsertionPointToStart(some);
  Value one = e.constant(e.i32, 1);
  e.store(function.getArgument(1), launch, offsetof(attune_launch, function));
  e.store(function.getArgument(2), launch, offsetof(attune_launch, shared_bytes));
  // The structure has 32 bits for the number of blocks. Numbers above 2^31 - 1 become -1, which the runtime rejects.
  Value tooMany = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sgt, function.getArgument(3), e.constant(e.i64, INT32_MAX));
  Value blocks = LLVM::TruncOp::create(builder, loc, e.i32, function.getArgument(3));
  blocks = LLVM::SelectOp::create(builder, loc, tooMany, e.constant(e.i32, -1), blocks);
  for (int64_t dim = 0; dim < 3; ++dim) {
    e.store(dim == 0 ? blocks : one, launch, offsetof(attune_launch, grid) + 4 * dim);
    e.store(dim == 0 ? Value(function.getArgument(4)) : one, launch, offsetof(attune_launch, block) + 4 * dim);
  }
  e.store(args, launch, offsetof(attune_launch, args));
  Value host = e.load(e.pointer, state, 0);
  Value pool = e.load(e.pointer, host, offsetof(attune_host, pool)), callee = e.load(e.pointer, host, offsetof(attune_host, launch));
  auto calleeType = LLVM::LLVMFunctionType::get(e.i32, {e.pointer, e.pointer});
  Value status = LLVM::CallOp::create(builder, loc, calleeType, ValueRange{callee, pool, launch}).getResult();
  e.store(status, state, 8);
  LLVM::BrOp::create(builder, loc, done);
  builder.setInsertionPointToStart(done);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return function;
}

LogicalResult LowerLaunches::lower(gpu::LaunchFuncOp launch, LLVM::LLVMFuncOp function, int64_t number) {
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  StructureEmitter e(builder, loc);
  LLVMTypeConverter converter(&getContext());
  // The arguments, with the members of its descriptor in place of a buffer, in the order of the parameters that
  // `convert-gpu-to-nvvm` creates.
  SmallVector<Value> members;
  for (Value operand : launch.getKernelOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (type && !type.isStrided())
      return launch.emitError("cannot pass a buffer of this layout: ") << type;
    Type converted = converter.convertType(operand.getType());
    Value value = converted == operand.getType() ? operand : e.cast(operand, converted);
    if (type)
      MemRefDescriptor::unpack(builder, loc, value, type, members);
    else
      members.push_back(value);
  }
  Value values, args;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&launch->getParentOfType<FunctionOpInterface>().getFunctionBody().front());
    auto words = LLVM::LLVMArrayType::get(e.i64, members.size());
    values = LLVM::AllocaOp::create(builder, loc, e.pointer, words, e.constant(e.i64, 1), 8);
    args = LLVM::AllocaOp::create(builder, loc, e.pointer, words, e.constant(e.i64, 1), 8);
  }
  for (auto [index, member] : llvm::enumerate(members)) {
    if (member.getDefiningOp<rt::TensorMapOp>()) {
      e.store(member, args, 8 * index); // the descriptor itself is the argument
      continue;
    }
    e.store(member, values, 8 * index);
    e.store(e.at(values, 8 * index), args, 8 * index);
  }
  Value threads = LLVM::TruncOp::create(builder, loc, e.i32, e.cast(launch.getBlockSizeX(), e.i64));
  Value state = launch->getParentOfType<FunctionOpInterface>().getArgument(0);
  Value shared = launch.getDynamicSharedMemorySize() ? launch.getDynamicSharedMemorySize() : e.constant(e.i32, 0);
  LLVM::CallOp::create(builder, loc, function,
                       ValueRange{state, e.constant(e.i32, number), shared, e.cast(launch.getGridSizeX(), e.i64), threads, args});
  launch.erase();
  return success();
}

/// Loads the member of type |type| at byte |field| of the `attune_host` in the state that the function around |op|
/// gets.
static Value loadOfHost(StructureEmitter &e, Operation *op, Type type, size_t field) {
  Value state = op->getParentOfType<FunctionOpInterface>().getArgument(0);
  return e.load(type, e.load(e.pointer, state, 0), static_cast<int64_t>(field));
}

/// Replaces |op| by a load of a member of the host: rt.worker_count by num_workers, and rt.device_arch_is by the
/// comparison of arch with the operation's architecture and ATTUNE_ARCH_SPECIFIC.
void LowerLaunches::lowerQuestion(Operation *op) {
  OpBuilder builder(op);
  StructureEmitter e(builder, op->getLoc());
  Value answer;
  if (auto onGpu = dyn_cast<rt::DeviceArchIsOp>(op)) {
    Value arch = loadOfHost(e, op, e.i32, offsetof(attune_host, arch));
    answer = LLVM::ICmpOp::create(builder, op->getLoc(), LLVM::ICmpPredicate::eq, arch,
                                  e.constant(e.i32, static_cast<int64_t>(onGpu.getArch()) | ATTUNE_ARCH_SPECIFIC));
  } else {
    answer = e.cast(loadOfHost(e, op, e.i64, offsetof(attune_host, num_workers)), builder.getIndexType());
  }
  op->replaceAllUsesWith(ValueRange(answer));
  op->erase();
}

/// Replaces |op| by the address of a TMA descriptor on the stack. Stores an attune_tensor_map to the stack and calls
/// the host, which encodes it as this descriptor.
void LowerLaunches::lower(rt::TensorMapOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  StructureEmitter e(builder, loc);
  LLVMTypeConverter converter(&getContext());
  Value structure, out;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&op->getParentOfType<FunctionOpInterface>().getFunctionBody().front());
    auto bytes = [&](int64_t count) { return LLVM::LLVMArrayType::get(builder.getI8Type(), count); };
    structure = LLVM::AllocaOp::create(builder, loc, e.pointer, bytes(sizeof(attune_tensor_map)), e.constant(e.i64, 1), 8);
    out =
        LLVM::AllocaOp::create(builder, loc, e.pointer, bytes(ATTUNE_TENSOR_MAP_BYTES), e.constant(e.i64, 1), ATTUNE_TENSOR_MAP_ALIGNMENT);
  }
  int64_t rank = op.getSizes().size(), elementBytes = op.getElementBytes();
  MemRefType type = op.getBuffer().getType();
  SmallVector<Value> members;
  MemRefDescriptor::unpack(builder, loc, e.cast(op.getBuffer(), converter.convertType(type)), type, members);
  Value offset = LLVM::MulOp::create(builder, loc, members[2], e.constant(e.i64, type.getElementTypeBitWidth() / 8));
  e.store(LLVM::GEPOp::create(builder, loc, e.pointer, builder.getI8Type(), members[1], ArrayRef<LLVM::GEPArg>{offset}), structure, 0);
  for (auto [field, value] :
       {std::pair(offsetof(attune_tensor_map, rank), rank), std::pair(offsetof(attune_tensor_map, element_bytes), elementBytes),
        std::pair(offsetof(attune_tensor_map, swizzle), static_cast<int64_t>(op.getSwizzle())),
        std::pair(offsetof(attune_tensor_map, reserved), int64_t(0))})
    e.store(e.constant(e.i32, value), structure, static_cast<int64_t>(field));
  // The lists in the structure begin with the innermost dimension, those of |op| with the outermost.
  for (int64_t dim = 0; dim < rank; ++dim) {
    e.store(e.cast(op.getSizes()[rank - 1 - dim], e.i64), structure, offsetof(attune_tensor_map, sizes) + 8 * dim);
    e.store(e.constant(e.i32, op.getBox()[rank - 1 - dim]), structure, offsetof(attune_tensor_map, box) + 4 * dim);
    Value stride = e.constant(e.i64, elementBytes);
    if (dim != 0)
      stride = LLVM::MulOp::create(builder, loc, stride, e.cast(op.getStrides()[rank - 1 - dim], e.i64));
    e.store(stride, structure, offsetof(attune_tensor_map, strides) + 8 * dim);
  }
  Value pool = loadOfHost(e, op, e.pointer, offsetof(attune_host, pool)),
        callee = loadOfHost(e, op, e.pointer, offsetof(attune_host, encode_map));
  auto calleeType = LLVM::LLVMFunctionType::get(e.i32, {e.pointer, e.pointer, e.pointer});
  Value state = op->getParentOfType<FunctionOpInterface>().getArgument(0);
  Value status = LLVM::CallOp::create(builder, loc, calleeType, ValueRange{callee, pool, structure, out}).getResult();
  // Keep the first error.
  Value before = e.load(e.i32, state, 8);
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, before, e.constant(e.i32, 0));
  e.store(LLVM::SelectOp::create(builder, loc, failed, before, status), state, 8);
  op.replaceAllUsesWith(out);
  op.erase();
}

/// Reports an error at |op| unless it is in a function whose first argument is a pointer, the pointer to the state of a
/// call.
static LogicalResult verifyState(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (function && function.getNumArguments() != 0 && isa<LLVM::LLVMPointerType>(function.getArgumentTypes().front()))
    return success();
  return op->emitError("expects a function whose first argument points to the host and the first error of a call");
}

void LowerLaunches::runOnOperation() {
  SmallVector<gpu::LaunchFuncOp> launches;
  SmallVector<Operation *> asked;
  WalkResult walk = getOperation().walk([&](Operation *op) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      launches.push_back(launch);
    else if (isa<rt::DeviceArchIsOp, rt::WorkerCountOp, rt::TensorMapOp>(op))
      asked.push_back(op);
    else
      return WalkResult::advance();
    return WalkResult(verifyState(op));
  });
  if (walk.wasInterrupted())
    return signalPassFailure();
  DenseMap<StringAttr, int64_t> numbers;
  for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>())
    for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
      numbers[kernel.getNameAttr()] = numbers.size();
  LLVM::LLVMFuncOp function = launches.empty() ? LLVM::LLVMFuncOp() : buildLaunchFunction();
  for (gpu::LaunchFuncOp launch : launches)
    if (failed(lower(launch, function, numbers.lookup(launch.getKernelName()))))
      return signalPassFailure();
  for (Operation *op : asked) {
    if (auto map = dyn_cast<rt::TensorMapOp>(op))
      lower(map);
    else
      lowerQuestion(op);
  }
}
