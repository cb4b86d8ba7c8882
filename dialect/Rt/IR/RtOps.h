//===- RtOps.h - The rt dialect and its operations --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_RT_IR_RTOPS_H
#define ATTUNE_DIALECT_RT_IR_RTOPS_H

#include "dialect/Rt/IR/RtAttrs.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#define GET_OP_CLASSES
#include "dialect/Rt/IR/RtOps.h.inc"

#endif // ATTUNE_DIALECT_RT_IR_RTOPS_H
