//===- EntryAttrs.h - Attributes of models and entries ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Access to the attributes of EntryAttrs.td on modules, functions, arguments and results. The verifier of the dialect
// checks the attributes, so readers of a valid module need no checks.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_ENTRYATTRS_H
#define ATTUNE_DIALECT_XFMR_IR_ENTRYATTRS_H

#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::xfmr {

/// Returns |attr| under the name of its class, such as `xfmr.input` for an InputAttr, as an element of a list of
/// attributes.
template <typename AttrT>
NamedAttribute named(AttrT attr) {
  return {StringAttr::get(attr.getContext(), AttrT::name), attr};
}

/// Returns the entry attribute of |function|; null if |function| is no entry.
inline EntryAttr getEntry(Operation *function) { return function->getAttrOfType<EntryAttr>(EntryAttr::name); }
inline void setEntry(Operation *function, EntryAttr entry) { function->setAttr(EntryAttr::name, entry); }

/// The next four functions return the attribute that marks argument |index| of |function| as an input, an output, a
/// cache or a session dim; null if the argument has no such attribute.
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
/// Returns the dims of argument |index| of |function|, an input, an output or a cache; null if it is none of these.
ArrayAttr getArgumentDims(FunctionOpInterface function, unsigned index);

/// The next two functions return the attribute that marks result |index| of |function| as an output or as an updated
/// cache; null if the result has no such attribute.
inline OutputAttr getResultOutput(FunctionOpInterface function, unsigned index) {
  return function.getResultAttrOfType<OutputAttr>(index, OutputAttr::name);
}
inline CacheAttr getResultCache(FunctionOpInterface function, unsigned index) {
  return function.getResultAttrOfType<CacheAttr>(index, CacheAttr::name);
}

/// Turns an entry into an ordinary function: removes `xfmr.entry`, the formulas `xfmr.flops`, `xfmr.gathers` and
/// `xfmr.gather_bytes`, and the attributes that mark arguments and results as inputs, outputs, caches and dims.
void removeEntry(FunctionOpInterface function);

/// Returns true if argument |index| of |function| has the attribute `xfmr.weight`, which says that every call of
/// |function| passes a weight as this argument.
inline bool isMarkedWeight(FunctionOpInterface function, unsigned index) {
  return function.getArgAttr(index, XfmrDialect::WeightAttrHelper::getNameStr()) != nullptr;
}
/// Returns the attribute `xfmr.weight`, which marks a weight argument.
inline NamedAttribute getWeightMark(MLIRContext *context) {
  return {StringAttr::get(context, XfmrDialect::WeightAttrHelper::getNameStr()), UnitAttr::get(context)};
}

/// Returns the attribute `xfmr.model` of |module|, the description of its model; null if |module| has none.
inline ModelAttr getModel(ModuleOp module) { return module->getAttrOfType<ModelAttr>(ModelAttr::name); }
inline void setModel(ModuleOp module, ModelAttr model) { module->setAttr(ModelAttr::name, model); }

/// Returns `xfmr.weights_bytes`, the size in bytes of the data section of the weights file; nullopt before weights have
/// offsets.
std::optional<int64_t> getWeightsBytes(Operation *module);
void setWeightsBytes(ModuleOp module, int64_t bytes);

/// Returns the number of ranks that run |module| together: its attribute `xfmr.ranks`, or 1 without the attribute.
int64_t getRanks(Operation *module);
void setRanks(ModuleOp module, int64_t ranks);

/// The names of two attributes of an entry, each a FormulaAttr: the number of `xfmr.all_gather` operations that one
/// call executes, and the number of bytes that a rank receives from the other ranks by these operations. Where a number
/// depends on data, the formula is an upper bound.
inline constexpr llvm::StringLiteral kGathersAttr = "xfmr.gathers";
inline constexpr llvm::StringLiteral kGatherBytesAttr = "xfmr.gather_bytes";

/// The name of the attribute of an entry, a FormulaAttr, that counts the arithmetic operations of projections and
/// attention in one call, two for each multiply-add.
inline constexpr llvm::StringLiteral kFlopsAttr = "xfmr.flops";

/// Succeeds if |op| is an entry and |attribute|, one of its attributes, is a FormulaAttr whose symbols are all names of
/// dims; else emits an error of |op| and fails.
LogicalResult verifyEntryFormula(Operation *op, NamedAttribute attribute);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_ENTRYATTRS_H
