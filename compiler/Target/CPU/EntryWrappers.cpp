//===- EntryWrappers.cpp - C functions of entries -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects entries (`xfmr.entry`) whose arguments are the host, inputs (`xfmr.name`), outputs (`xfmr.output`), caches (`xfmr.cache`), values
// of dims (`xfmr.dim`), memref<?xi8> for the weights and the workspace, and the number of workers; and the module attributes
// `xfmr.workspace`, `xfmr.flops`, `xfmr.entry_dims`. Adds for an entry E the functions that attune_entry_desc points to:
//
//   attune_entry_E(host, call) -> i32,  attune_workspace_E(dims, workers) -> i64,  attune_flops_E(dims, workers) -> i64
//   attune_work_E(dims, out), if the module attribute `xfmr.kernel_work` knows E
//
// Offsets of structure members are those of attune/abi.h, checked below.
//
//===----------------------------------------------------------------------===//

#include "attune/abi.h"
#include "compiler/Target/CPU/DescriptorSignature.h"
#include "compiler/Target/CPU/Passes.h"
#include "compiler/Transforms/DimBounds.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/IR/XfmrOps.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cstddef>

namespace attune {
#define GEN_PASS_DEF_ENTRYWRAPPERS
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// Builds the functions of one entry.
class EntryBuilder {
public:
  EntryBuilder(func::FuncOp entry, StringRef name, ArrayAttr dims, ArrayRef<CacheSignature> caches, bool device)
      : entry(entry), name(name), dims(dims), caches(caches), device(device), loc(entry.getLoc()), builder(entry.getContext()),
        converter(entry.getContext()), pointer(LLVM::LLVMPointerType::get(entry.getContext())), i64(builder.getI64Type()) {}

  LogicalResult buildEntry();
  LogicalResult buildSize(StringRef kind, DictionaryAttr formulas);
  LogicalResult buildWork(ArrayAttr kernels);

private:
  /// The value of the formula |text| of |what| for the dims at |dimValues|, as i64; `workers` is allowed in it if |workers| is given.
  FailureOr<Value> evaluate(StringRef what, StringAttr text, Value dimValues, Value workers);
  LLVM::LLVMFuncOp startFunction(StringRef kind, Type result, ArrayRef<Type> arguments);
  Value constant(int64_t value) { return LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(value)); }
  Value load(Type type, Value base, int64_t byteOffset);
  FailureOr<Value> loadDim(Value dimValues, Attribute dim);
  /// The descriptor of a dense buffer at |data| with these sizes, as |type|.
  Value describe(MemRefType type, Value data, ArrayRef<Value> sizes);
  FailureOr<Value> buildTensor(unsigned argument, MemRefType type, Value data, Value dimValues);
  /// The host and the first error of a launch, on the stack.
  Value buildLaunchState(Value host);
  /// The cache |cacheName| of the session whose caches are at |state|.
  Value buildCache(MemRefType type, StringRef cacheName, Value state, Value stateDims);

  func::FuncOp entry;
  StringRef name;
  ArrayAttr dims;
  ArrayRef<CacheSignature> caches;
  bool device;
  Location loc;
  OpBuilder builder;
  LLVMTypeConverter converter;
  Type pointer, i64;
};

} // namespace

LLVM::LLVMFuncOp EntryBuilder::startFunction(StringRef kind, Type result, ArrayRef<Type> arguments) {
  builder.setInsertionPointToEnd(entry->getParentOfType<ModuleOp>().getBody());
  auto type = LLVM::LLVMFunctionType::get(result, arguments);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, ("attune_" + kind + "_" + name).str(), type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

Value EntryBuilder::load(Type type, Value base, int64_t byteOffset) {
  Value address = base;
  if (byteOffset != 0)
    address =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(byteOffset)});
  return LLVM::LoadOp::create(builder, loc, type, address, 8);
}

FailureOr<Value> EntryBuilder::loadDim(Value dimValues, Attribute dim) {
  const auto *it = llvm::find(dims, dim);
  if (it == dims.end())
    return entry.emitError("dimension ") << dim << " is not among the dims of the entry, " << dims;
  return load(i64, dimValues, 8 * (it - dims.begin()));
}

Value EntryBuilder::describe(MemRefType type, Value data, ArrayRef<Value> sizes) {
  auto descriptor = MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, data);
  descriptor.setAlignedPtr(builder, loc, data);
  descriptor.setConstantOffset(builder, loc, 0);
  Value stride = constant(1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    descriptor.setSize(builder, loc, dim, sizes[dim]);
    descriptor.setStride(builder, loc, dim, stride);
    if (dim > 0)
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[dim]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor)).getResult(0);
}

FailureOr<Value> EntryBuilder::buildTensor(unsigned argument, MemRefType type, Value data, Value dimValues) {
  auto names = entry.getArgAttrOfType<ArrayAttr>(argument, xfmr::kDimsAttr);
  if (!type.getLayout().isIdentity() || !names || static_cast<int64_t>(names.size()) != type.getRank())
    return entry.emitError("expects argument ")
           << argument << " to be a dense buffer with " << type.getRank() << " dims, but got " << type << " with " << names;
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      sizes.push_back(constant(type.getDimSize(dim)));
      continue;
    }
    FailureOr<Value> size = loadDim(dimValues, names[dim]);
    if (failed(size))
      return failure();
    sizes.push_back(*size);
  }
  return describe(type, data, sizes);
}

Value EntryBuilder::buildCache(MemRefType type, StringRef cacheName, Value state, Value stateDims) {
  constexpr int64_t width = ATTUNE_CACHE_PANEL;
  Value counts[4];
  for (int64_t i = 0; i < 4; ++i)
    counts[i] = load(i64, stateDims, 8 * i);
  auto multiply = [&](Value a, Value b) -> Value { return LLVM::MulOp::create(builder, loc, a, b); };
  // Caches lie one after the other, each a number of bytes per slot and panel.
  int64_t before[2] = {0, 0};
  const CacheSignature *own = nullptr;
  for (const CacheSignature &cache : caches) {
    own = &cache;
    if (cache.name == cacheName)
      break;
    before[cache.ofSources] += cache.heads * cache.size * width * int64_t(sizeof(float));
  }
  Value offset = multiply(multiply(counts[0], counts[1]), constant(before[0]));
  if (own->ofSources)
    offset = LLVM::AddOp::create(builder, loc, offset, multiply(multiply(counts[2], counts[3]), constant(before[1])));
  Value data = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), state, ArrayRef<LLVM::GEPArg>{offset});
  Value slots = counts[own->ofSources ? 2 : 0], panels = counts[own->ofSources ? 3 : 1], capacity = multiply(panels, constant(width));
  if (own->kind == ATTUNE_CACHE_KEYS)
    return describe(type, data, {slots, constant(own->heads), panels, constant(own->size), constant(width)});
  if (own->kind == ATTUNE_CACHE_VALUES)
    return describe(type, data, {slots, constant(own->heads), capacity, constant(own->size)});
  return describe(type, data, {slots, capacity});
}

LogicalResult EntryBuilder::buildEntry() {
  LLVM::LLVMFuncOp function = startFunction("entry", builder.getI32Type(), {pointer, pointer});
  Value host = function.getArgument(0), call = function.getArgument(1);
  Value dimValues = load(pointer, call, offsetof(attune_call, dims));
  Value inputs = load(pointer, call, offsetof(attune_call, inputs)), outputs = load(pointer, call, offsetof(attune_call, outputs));
  unsigned nextInput = 0, nextOutput = 0;
  SmallVector<Value> operands;
  Value launches = device ? buildLaunchState(host) : Value();
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes())) {
    auto role = entry.getArgAttrOfType<StringAttr>(index, xfmr::kRoleAttr);
    auto buffer = dyn_cast<MemRefType>(type);
    auto dim = entry.getArgAttrOfType<StringAttr>(index, xfmr::kDimAttr);
    auto cache = entry.getArgAttrOfType<StringAttr>(index, xfmr::kCacheAttr);
    if (isa<LLVM::LLVMPointerType>(type)) {
      operands.push_back(device ? launches : host);
    } else if (dim && type.isIndex()) {
      FailureOr<Value> value = loadDim(dimValues, dim);
      if (failed(value))
        return failure();
      operands.push_back(arith::IndexCastOp::create(builder, loc, type, *value));
    } else if (cache && buffer) {
      operands.push_back(buildCache(buffer, cache, load(pointer, call, offsetof(attune_call, state)),
                                    load(pointer, call, offsetof(attune_call, state_dims))));
    } else if (role && role.getValue() == "workers") {
      Value workers = load(i64, host, offsetof(attune_host, num_workers));
      operands.push_back(arith::IndexCastOp::create(builder, loc, type, workers));
    } else if (buffer && entry.getArgAttr(index, xfmr::kNameAttr)) {
      bool isOutput = static_cast<bool>(entry.getArgAttr(index, kOutputAttr));
      Value data = load(pointer, isOutput ? outputs : inputs, 8 * (isOutput ? nextOutput++ : nextInput++));
      FailureOr<Value> tensor = buildTensor(index, buffer, data, dimValues);
      if (failed(tensor))
        return failure();
      operands.push_back(*tensor);
    } else if (buffer && buffer.getElementType().isInteger(8) && buffer.getRank() == 1) {
      bool isWorkspace = role && role.getValue() == "workspace";
      Value data = load(pointer, call, isWorkspace ? offsetof(attune_call, workspace) : offsetof(attune_call, weights));
      operands.push_back(describe(buffer, data, constant(std::numeric_limits<int64_t>::max())));
    } else {
      return entry.emitError("argument ") << index << " of type " << type
                                          << " is neither input, output, weights, workspace, workers nor host";
    }
  }
  func::CallOp::create(builder, loc, entry, operands);
  Type i32 = builder.getI32Type();
  Value status = device ? load(i32, launches, 8) : LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0)).getResult();
  LLVM::ReturnOp::create(builder, loc, status);
  return success();
}

Value EntryBuilder::buildLaunchState(Value host) {
  Type i32 = builder.getI32Type(), state = LLVM::LLVMStructType::getLiteral(builder.getContext(), {pointer, i32});
  Value storage = LLVM::AllocaOp::create(builder, loc, pointer, state, constant(1), 8);
  LLVM::StoreOp::create(builder, loc, host, storage, 8);
  Value error = LLVM::GEPOp::create(builder, loc, pointer, state, storage, ArrayRef<LLVM::GEPArg>{0, 1});
  LLVM::StoreOp::create(builder, loc, LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0)), error, 8);
  return storage;
}

FailureOr<Value> EntryBuilder::evaluate(StringRef what, StringAttr text, Value dimValues, Value workers) {
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

LogicalResult EntryBuilder::buildSize(StringRef kind, DictionaryAttr formulas) {
  LLVM::LLVMFuncOp function = startFunction(kind, i64, {pointer, i64});
  auto text = formulas ? formulas.getAs<StringAttr>(name) : StringAttr();
  FailureOr<Value> size = evaluate(kind, text, function.getArgument(0), function.getArgument(1));
  if (failed(size))
    return failure();
  LLVM::ReturnOp::create(builder, loc, *size);
  return success();
}

LogicalResult EntryBuilder::buildWork(ArrayAttr kernels) {
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

namespace {
struct EntryWrappers : attune::impl::EntryWrappersBase<EntryWrappers> {
  using EntryWrappersBase::EntryWrappersBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto dims = module->getAttrOfType<DictionaryAttr>(xfmr::kEntryDimsAttr);
    Result<std::vector<CacheSignature>> caches = readCaches(module);
    if (!caches) {
      module.emitError(caches.message());
      return signalPassFailure();
    }
    for (auto entry : llvm::to_vector(module.getOps<func::FuncOp>())) {
      auto name = entry->getAttrOfType<StringAttr>(xfmr::kEntryAttr);
      if (!name)
        continue;
      auto names = dims ? dims.getAs<ArrayAttr>(name.getValue()) : ArrayAttr();
      if (!names) {
        entry.emitError("expects module attribute '") << xfmr::kEntryDimsAttr << "' to name the dims of entry " << name;
        return signalPassFailure();
      }
      EntryBuilder builder(entry, name.getValue(), names, *caches, device);
      auto work = module->getAttrOfType<DictionaryAttr>(xfmr::kKernelWorkAttr);
      auto kernels = work ? work.getAs<ArrayAttr>(name) : ArrayAttr();
      if (failed(builder.buildEntry()) ||
          failed(builder.buildSize("workspace", module->getAttrOfType<DictionaryAttr>(xfmr::kWorkspaceAttr))) ||
          failed(builder.buildSize("flops", module->getAttrOfType<DictionaryAttr>(xfmr::kFlopsAttr))) ||
          (kernels && failed(builder.buildWork(kernels))))
        return signalPassFailure();
      entry.setPrivate();
    }
  }
};
} // namespace
