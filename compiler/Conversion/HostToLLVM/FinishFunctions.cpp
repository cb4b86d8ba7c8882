//===- FinishFunctions.cpp - Linkage and attributes of functions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects a module in the llvm dialect. Functions with a body become internal, except the C functions of entries, whose
// names begin with `attune_`. All functions with a body are marked not to unwind and not to keep a frame pointer. A
// function with more than one call is not inlined, so that LLVM does not generate the code of a layer again for each
// call. Stack allocations of constant size move to the entry block, where they do not grow the stack in loops.
// Functions and their arguments lose the attributes of the xfmr, tile and rt dialects, which no later pass reads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/HostToLLVM/Passes.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace attune {
#define GEN_PASS_DEF_FINISHFUNCTIONS
#include "compiler/Conversion/HostToLLVM/Passes.h.inc"
} // namespace attune

using namespace mlir;

/// Moves stack allocations of constant size to the entry block.
static void hoistAllocas(LLVM::LLVMFuncOp function) {
  Block &entry = function.getBody().front();
  function.walk([&](LLVM::AllocaOp alloca) {
    auto size = alloca.getArraySize().getDefiningOp<LLVM::ConstantOp>();
    if (!size || alloca->getBlock() == &entry)
      return;
    alloca->moveBefore(&entry, entry.begin());
    OpBuilder builder(alloca);
    alloca.getArraySizeMutable().assign(builder.clone(*size)->getResult(0));
  });
}

/// Removes the attributes of the xfmr, tile and rt dialects from |function| and its arguments.
static void eraseContract(LLVM::LLVMFuncOp function) {
  auto filter = [&](DictionaryAttr attributes) {
    NamedAttrList kept(attributes);
    for (NamedAttribute attribute : attributes)
      if (isa_and_nonnull<xfmr::XfmrDialect, tiles::TileDialect, rt::RtDialect>(attribute.getNameDialect()))
        kept.erase(attribute.getName());
    return kept.getDictionary(function.getContext());
  };
  function->setDiscardableAttrs(filter(function->getDiscardableAttrDictionary()));
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (DictionaryAttr attributes = function.getArgAttrDict(i))
      function.setArgAttrs(i, filter(attributes));
}

namespace {
struct FinishFunctions : attune::impl::FinishFunctionsBase<FinishFunctions> {
  void runOnOperation() override {
    DenseMap<StringRef, unsigned> calls;
    getOperation().walk([&](LLVM::CallOp call) {
      if (std::optional<StringRef> callee = call.getCallee())
        ++calls[*callee];
    });
    UnitAttr unit = UnitAttr::get(&getContext());
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      eraseContract(function);
      if (function.isExternal())
        continue;
      if (!function.getName().starts_with("attune_"))
        function.setLinkage(LLVM::Linkage::Internal);
      function.setNoUnwindAttr(unit);
      function.setFramePointerAttr(LLVM::FramePointerKindAttr::get(&getContext(), LLVM::framePointerKind::FramePointerKind::None));
      if (calls.lookup(function.getName()) > 1)
        function.setNoInlineAttr(unit);
      hoistAllocas(function);
    }
  }
};
} // namespace
