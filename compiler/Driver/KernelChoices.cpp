//===- KernelChoices.cpp - Which backend makes which kernel ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/KernelChoices.h"
#include "compiler/Target/Halide/Passes.h"
#include "compiler/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/io/Json.h"
#include "llvm/Support/Format.h"

using namespace attune;

std::string attune::formatChoices(const KernelChoices &choices) {
  Json kernels = Json::object();
  for (const auto &[name, choice] : choices)
    kernels[name] = {{"backend", choice.backend}, {"mlir_ms", choice.mlirMs}, {"halide_ms", choice.halideMs}};
  return Json{{"kernels", std::move(kernels)}}.dump(2) + "\n";
}

/// The choice that |object| of the file |path| describes; |key| is its name in messages.
static Result<KernelChoice> readChoice(const Json &object, const std::string &path, const std::string &key) {
  auto member = [&](const char *name) {
    const Json *found = findJson(object, name);
    return found ? *found : Json();
  };
  Result<std::string> backend = jsonString(member("backend"), path, key + ".backend");
  Result<double> mlir = jsonNumber(member("mlir_ms"), path, key + ".mlir_ms"),
                 halide = jsonNumber(member("halide_ms"), path, key + ".halide_ms");
  if (!backend)
    return backend.status();
  if (*backend != "mlir" && *backend != "halide")
    return jsonTypeError(path, key + ".backend", "\"mlir\" or \"halide\"", *backend);
  if (!mlir)
    return mlir.status();
  if (!halide)
    return halide.status();
  return KernelChoice{std::move(*backend), *mlir, *halide};
}

Result<KernelChoices> attune::readChoices(const std::string &path) {
  auto fail = [](const Status &status) { return Status::error("--choices: " + status.message()); };
  Result<Json> root = readJsonFile(path);
  if (!root)
    return fail(root.status());
  const Json *kernels = findJson(*root, "kernels");
  if (!kernels || !kernels->is_object())
    return fail(jsonTypeError(path, "kernels", "an object of choices by kernels", kernels ? *kernels : Json()));
  KernelChoices choices;
  for (const auto &[name, value] : kernels->items()) {
    Result<KernelChoice> choice = readChoice(value, path, "kernels." + name);
    if (!choice)
      return fail(choice.status());
    choices[name] = std::move(*choice);
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
