//===- attune-opt.cpp - Run passes and phases on IR -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Registry.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "compiler/Tools/LlvmVersion.h"
#include "mlir/InitAllPasses.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  attune::setVersionPrinter("attune-opt");
  attune::registerAllTargets();
  mlir::registerAllPasses();
  attune::registerCompilerPasses();
  mlir::DialectRegistry registry;
  attune::registerCompilerDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Attune pass driver\n", registry));
}
