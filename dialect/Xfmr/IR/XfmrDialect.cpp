//===- XfmrDialect.cpp - Registration and attribute storage of the xfmr dialect -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/Assembly.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::xfmr;

#include "dialect/Xfmr/IR/XfmrDialect.cpp.inc"
#include "dialect/Xfmr/IR/XfmrEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Xfmr/IR/XfmrAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/Xfmr/IR/XfmrOps.cpp.inc"

void XfmrDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Xfmr/IR/XfmrAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Xfmr/IR/XfmrOps.cpp.inc"
      >();
}
