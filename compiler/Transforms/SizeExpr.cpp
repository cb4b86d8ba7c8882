//===- SizeExpr.cpp - Sizes as closed forms of dims ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
