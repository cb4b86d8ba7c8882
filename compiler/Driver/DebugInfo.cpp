//===- DebugInfo.cpp - Line tables to the phase vector --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/DebugInfo.h"
#include "compiler/Driver/RemarkLog.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/LocationSnapshot.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace mlir;

void DebugInfo::takeSource(ModuleOp module, StringRef name) {
  ModelPaths model(module);
  llvm::DenseMap<Operation *, std::string> names;
  for (auto function : module.getOps<FunctionOpInterface>())
    function.walk([&](Operation *op) {
      std::vector<std::string> known = model.resolve(function.getName(), op->getLoc());
      if (op != function.getOperation() && !known.empty())
        names[op] = llvm::join(known, ", ");
    });
  llvm::raw_string_ostream stream(text);
  generateLocationsFromIR(stream, name, module, OpPrintingFlags());
  stream << '\n';
  paths.assign(llvm::StringRef(text).count('\n') + 2, "");
  for (auto &[op, path] : names)
    if (auto place = dyn_cast<FileLineColLoc>(op->getLoc())) {
      if (place.getLine() < paths.size())
        paths[place.getLine()] = path;
      // Only calls get frames that are named after modules. Operations inside a kernel are named by the kernel's
      // function.
      if (isa<func::CallOp>(op))
        op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), path), place));
    }
}

namespace {
/// Creates the debug information of a module.
class ScopeBuilder {
public:
  explicit ScopeBuilder(ModuleOp module) : context(module.getContext()) {}

  void add(LLVM::LLVMFuncOp function) {
    auto place = function.getLoc()->findInstanceOf<FileLineColLoc>();
    if (!place || function.isExternal())
      return;
    LLVM::DISubprogramAttr scope = subprogram(function.getName(), place);
    function->setLoc(FusedLoc::get(context, {place}, scope));
    function.getBody().walk([&](Operation *op) { op->setLoc(locate(op, place)); });
  }

private:
  /// Returns the location of |op|, which is in the function that begins at |begin|.
  Location locate(Operation *op, FileLineColLoc begin) {
    auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
    bool isCall = isa<LLVM::CallOp>(op);
    // LLVM's verifier requires that a call has a location, but requires it of no other instruction.
    if (!place)
      return isCall ? Location(begin) : UnknownLoc::get(context);
    auto name = op->getLoc()->findInstanceOf<NameLoc>();
    if (!isCall || !name)
      return place;
    LLVM::DISubprogramAttr &scope = modules[name.getName()];
    if (!scope)
      scope = subprogram(name.getName(), place);
    return CallSiteLoc::get(FusedLoc::get(context, {place}, scope), place);
  }

  LLVM::DISubprogramAttr subprogram(StringRef name, FileLineColLoc place) {
    auto file = LLVM::DIFileAttr::get(context, place.getFilename(), "");
    if (!unit)
      unit = LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C99, file,
                                          StringAttr::get(context, "attune"), /*isOptimized=*/true, LLVM::DIEmissionKind::Full);
    auto text = StringAttr::get(context, name);
    auto type = LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
    return LLVM::DISubprogramAttr::get(context, DistinctAttr::create(UnitAttr::get(context)), unit, file, text,
                                       /*linkageName=*/StringAttr(), file, place.getLine(), place.getLine(),
                                       LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized, type, {}, {});
  }

  MLIRContext *context;
  LLVM::DICompileUnitAttr unit;
  llvm::DenseMap<StringAttr, LLVM::DISubprogramAttr> modules;
};
} // namespace

void DebugInfo::addScopes(ModuleOp module) {
  ScopeBuilder builder(module);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    builder.add(function);
}
