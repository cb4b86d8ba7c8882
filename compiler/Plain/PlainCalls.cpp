//===- PlainCalls.cpp - Operations as calls of reference functions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/PlainCalls.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace attune;

/// Returns the memref type with the shape and the elements of |type|, a dynamic offset and dynamic strides.
static MemRefType getStridedType(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  return MemRefType::get(type.getShape(), type.getElementType(), StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides));
}

static std::string locate(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return "'" + op->getName().getStringRef().str() + "'" + (function ? " in @" + function.getSymName().str() : "");
}

namespace {
/// Replaces operations of one module by calls of the functions in OpCall.h.
class CallBuilder {
public:
  CallBuilder(ModuleOp module, bool wide) : module(module), wide(wide), builder(module.getContext()) {}
  /// Replaces |op|, whose counterpart in the original module is |original|. Fails if |op| has no reference function,
  /// has a type that the plain path does not support, or is not in a function.
  Status replace(Operation *op, Operation *original);
  /// Adds a call of plain_call after |op|, whose counterpart in the original module is |original|. The words of the
  /// call describe the operands of |op| that are not tensors, then the results. Does nothing if the plain path does not
  /// support the type of an operand or a result, or if a result is not shaped.
  void observe(func::CallOp op, Operation *original);
  std::vector<std::unique_ptr<OpCall>> calls;

private:
  func::FuncOp declare(StringRef name, unsigned arguments, bool returns);
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  /// Creates an OpCall for |original| and sets |address| to a constant with the address of the OpCall.
  OpCall &addCall(Operation *original, Value &address);
  /// Adds code that stores |words| in memory on the stack of |function| and calls plain_call (OpCall.h) with |address|
  /// and the address of that memory.
  void pass(func::FuncOp function, Value address, ArrayRef<Value> words);
  bool isKnown(Type type);
  bool hasKnownTypes(Operation *op);
  /// Appends the words of |operand| to |words|, in the order that OpCall.h defines.
  void describe(Value operand, SmallVectorImpl<Value> &words);
  Status checkTypes(Operation *op);
  void replaceParallelCall(rt::ParallelCallOp op);

  ModuleOp module;
  bool wide;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
};
} // namespace

func::FuncOp CallBuilder::declare(StringRef name, unsigned arguments, bool returns) {
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  SmallVector<Type> inputs(arguments, builder.getIndexType()), results(returns, builder.getIndexType());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, builder.getFunctionType(inputs, results));
  function.setPrivate();
  return function;
}

void CallBuilder::describe(Value operand, SmallVectorImpl<Value> &words) {
  if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()))
    operand = bufferization::ToBufferOp::create(builder, loc, getStridedType(tensor), operand, /*read_only=*/true);
  if (!isa<MemRefType>(operand.getType())) {
    words.push_back(operand);
    return;
  }
  words.push_back(memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, operand));
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, operand);
  words.push_back(metadata.getOffset());
  llvm::append_range(words, metadata.getSizes());
  llvm::append_range(words, metadata.getStrides());
}

OpCall &CallBuilder::addCall(Operation *original, Value &address) {
  calls.push_back(std::make_unique<OpCall>());
  OpCall &call = *calls.back();
  call.op = original;
  call.wide = wide;
  address = index(reinterpret_cast<int64_t>(&call));
  return call;
}

void CallBuilder::pass(func::FuncOp function, Value address, ArrayRef<Value> words) {
  Value storage;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    storage = memref::AllocaOp::create(builder, loc, MemRefType::get({int64_t(words.size()) + 1}, builder.getIndexType()));
  }
  for (auto [i, word] : llvm::enumerate(words))
    memref::StoreOp::create(builder, loc, word, storage, index(int64_t(i)));
  Value pointer = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, storage);
  func::CallOp::create(builder, loc, declare("plain_call", 2, false), ValueRange{address, pointer});
}

bool CallBuilder::isKnown(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.hasRank() && getElementKind(shaped.getElementType(), wide).has_value() : type.isIndex();
}

bool CallBuilder::hasKnownTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return llvm::all_of(types, [&](Type type) { return isKnown(type); });
}

void CallBuilder::observe(func::CallOp op, Operation *original) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function || !hasKnownTypes(op) || !llvm::all_of(op.getResultTypes(), llvm::IsaPred<ShapedType>))
    return;
  builder.setInsertionPointAfter(op);
  loc = op.getLoc();
  Value address;
  addCall(original, address);
  SmallVector<Value> words;
  for (Value operand : op.getOperands())
    if (!isa<RankedTensorType>(operand.getType()))
      describe(operand, words);
  for (Value result : op.getResults())
    describe(result, words);
  pass(function, address, words);
}

Status CallBuilder::checkTypes(Operation *op) {
  if (hasKnownTypes(op))
    return {};
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  std::string text;
  llvm::raw_string_ostream(text) << locate(op) << ": the plain path computes with f32 and integers, got "
                                 << *llvm::find_if_not(types, [&](Type type) { return isKnown(type); });
  return Status::error(text);
}

void CallBuilder::replaceParallelCall(rt::ParallelCallOp op) {
  auto body = module.lookupSymbol<func::FuncOp>(op.getBody());
  SmallVector<Value> operands(op.getCaptures());
  operands.append({index(0), index(0), op.getCount()});
  func::CallOp::create(builder, loc, body, operands);
}

Status CallBuilder::replace(Operation *op, Operation *original) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  if (isa<rt::WorkerIdOp, rt::WorkerCountOp>(op)) {
    op->getResult(0).replaceAllUsesWith(index(isa<rt::WorkerCountOp>(op)));
    op->erase();
    return {};
  }
  if (auto parallel = dyn_cast<rt::ParallelCallOp>(op)) {
    replaceParallelCall(parallel);
    op->erase();
    return {};
  }
  if (!hasReference(op) && !isa<xfmr::WeightRefOp>(op))
    return Status::error(locate(op) + ": the plain path has no definition of this operation");
  if (Status status = checkTypes(op); status.failed())
    return status;
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function)
    return Status::error(locate(op) + ": expected the operation in a function");
  Value address;
  addCall(original, address);
  if (!isa<xfmr::WeightRefOp>(op)) {
    SmallVector<Value> words;
    for (Value operand : op->getOperands())
      describe(operand, words);
    pass(function, address, words);
  }
  for (OpResult result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Value number = index(result.getResultNumber());
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(
            func::CallOp::create(builder, loc, declare("plain_size", 3, true), ValueRange{address, number, index(dim)}).getResult(0));
    Value buffer = memref::AllocOp::create(builder, loc, MemRefType::get(type.getShape(), type.getElementType()), sizes);
    Value target = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    func::CallOp::create(builder, loc, declare("plain_take", 3, false), ValueRange{address, number, target});
    result.replaceAllUsesWith(bufferization::ToTensorOp::create(builder, loc, type, buffer, /*restrict=*/true, /*writable=*/true));
  }
  op->erase();
  return {};
}

Result<std::vector<std::unique_ptr<OpCall>>> attune::replaceByCalls(ModuleOp module, ModuleOp original, bool wide, bool observesCalls) {
  MLIRContext *context = module.getContext();
  context->loadDialect<arith::ArithDialect, bufferization::BufferizationDialect, func::FuncDialect, memref::MemRefDialect>();
  SmallVector<Operation *> copies, originals;
  auto collect = [&](ModuleOp from, SmallVectorImpl<Operation *> &ops) {
    from.walk([&](Operation *op) {
      if (isa_and_nonnull<xfmr::XfmrDialect, tiles::TileDialect, rt::RtDialect>(op->getDialect()) ||
          (observesCalls && isa<func::CallOp>(op)))
        ops.push_back(op);
    });
  };
  collect(module, copies);
  collect(original, originals);
  CallBuilder builder(module, wide);
  for (auto [copy, source] : llvm::zip_equal(copies, originals)) {
    if (isa<xfmr::WeightOp>(copy)) {
      copy->erase();
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(copy)) {
      builder.observe(call, source);
      continue;
    }
    if (Status status = builder.replace(copy, source); status.failed())
      return status;
  }
  return std::move(builder.calls);
}

Status attune::widenFloats(ModuleOp module) {
  MLIRContext *context = module.getContext();
  Type narrow = Float32Type::get(context), wide = Float64Type::get(context);
  Operation *bits = nullptr;
  module.walk([&](arith::BitcastOp op) {
    if (getElementTypeOrSelf(op.getIn()) == narrow || getElementTypeOrSelf(op.getType()) == narrow)
      bits = op;
  });
  if (bits)
    return Status::error(locate(bits) + ": f64 is for phases up to 'kernels': the operation uses the bits of an f32");
  AttrTypeReplacer replacer;
  replacer.addReplacement([=](Type type) -> std::optional<Type> { return type == narrow ? std::optional(wide) : std::nullopt; });
  replacer.addReplacement([=](FloatAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
    if (attr.getType() != narrow)
      return std::nullopt;
    return std::make_pair(Attribute(FloatAttr::get(wide, attr.getValueAsDouble())), WalkResult::skip());
  });
  replacer.addReplacement([=](DenseFPElementsAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
    if (attr.getElementType() != narrow)
      return std::nullopt;
    auto extended = attr.mapValues(wide, [](const APFloat &value) {
      APFloat result = value;
      bool inexact;
      result.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
      return result.bitcastToAPInt();
    });
    return std::make_pair(Attribute(extended), WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  // Casts between f32 and f64 have become casts from f64 to f64, which do nothing.
  SmallVector<Operation *> identities;
  module.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) && op->getOperand(0).getType() == op->getResult(0).getType())
      identities.push_back(op);
  });
  for (Operation *op : identities) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  return {};
}

void attune::expandShapes(ModuleOp module) {
  SmallVector<memref::ExpandShapeOp> ops;
  module.walk([&](memref::ExpandShapeOp op) { ops.push_back(op); });
  for (memref::ExpandShapeOp op : ops) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, op.getSrc());
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape(), strides(sizes.size());
    auto valueOf = [&](OpFoldResult size) -> Value {
      if (auto constant = dyn_cast<Attribute>(size))
        return arith::ConstantIndexOp::create(b, loc, cast<IntegerAttr>(constant).getInt());
      return cast<Value>(size);
    };
    for (auto [group, dims] : llvm::enumerate(op.getReassociationIndices())) {
      Value stride = metadata.getStrides()[group];
      for (int64_t dim : llvm::reverse(dims)) {
        strides[dim] = stride;
        stride = arith::MulIOp::create(b, loc, stride, valueOf(sizes[dim]));
      }
    }
    // The verifier expects constants for the sizes, strides and offset that are static in the result type.
    auto [known, offset] = op.getResultType().getStridesAndOffset();
    OpFoldResult begin = ShapedType::isDynamic(offset) ? OpFoldResult(metadata.getOffset()) : OpFoldResult(b.getIndexAttr(offset));
    for (auto [dim, stride] : llvm::enumerate(known))
      if (!ShapedType::isDynamic(stride))
        strides[dim] = b.getIndexAttr(stride);
    Value result = memref::ReinterpretCastOp::create(b, loc, op.getResultType(), metadata.getBaseBuffer(), begin, sizes, strides);
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }
}
