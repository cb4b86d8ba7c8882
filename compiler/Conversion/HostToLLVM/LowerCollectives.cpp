//===- LowerCollectives.cpp - Calls of the host's all_gather --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects rt.rank and rt.all_gather on buffers in functions whose first argument is the host, a pointer to an
// attune_host (attune/abi.h). Leaves loads of attune_host::rank and calls through the function pointer
// attune_host::all_gather, with an attune_gather on the stack as an argument.
//
//===----------------------------------------------------------------------===//

#include "attune/abi.h"
#include "compiler/Conversion/HostToLLVM/Passes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <cstddef>

namespace attune {
#define GEN_PASS_DEF_LOWERCOLLECTIVES
#include "compiler/Conversion/HostToLLVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// The lowering of one rt.rank or rt.all_gather.
class CollectiveLowering {
public:
  explicit CollectiveLowering(Operation *op)
      : op(op), loc(op->getLoc()), builder(op), converter(op->getContext()), pointer(LLVM::LLVMPointerType::get(op->getContext())),
        i64(builder.getI64Type()) {}
  LogicalResult lowerRank();
  LogicalResult lowerGather(rt::AllGatherOp gather, SymbolTable &symbols);

private:
  /// A buffer in the terms of attune_gather: rows of units along an axis. A unit is the elements of a row at one index
  /// of the axis, those of all later dimensions included. With axis 1 each index of dimension 0 is a row; with axis 0
  /// there is one row.
  struct Rows {
    Value data, rows, unitBytes, stride; // address, number of rows, bytes of a unit, bytes from row to row
  };

  Value constant(int64_t value) { return LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(value)); }
  Value cast(Value value, Type type) { return UnrealizedConversionCastOp::create(builder, loc, type, value).getResult(0); }
  Value multiply(Value a, Value b) { return LLVM::MulOp::create(builder, loc, a, b); }
  Value at(Value base, int64_t bytes) {
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  }
  Value hostMember(Type type, size_t offset);
  FailureOr<Rows> getRows(Value buffer, int64_t axis);
  LLVM::GlobalOp getBegins(ArrayRef<int64_t> begins, SymbolTable &symbols);

  Operation *op;
  Location loc;
  OpBuilder builder;
  LLVMTypeConverter converter;
  Type pointer, i64;
};

} // namespace

Value CollectiveLowering::hostMember(Type type, size_t offset) {
  Value host = op->getParentOfType<FunctionOpInterface>().getArgument(0);
  return LLVM::LoadOp::create(builder, loc, type, at(host, static_cast<int64_t>(offset)), 8);
}

LogicalResult CollectiveLowering::lowerRank() {
  Value rank = cast(hostMember(i64, offsetof(attune_host, rank)), builder.getIndexType());
  op->getResult(0).replaceAllUsesWith(rank);
  op->erase();
  return success();
}

/// Returns |buffer| as rows of units along dimension |axis|, 0 or 1. Fails, with an error, unless the type shows that
/// the buffer is dense from that dimension on, since the units of a row must be consecutive bytes.
FailureOr<CollectiveLowering::Rows> CollectiveLowering::getRows(Value buffer, int64_t axis) {
  auto type = mlir::cast<MemRefType>(buffer.getType());
  if (!type.isStrided())
    return op->emitError("cannot pass a buffer of this layout: ") << type;
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t dense = 1;
  for (int64_t dim = type.getRank() - 1; dim >= axis; --dim) {
    // The stride of a dimension that comes before one of dynamic size is dynamic in the type. For such a dimension only
    // an identity layout shows that the buffer is dense.
    bool isDense = ShapedType::isDynamic(dense) ? type.getLayout().isIdentity() : strides[dim] == dense;
    if (!isDense)
      return op->emitError("expects a buffer that is dense from dimension ") << axis << " on, but got " << type;
    dense = ShapedType::isDynamic(dense) || type.isDynamicDim(dim) ? ShapedType::kDynamic : dense * type.getDimSize(dim);
  }
  MemRefDescriptor descriptor(cast(buffer, converter.convertType(type)));
  Value bytes = constant(type.getElementTypeBitWidth() / 8), start = multiply(descriptor.offset(builder, loc), bytes);
  Rows result;
  result.data = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), descriptor.alignedPtr(builder, loc),
                                    ArrayRef<LLVM::GEPArg>{start});
  result.rows = axis == 0 ? constant(1) : descriptor.size(builder, loc, 0);
  result.unitBytes = bytes;
  for (int64_t dim = axis + 1; dim != type.getRank(); ++dim)
    result.unitBytes = multiply(result.unitBytes, descriptor.size(builder, loc, dim));
  result.stride = axis == 0 ? constant(0) : multiply(descriptor.stride(builder, loc, 0), bytes);
  return result;
}

/// Returns the global constant array of the numbers |begins|, which all gathers with equal |begins| share. Creates the
/// array at the first call.
LLVM::GlobalOp CollectiveLowering::getBegins(ArrayRef<int64_t> begins, SymbolTable &symbols) {
  std::string name = "begins";
  for (int64_t begin : begins)
    name += "_" + std::to_string(begin);
  if (auto known = symbols.lookup<LLVM::GlobalOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(mlir::cast<ModuleOp>(symbols.getOp()).getBody());
  auto type = LLVM::LLVMArrayType::get(i64, begins.size());
  auto global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                       builder.getI64TensorAttr(begins), /*alignment=*/8);
  symbols.insert(global);
  return global;
}

LogicalResult CollectiveLowering::lowerGather(rt::AllGatherOp gather, SymbolTable &symbols) {
  int64_t axis = gather.getAxis();
  FailureOr<Rows> data = getRows(gather.getInput(), axis), result = getRows(gather.getDestinations()[0], axis),
                  scratch = getRows(gather.getDestinations()[1], 0);
  if (failed(data) || failed(result) || failed(scratch))
    return failure();
  Value structure;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&op->getParentOfType<FunctionOpInterface>().getFunctionBody().front());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), sizeof(attune_gather));
    structure = LLVM::AllocaOp::create(builder, loc, pointer, type, constant(1), 8);
  }
  Value begins = LLVM::AddressOfOp::create(builder, loc, getBegins(gather.getBegins(), symbols));
  int64_t units = mlir::cast<MemRefType>(gather.getInput().getType()).getDimSize(axis);
  for (auto [offset, value] :
       {std::pair(offsetof(attune_gather, data), data->data), std::pair(offsetof(attune_gather, result), result->data),
        std::pair(offsetof(attune_gather, scratch), scratch->data), std::pair(offsetof(attune_gather, begins), begins),
        std::pair(offsetof(attune_gather, rows), data->rows), std::pair(offsetof(attune_gather, units), constant(units)),
        std::pair(offsetof(attune_gather, unit_bytes), data->unitBytes), std::pair(offsetof(attune_gather, data_stride), data->stride),
        std::pair(offsetof(attune_gather, result_stride), result->stride)})
    LLVM::StoreOp::create(builder, loc, value, at(structure, static_cast<int64_t>(offset)), 8);
  Value ranks = hostMember(pointer, offsetof(attune_host, ranks)), callee = hostMember(pointer, offsetof(attune_host, all_gather));
  auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, pointer});
  LLVM::CallOp::create(builder, loc, type, ValueRange{callee, ranks, structure});
  op->erase();
  return success();
}

namespace {
struct LowerCollectives : attune::impl::LowerCollectivesBase<LowerCollectives> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    WalkResult walk = getOperation().walk([&](Operation *op) -> WalkResult {
      if (!isa<rt::RankOp, rt::AllGatherOp>(op))
        return WalkResult::advance();
      auto function = op->getParentOfType<FunctionOpInterface>();
      if (!function || function.getNumArguments() == 0 || !isa<LLVM::LLVMPointerType>(function.getArgumentTypes().front()))
        return op->emitError("expects a function whose first argument is the host");
      if (isa<rt::AllGatherOp>(op) && op->getNumResults() != 0)
        return op->emitError("expects a collective on buffers");
      ops.push_back(op);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    if (ops.empty())
      return;
    SymbolTable symbols(getOperation());
    for (Operation *op : ops) {
      auto gather = dyn_cast<rt::AllGatherOp>(op);
      CollectiveLowering lowering(op);
      if (failed(gather ? lowering.lowerGather(gather, symbols) : lowering.lowerRank()))
        return signalPassFailure();
    }
  }
};
} // namespace
