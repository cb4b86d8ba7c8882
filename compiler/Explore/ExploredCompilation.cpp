//===- ExploredCompilation.cpp - A compilation, observed ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Explore/ExploredCompilation.h"
#include "compiler/Driver/DebugInfo.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

/// Returns the operations of |module|, which is in the phase `import`, that ExploredCompilation::Operation describes,
/// in the order of the module.
static std::vector<ExploredCompilation::Operation> listOperations(mlir::ModuleOp module) {
  ModelPaths paths(module);
  std::vector<ExploredCompilation::Operation> operations;
  for (auto function : module.getOps<mlir::FunctionOpInterface>())
    function.walk([&](mlir::Operation *op) {
      if (op->getNumResults() == 0 || llvm::isa<mlir::xfmr::WeightRefOp>(op) || !llvm::isa<mlir::xfmr::XfmrDialect>(op->getDialect()))
        return;
      ExploredCompilation::Operation row;
      row.name = op->getName().getStringRef().str();
      llvm::raw_string_ostream(row.type) << op->getResult(0).getType();
      row.function = function.getName().str();
      row.paths = paths.resolve(function.getName(), op->getLoc());
      operations.push_back(std::move(row));
    });
  return operations;
}

Status ExploredCompilation::compile(CompileOptions options, CompileListener listener) {
  options.debugInfo = true;
  options.compileTo = Phase::Llvm;
  listener.remarks = &remarks;
  listener.beforePasses = [&](Phase phase, mlir::ModuleOp module, mlir::PassManager &passes) {
    if (phase == Phase::Dialect)
      operations = listOperations(module);
    changes.observe(phase, module, passes);
  };
  listener.assembled = [&](const std::string &text, const DebugInfo &info) {
    assembly = text;
    source = info.source();
    lines = info.lines();
  };
  return compileModel(options, listener);
}
