//===- EntryAdapter.cpp - From an attune_call to an entry's arguments -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Offsets of structure members are those of attune/abi.h.
//
//===----------------------------------------------------------------------===//

#include "compiler/Object/EntryAdapter.h"
#include "attune/abi.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cstddef>

using namespace mlir;
using namespace attune;

Value EntryAdapter::describe(MemRefType type, Value data, ArrayRef<Value> sizes) {
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

FailureOr<Value> EntryAdapter::buildTensor(unsigned argument, MemRefType type, Value data, Value dimValues) {
  ArrayAttr names = xfmr::getArgumentDims(entry, argument);
  if (!type.getLayout().isIdentity())
    return entry.emitError("expects argument ") << argument << " to be a dense buffer, but got " << type;
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

Value EntryAdapter::buildCache(MemRefType type, StringRef cacheName, Value state, Value stateDims) {
  constexpr int64_t width = ATTUNE_CACHE_PANEL;
  Value counts[4];
  for (int64_t i = 0; i < 4; ++i)
    counts[i] = load(i64, stateDims, 8 * i);
  auto multiply = [&](Value a, Value b) -> Value { return LLVM::MulOp::create(builder, loc, a, b); };
  // |counts| has the slots, the panels of a slot, the sources, and the panels of a source. Caches follow each other in
  // memory, those of sequences before those of sources. A panel has |width| tokens. |before| has the bytes of one panel
  // of one slot in all caches before |cacheName|: first in caches of sequences, then in caches of sources.
  int64_t before[2] = {0, 0};
  const CacheSignature *own = nullptr;
  for (const CacheSignature &cache : caches) {
    own = &cache;
    if (cache.name == cacheName)
      break;
    before[cache.ofSources] += cache.tokenBytes() * width;
  }
  Value offset = multiply(multiply(counts[0], counts[1]), constant(before[0]));
  if (own->ofSources)
    offset = LLVM::AddOp::create(builder, loc, offset, multiply(multiply(counts[2], counts[3]), constant(before[1])));
  Value data = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), state, ArrayRef<LLVM::GEPArg>{offset});
  Value slots = counts[own->ofSources ? 2 : 0], panels = counts[own->ofSources ? 3 : 1], capacity = multiply(panels, constant(width));
  if (own->kind == ATTUNE_CACHE_KEYS)
    return describe(type, data, {slots, constant(own->heads), panels, constant(own->tokenElements()), constant(width)});
  if (own->kind == ATTUNE_CACHE_VALUES)
    return describe(type, data, {slots, constant(own->heads), capacity, constant(own->tokenElements())});
  return describe(type, data, {slots, capacity});
}

Value EntryAdapter::buildRole(rt::Role role, Type type, Value host, Value state, Value call) {
  switch (role) {
  case rt::Role::Host:
    return state;
  case rt::Role::Workers:
    return arith::IndexCastOp::create(builder, loc, type, load(i64, host, offsetof(attune_host, num_workers)));
  case rt::Role::Weights:
  case rt::Role::Workspace:
    break;
  }
  Value data = load(pointer, call, role == rt::Role::Workspace ? offsetof(attune_call, workspace) : offsetof(attune_call, weights));
  return describe(cast<MemRefType>(type), data, constant(std::numeric_limits<int64_t>::max()));
}

LogicalResult EntryAdapter::build() {
  LLVM::LLVMFuncOp function = startFunction("entry", builder.getI32Type(), {pointer, pointer});
  Value host = function.getArgument(0), call = function.getArgument(1);
  Value dimValues = load(pointer, call, offsetof(attune_call, dims));
  Value inputs = load(pointer, call, offsetof(attune_call, inputs)), outputs = load(pointer, call, offsetof(attune_call, outputs));
  unsigned nextInput = 0, nextOutput = 0;
  SmallVector<Value> operands;
  Value launches = device ? buildLaunchState(host) : Value();
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes())) {
    auto role = entry.getArgAttrOfType<rt::RoleAttr>(index, rt::kRoleAttr);
    auto buffer = dyn_cast<MemRefType>(type);
    xfmr::SessionDimAttr dim = xfmr::getSessionDim(entry, index);
    xfmr::CacheAttr cache = xfmr::getCache(entry, index);
    xfmr::OutputAttr output = xfmr::getOutput(entry, index);
    if (role) {
      operands.push_back(buildRole(role.getValue(), type, host, device ? launches : host, call));
    } else if (dim) {
      FailureOr<Value> value = loadDim(dimValues, builder.getStringAttr(xfmr::stringifySessionDim(dim.getValue())));
      if (failed(value))
        return failure();
      operands.push_back(arith::IndexCastOp::create(builder, loc, type, *value));
    } else if (cache && buffer) {
      operands.push_back(buildCache(buffer, cache.getName(), load(pointer, call, offsetof(attune_call, state)),
                                    load(pointer, call, offsetof(attune_call, state_dims))));
    } else if (buffer && (output || xfmr::getInput(entry, index))) {
      Value data = load(pointer, output ? outputs : inputs, 8 * (output ? nextOutput++ : nextInput++));
      FailureOr<Value> tensor = buildTensor(index, buffer, data, dimValues);
      if (failed(tensor))
        return failure();
      operands.push_back(*tensor);
    } else {
      return entry.emitError("argument ") << index << " of type " << type << " is neither input nor output and has no role";
    }
  }
  func::CallOp::create(builder, loc, entry, operands);
  Type i32 = builder.getI32Type();
  Value status = device ? load(i32, launches, 8) : LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0)).getResult();
  LLVM::ReturnOp::create(builder, loc, status);
  return success();
}

Value EntryAdapter::buildLaunchState(Value host) {
  Type i32 = builder.getI32Type(), state = LLVM::LLVMStructType::getLiteral(builder.getContext(), {pointer, i32});
  Value storage = LLVM::AllocaOp::create(builder, loc, pointer, state, constant(1), 8);
  LLVM::StoreOp::create(builder, loc, host, storage, 8);
  Value error = LLVM::GEPOp::create(builder, loc, pointer, state, storage, ArrayRef<LLVM::GEPArg>{0, 1});
  LLVM::StoreOp::create(builder, loc, LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0)), error, 8);
  return storage;
}
