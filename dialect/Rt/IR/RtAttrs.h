//===- RtAttrs.h - The rt dialect and its attributes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_RT_IR_RTATTRS_H
#define ATTUNE_DIALECT_RT_IR_RTATTRS_H

#include "dialect/Rt/IR/Schedule.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

#include "dialect/Rt/IR/RtDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Rt/IR/RtAttrs.h.inc"

#endif // ATTUNE_DIALECT_RT_IR_RTATTRS_H
