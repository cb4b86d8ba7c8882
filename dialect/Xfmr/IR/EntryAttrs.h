//===- EntryAttrs.h - Attributes of models and entries ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Access to the attributes of EntryAttrs.td on modules, functions, arguments and results. The verifier has checked
// them, so readers need no checks.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_ENTRYATTRS_H
#define ATTUNE_DIALECT_XFMR_IR_ENTRYATTRS_H

#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::xfmr {

/// Returns |attr| with the name of its class, as an element of a list of attributes.
template <typename AttrT>
NamedAttribute named(AttrT attr) {
  return {StringAttr::get(attr.getContext(), AttrT::name), attr};
}

/// Returns the entry attribute of |function|; null if it is no entry.
inline EntryAttr getEntry(Operation *function) { return function->getAttrOfType<EntryAttr>(EntryAttr::name); }
inline void setEntry(Operation *function, EntryAttr entry) { function->setAttr(EntryAttr::name, entry); }

/// Returns the input, output, cache or session dim that argument |index| of |function| is; null if it is not one.
inline InputAttr getInput(FunctionOpInterface function, unsigned index) {
  return function.getArgAttrOfType<InputAttr>(index, InputAttr::name);
}
inline OutputAttr getOutput(FunctionOpInterface function, unsigned index) {
  return function.getArgAttrOfType<OutputAttr>(index, OutputAttr::name);
}
inline CacheAttr getCache(FunctionOpInterface function, unsigned index) {
  return function.getArgAttrOfType<CacheAttr>(index, CacheAttr::name);
}
inline SessionDimAttr getSessionDim(FunctionOpInterface function, unsigned index) {
  return function.getArgAttrOfType<SessionDimAttr>(index, SessionDimAttr::name);
}
/// Returns the dims of the input, output or cache that argument |index| of |function| is; null if it is none of these.
ArrayAttr getArgumentDims(FunctionOpInterface function, unsigned index);

/// Returns the output or the updated cache that result |index| of |function| is; null if it is none.
inline OutputAttr getResultOutput(FunctionOpInterface function, unsigned index) {
  return function.getResultAttrOfType<OutputAttr>(index, OutputAttr::name);
}
inline CacheAttr getResultCache(FunctionOpInterface function, unsigned index) {
  return function.getResultAttrOfType<CacheAttr>(index, CacheAttr::name);
}

/// Turns an entry into an ordinary function: removes `xfmr.entry`, the formulas of its arithmetic and of its gathers,
/// and the attributes that mark arguments and results as inputs, outputs, caches and dims.
void removeEntry(FunctionOpInterface function);

/// Returns true if argument |index| of |function| is marked `xfmr.weight`, which says that every call passes a weight
/// for it.
inline bool isMarkedWeight(FunctionOpInterface function, unsigned index) {
  return function.getArgAttr(index, XfmrDialect::WeightAttrHelper::getNameStr()) != nullptr;
}
/// Returns the attribute that marks a weight argument.
inline NamedAttribute getWeightMark(MLIRContext *context) {
  return {StringAttr::get(context, XfmrDialect::WeightAttrHelper::getNameStr()), UnitAttr::get(context)};
}

/// Returns the description of the model of |module|; null if it has none.
inline ModelAttr getModel(ModuleOp module) { return module->getAttrOfType<ModelAttr>(ModelAttr::name); }
inline void setModel(ModuleOp module, ModelAttr model) { module->setAttr(ModelAttr::name, model); }

/// Returns the size of the data section of the weights file in bytes; nullopt before weights have offsets.
std::optional<int64_t> getWeightsBytes(Operation *module);
void setWeightsBytes(ModuleOp module, int64_t bytes);

/// Returns the number of ranks that run |module| together, 1 without the attribute.
int64_t getRanks(Operation *module);
void setRanks(ModuleOp module, int64_t ranks);

/// Names of two attributes of an entry, FormulaAttrs: the number of `xfmr.all_gather` operations that one call
/// executes, and the bytes that a rank receives from the other ranks by these operations; or upper bounds of both
/// numbers.
inline constexpr llvm::StringLiteral kGathersAttr = "xfmr.gathers";
inline constexpr llvm::StringLiteral kGatherBytesAttr = "xfmr.gather_bytes";

/// Name of the attribute of an entry that counts the arithmetic operations of one call, a FormulaAttr.
inline constexpr llvm::StringLiteral kFlopsAttr = "xfmr.flops";

/// Succeeds if |op| is an entry and its |attribute| is a formula whose symbols are names; else emits an error.
LogicalResult verifyEntryFormula(Operation *op, NamedAttribute attribute);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_ENTRYATTRS_H
