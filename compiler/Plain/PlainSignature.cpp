//===- PlainSignature.cpp - Arguments of the entries of a module ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/PlainSignature.h"
#include "dialect/Rt/IR/RtOps.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace mlir;
using namespace attune;

static std::vector<std::variant<std::string, int64_t>> readDims(ArrayAttr dims) {
  std::vector<std::variant<std::string, int64_t>> result;
  for (Attribute dim : dims) {
    if (auto name = dyn_cast<StringAttr>(dim))
      result.emplace_back(name.str());
    else
      result.emplace_back(cast<IntegerAttr>(dim).getInt());
  }
  return result;
}

/// Returns argument |index| of |function|. Fails if the argument has no attribute that defines its kind, or if the
/// plain path does not support its type.
static Result<PlainArgument> readArgument(func::FuncOp function, unsigned index) {
  PlainArgument argument;
  Type type = function.getArgumentTypes()[index];
  auto shaped = dyn_cast<ShapedType>(type);
  argument.elementType = shaped ? shaped.getElementType() : type;
  if (auto role = function.getArgAttrOfType<rt::RoleAttr>(index, rt::kRoleAttr)) {
    argument.kind = PlainArgument::Kind::Role;
    argument.role = role.getValue();
  } else if (xfmr::SessionDimAttr dim = xfmr::getSessionDim(function, index)) {
    argument.kind = PlainArgument::Kind::SessionDim;
    argument.name = xfmr::stringifySessionDim(dim.getValue()).str();
  } else if (xfmr::InputAttr input = xfmr::getInput(function, index)) {
    argument.kind = PlainArgument::Kind::Input;
    argument.name = input.getName().str();
    argument.dims = readDims(input.getDims());
    argument.fill = input.getDefaultValue();
    argument.maxValue = input.getMaxValue();
  } else if (xfmr::OutputAttr output = xfmr::getOutput(function, index)) {
    argument.kind = PlainArgument::Kind::Output;
    argument.name = output.getName().str();
    argument.dims = readDims(output.getDims());
    argument.isGroup = output.getIsGroup();
  } else if (xfmr::CacheAttr cache = xfmr::getCache(function, index)) {
    argument.kind = PlainArgument::Kind::Cache;
    argument.name = cache.getName().str();
    argument.dims = readDims(cache.getDims());
  } else {
    return Status::error("entry '" + function.getSymName().str() + "': argument " + std::to_string(index) +
                         " is neither input nor output and has no role");
  }
  bool isCache = argument.kind == PlainArgument::Kind::Cache;
  bool isLowered = !isCache && (argument.elementType.isBF16() || argument.elementType.isF16());
  if (argument.kind != PlainArgument::Kind::Role && (isLowered || !getElementKind(argument.elementType, false))) {
    std::string text;
    llvm::raw_string_ostream(text) << argument.elementType;
    return Status::error("entry '" + function.getSymName().str() + "': '" + argument.name + "': the plain path computes with f32" +
                         (isCache ? "" : " and integers") + ", got " + text);
  }
  return argument;
}

Result<PlainSignature> attune::readPlainSignature(ModuleOp module) {
  PlainSignature signature;
  for (auto function : module.getOps<func::FuncOp>()) {
    xfmr::EntryAttr attribute = xfmr::getEntry(function);
    if (!attribute)
      continue;
    PlainEntry entry;
    entry.name = attribute.getName().str();
    entry.symbol = function.getSymName().str();
    entry.cacheUse = attribute.getCaches();
    entry.workspace = function->getAttrOfType<xfmr::FormulaAttr>(rt::kWorkspaceAttr);
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      Result<PlainArgument> argument = readArgument(function, i);
      if (!argument)
        return argument.status();
      entry.arguments.push_back(*argument);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      PlainArgument result;
      auto type = dyn_cast<ShapedType>(function.getResultTypes()[i]);
      xfmr::OutputAttr output = xfmr::getResultOutput(function, i);
      xfmr::CacheAttr cache = xfmr::getResultCache(function, i);
      if (!type || (!output && !cache))
        return Status::error("entry '" + entry.name + "': result " + std::to_string(i) + " is neither output nor cache");
      result.kind = output ? PlainArgument::Kind::Output : PlainArgument::Kind::Cache;
      result.name = (output ? output.getName() : cache.getName()).str();
      result.dims = readDims(output ? output.getDims() : cache.getDims());
      result.isGroup = output && output.getIsGroup();
      result.elementType = type.getElementType();
      entry.results.push_back(result);
    }
    auto add = [&](const std::string &name) {
      if (!llvm::is_contained(entry.dims, name))
        entry.dims.push_back(name);
    };
    for (const auto *list : {&entry.arguments, &entry.results})
      for (const PlainArgument &argument : *list) {
        if (argument.kind == PlainArgument::Kind::SessionDim)
          add(argument.name);
        if (argument.kind == PlainArgument::Kind::Input || argument.kind == PlainArgument::Kind::Output)
          for (const auto &dim : argument.dims)
            if (std::holds_alternative<std::string>(dim))
              add(std::get<std::string>(dim));
      }
    signature.entries.push_back(std::move(entry));
  }
  if (signature.entries.empty())
    return Status::error("the module has no entry, a function with 'xfmr.entry'");
  return signature;
}

std::vector<const PlainArgument *> PlainEntry::outputs() const {
  std::vector<const PlainArgument *> found;
  for (const auto *list : {&arguments, &results})
    for (const PlainArgument &argument : *list)
      if (argument.kind == PlainArgument::Kind::Output)
        found.push_back(&argument);
  return found;
}

Result<const PlainEntry *> PlainSignature::entry(const std::string &name) const {
  std::string known;
  for (const PlainEntry &entry : entries) {
    if (entry.name == name)
      return &entry;
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  return Status::error("expected an entry '" + name + "', the module has: " + known);
}

int64_t attune::evaluateFormula(xfmr::FormulaAttr formula, const std::map<std::string, int64_t> &dims) {
  SmallVector<Attribute> symbols;
  Builder builder(formula.getContext());
  for (Attribute symbol : formula.getSymbols()) {
    auto name = dyn_cast<StringAttr>(symbol);
    auto found = name ? dims.find(name.str()) : dims.end();
    symbols.push_back(builder.getI64IntegerAttr(found == dims.end() ? 0 : found->second));
  }
  SmallVector<Attribute> values;
  if (failed(formula.getMap().constantFold(symbols, values)))
    return 0;
  int64_t largest = 0;
  for (Attribute value : values)
    largest = std::max(largest, cast<IntegerAttr>(value).getInt());
  return largest;
}
