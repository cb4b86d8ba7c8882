//===- RtAttrs.cpp - Verifiers of the attributes of functions and of parallel loops --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Rt/IR/RtAttrs.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::rt;

LogicalResult KernelWorkAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef, int64_t calls, xfmr::FormulaAttr flops,
                                     xfmr::FormulaAttr weightBytes, xfmr::FormulaAttr tensorBytes) {
  if (calls < 0)
    return emitError() << "expects 'calls' not to be negative, but got " << calls;
  for (xfmr::FormulaAttr formula : {flops, weightBytes, tensorBytes})
    if (!llvm::all_of(formula.getSymbols(), llvm::IsaPred<StringAttr>))
      return emitError() << "expects formulas of dims, but got " << formula;
  return success();
}

LogicalResult LaunchAttr::verify(function_ref<InFlightDiagnostic()> emitError, bool, int64_t threads, int64_t sharedBytes, int64_t arch,
                                 std::optional<int64_t> limit) {
  if (threads < 0 || threads % 32 != 0)
    return emitError() << "expects 'threads' to be a multiple of 32, but got " << threads;
  if (sharedBytes < 0 || arch < 0 || limit.value_or(0) < 0)
    return emitError() << "expects 'shared_bytes', 'arch' and 'limit' not to be negative, but got " << sharedBytes << ", " << arch
                       << " and " << limit.value_or(0);
  return success();
}

LogicalResult DeviceFunctionAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef, int64_t sharedBytes, int64_t arch,
                                         int64_t tensorMaps) {
  if (sharedBytes < 0 || arch < 0 || tensorMaps < 0)
    return emitError() << "expects 'shared_bytes', 'arch' and 'tensor_maps' not to be negative, but got " << sharedBytes << ", " << arch
                       << " and " << tensorMaps;
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Succeeds if the value of |attribute| is of the class Expected; else emits an error of |op|. The mnemonic of the
/// class must be the name of the attribute, as in `rt.launch = #rt.launch<…>`.
template <typename Expected>
static LogicalResult verifyKind(Operation *op, NamedAttribute attribute) {
  if (isa<Expected>(attribute.getValue()))
    return success();
  StringRef name = attribute.getName().getValue();
  return op->emitError("expects '") << name << "' to be #" << name << "<...>, but got " << attribute.getValue();
}

static LogicalResult verifyKernelWork(Operation *op, NamedAttribute attribute) {
  if (!isa<FunctionOpInterface>(op) || !xfmr::getEntry(op))
    return op->emitError("expects '") << kKernelWorkAttr << "' on an entry";
  auto kernels = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!kernels || !llvm::all_of(kernels, llvm::IsaPred<KernelWorkAttr>))
    return op->emitError("expects '") << kKernelWorkAttr << "' to be an array of #rt.kernel_work<...>, but got " << attribute.getValue();
  return success();
}

static bool isOffsets(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.getRank() == 1 && buffer.getShape()[0] != 0 && buffer.getElementType().isSignlessInteger(64);
}

static LogicalResult verifyLaunch(Operation *op, NamedAttribute attribute) {
  if (failed(verifyKind<LaunchAttr>(op, attribute)))
    return failure();
  if (op->getName().getStringRef() != "scf.forall")
    return op->emitError("expects '") << kLaunchAttr << "' on an scf.forall";
  std::optional<int64_t> limit = cast<LaunchAttr>(attribute.getValue()).getLimit();
  if (!limit)
    return success();
  if (!findLimit(op, *limit))
    return op->emitError("expects an argument of the function with '") << kLimitAttr << "' " << *limit << ", as this loop has it";
  if (op->getRegion(0).getNumArguments() == 0)
    return op->emitError("expects a loop with 'limit' to have at least one dimension");
  return success();
}

static LogicalResult verifyDeviceFunction(Operation *op, NamedAttribute attribute) {
  if (failed(verifyKind<DeviceFunctionAttr>(op, attribute)))
    return failure();
  Operation *parent = op->getParentOp();
  if (!isa<FunctionOpInterface>(op) || !parent || parent->getName().getStringRef() != "gpu.module")
    return op->emitError("expects '") << kDeviceFunctionAttr << "' on a function of a gpu.module";
  return success();
}

LogicalResult RtDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kWorkspaceAttr)
    return xfmr::verifyEntryFormula(op, attribute);
  if (name == kKernelWorkAttr)
    return verifyKernelWork(op, attribute);
  if (name == kLaunchAttr)
    return verifyLaunch(op, attribute);
  if (name == kDeviceFunctionAttr)
    return verifyDeviceFunction(op, attribute);
  return detail::verifyModuleAttribute(op, attribute);
}

BlockArgument rt::findLimit(Operation *loop, int64_t limit) {
  auto function = loop->getParentOfType<FunctionOpInterface>();
  for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
    if (auto number = function.getArgAttrOfType<IntegerAttr>(i, kLimitAttr); number && number.getInt() == limit)
      return function.getArgument(i);
  return {};
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Returns true if an argument with |role| may have |type|.
static bool isTypeOf(Role role, Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  switch (role) {
  case Role::Host:
    return isa<LLVM::LLVMPointerType>(type);
  case Role::Weights:
  case Role::Workspace:
    return buffer && buffer.getRank() == 1 && buffer.isDynamicDim(0) && buffer.getElementType().isSignlessInteger(8);
  case Role::Workers:
    return type.isIndex() || type.isSignlessInteger(64);
  }
  llvm_unreachable("all roles are handled");
}

static LogicalResult verifyRole(FunctionOpInterface function, unsigned number, NamedAttribute attribute) {
  if (failed(verifyKind<RoleAttr>(function, attribute)))
    return failure();
  auto role = cast<RoleAttr>(attribute.getValue());
  Type type = function.getArgumentTypes()[number];
  if (!isTypeOf(role.getValue(), type))
    return function.emitError("expects argument ")
           << number << " with role " << stringifyRole(role.getValue())
           << " to be a pointer (host), memref<?xi8> (weights, workspace) or index (workers), but got " << type;
  if (findRole(function, role.getValue()) != number)
    return function.emitError("expects one argument with role ") << stringifyRole(role.getValue()) << ", but got another";
  return success();
}

LogicalResult RtDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned number, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (name == kRoleAttr && function)
    return verifyRole(function, number, attribute);
  if (name != kLimitAttr || !function)
    return op->emitError("expects 'rt.role' or 'rt.limit' on arguments of functions, but got '") << name << "'";
  auto limit = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!limit || !limit.getType().isSignlessInteger(64) || limit.getInt() < 0)
    return op->emitError("expects '") << name << "' to be an i64 that is not negative, but got " << attribute.getValue();
  if (Type type = function.getArgumentTypes()[number]; !isOffsets(type))
    return op->emitError("expects the argument with '") << name << "' to be a memref of i64 with one dimension, but got " << type;
  return success();
}

std::optional<unsigned> rt::findRole(FunctionOpInterface function, Role role) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto known = function.getArgAttrOfType<RoleAttr>(i, kRoleAttr); known && known.getValue() == role)
      return i;
  return std::nullopt;
}
