//===- KernelChoices.cpp - Which backend makes which kernel ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/KernelChoices.h"
#include "compiler/Target/Halide/Passes.h"
#include "compiler/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace attune;
namespace json = llvm::json;

std::string attune::formatChoices(const KernelChoices &choices) {
  json::Object kernels;
  for (const auto &[name, choice] : choices)
    kernels[name] = json::Object{{"backend", choice.backend}, {"mlir_ms", choice.mlirMs}, {"halide_ms", choice.halideMs}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", json::Value(json::Object{{"kernels", std::move(kernels)}}));
  return text;
}

Result<KernelChoices> attune::readChoices(const std::string &path) {
  auto fail = [&](const std::string &reason) { return Status::error("--choices: '" + path + "': " + reason); };
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return fail("cannot be read: " + buffer.getError().message());
  llvm::Expected<json::Value> parsed = json::parse((*buffer)->getBuffer());
  if (!parsed)
    return fail(llvm::toString(parsed.takeError()));
  const json::Object *root = parsed->getAsObject(), *kernels = root ? root->getObject("kernels") : nullptr;
  if (!kernels)
    return fail("expected an object with 'kernels'");
  KernelChoices choices;
  for (const auto &[name, value] : *kernels) {
    const json::Object *object = value.getAsObject();
    std::optional<llvm::StringRef> backend = object ? object->getString("backend") : std::nullopt;
    if (!backend || (*backend != "mlir" && *backend != "halide"))
      return fail("expected \"mlir\" or \"halide\" as 'backend' of kernel '" + name.str() + "'");
    choices[name.str()] = {backend->str(), object->getNumber("mlir_ms").value_or(0), object->getNumber("halide_ms").value_or(0)};
  }
  return choices;
}

/// "measured: mlir 0.1234 ms, halide 0.1101 ms".
static std::string describeTimes(const KernelChoice &choice) {
  if (choice.mlirMs == 0 || choice.halideMs == 0)
    return "not measured";
  std::string text;
  llvm::raw_string_ostream(text) << "measured: mlir " << llvm::format("%.4g", choice.mlirMs) << " ms, halide "
                                 << llvm::format("%.4g", choice.halideMs) << " ms";
  return text;
}

/// Gives |kernel| the arguments of |type|, if it lacks only conditions, of which it has none: MLIR's projections ask whether there is one
/// row.
static bool addConditions(mlir::func::FuncOp kernel, mlir::FunctionType type) {
  auto isCondition = [](mlir::Type argument) { return argument.isInteger(1); };
  if (kernel.getFunctionType() == type)
    return true;
  if (llvm::any_of(kernel.getArgumentTypes(), isCondition) || kernel.getResultTypes() != type.getResults() ||
      !llvm::equal(kernel.getArgumentTypes(), llvm::make_filter_range(type.getInputs(), [&](mlir::Type t) { return !isCondition(t); })))
    return false;
  for (auto [index, argument] : llvm::enumerate(type.getInputs()))
    if (isCondition(argument) && mlir::failed(kernel.insertArgument(index, argument, {}, kernel.getLoc())))
      return false;
  return true;
}

Status attune::applyChoices(mlir::ModuleOp module, mlir::ModuleOp byHalide, const KernelChoices &choices) {
  mlir::SymbolTable symbols(byHalide);
  size_t known = 0;
  for (auto kernel : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>())) {
    if (!kernel->hasAttr(kKernelAttr))
      continue;
    std::string name = kernel.getName().str();
    auto it = choices.find(name);
    if (it == choices.end())
      return Status::error("--choices: expected a choice for kernel '" + name + "', which this model has");
    ++known;
    auto other = symbols.lookup<mlir::func::FuncOp>(name);
    bool canBeHalide = other && other->hasAttr(kBackendAttr) && addConditions(other, kernel.getFunctionType());
    if (it->second.backend == "halide" && !canBeHalide)
      return Status::error("--choices: kernel '" + name + "' cannot be made by Halide");
    mlir::func::FuncOp chosen = kernel;
    if (it->second.backend == "halide") {
      chosen = other.clone();
      kernel->getBlock()->getOperations().insert(mlir::Block::iterator(kernel), chosen);
      kernel.erase();
    }
    mlir::Builder builder(module.getContext());
    if (canBeHalide)
      chosen->setAttr(kNoteAttr, builder.getStringAttr(describeTimes(it->second)));
    else if (other && other->hasAttr(kNoteAttr))
      chosen->setAttr(kNoteAttr, other->getAttr(kNoteAttr));
  }
  if (known != choices.size())
    for (const auto &[name, choice] : choices)
      if (!module.lookupSymbol(name))
        return Status::error("--choices: expected kernels of this model, got '" + name + "'");
  return {};
}
