//===- RtAttrs.h - The rt dialect and its attributes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_RT_IR_RTATTRS_H
#define ATTUNE_DIALECT_RT_IR_RTATTRS_H

#include "dialect/Rt/IR/Schedule.h"
#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

#include <optional>

#include "dialect/Rt/IR/RtEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Rt/IR/RtAttrs.h.inc"

#include "dialect/Rt/IR/RtDialect.h.inc"

namespace mlir::rt {

/// Names of the dialect's attributes on functions, arguments and loops.
inline constexpr StringLiteral kRoleAttr = RtDialect::RoleAttrHelper::getNameStr();
inline constexpr StringLiteral kWorkspaceAttr = RtDialect::WorkspaceAttrHelper::getNameStr();
inline constexpr StringLiteral kKernelWorkAttr = RtDialect::KernelWorkAttrHelper::getNameStr();
inline constexpr StringLiteral kLaunchAttr = RtDialect::LaunchAttrHelper::getNameStr();
inline constexpr StringLiteral kLimitAttr = RtDialect::LimitAttrHelper::getNameStr();
inline constexpr StringLiteral kDeviceFunctionAttr = RtDialect::DeviceFunctionAttrHelper::getNameStr();

/// The symbol that stands for the number of workers in formulas.
inline constexpr StringLiteral kWorkers = "workers";

/// Returns the index of the first argument of |function| with |role|; nullopt if there is none.
std::optional<unsigned> findRole(FunctionOpInterface function, Role role);
/// Returns the first argument of the function around |loop| whose `rt.limit` is the number |limit|; null if there is
/// none.
BlockArgument findLimit(Operation *loop, int64_t limit);

/// Returns the `rt.launch` of |loop|, a parallel loop on a device. A loop without `rt.launch` gets the defaults: no
/// grid, the default number of threads (0), no shared memory, code for all GPUs, and no limit.
inline LaunchAttr getLaunch(Operation *loop) {
  auto launch = loop->getAttrOfType<LaunchAttr>(kLaunchAttr);
  return launch ? launch : LaunchAttr::get(loop->getContext(), false, 0, 0, 0, std::nullopt);
}

namespace detail {
/// Succeeds if |attribute| has the name `rt.target` or `rt.schedule` and a value of the class of that name, and if |op|
/// is a module; else emits an error of |op|.
LogicalResult verifyModuleAttribute(Operation *op, NamedAttribute attribute);
} // namespace detail

} // namespace mlir::rt

#endif // ATTUNE_DIALECT_RT_IR_RTATTRS_H
