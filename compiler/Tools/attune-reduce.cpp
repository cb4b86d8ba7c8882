//===- attune-reduce.cpp - Smaller IR that still shows a problem ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Registry.h"
#include "compiler/Reduce/Passes.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "compiler/Tools/LlvmVersion.h"
#include "mlir/InitAllPasses.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  attune::setVersionPrinter("attune-reduce");
  attune::registerAllTargets();
  mlir::registerAllPasses();
  attune::registerCompilerPasses();
  attune::registerAttuneReducePasses();
  mlir::DialectRegistry registry;
  attune::registerCompilerDialects(registry);
  attune::registerReductionPatterns(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
