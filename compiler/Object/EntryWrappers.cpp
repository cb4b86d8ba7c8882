//===- EntryWrappers.cpp - C functions of entries -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects entries (`xfmr.entry`) whose arguments are inputs (`xfmr.input`), outputs (`xfmr.output`), caches
// (`xfmr.cache`), values of dims (`xfmr.dim`) or have a role (`rt.role`). Adds for an entry E the functions that
// attune_entry_desc points to:
//
//   attune_entry_E(host, call) -> i32,  attune_workspace_E(dims, workers) -> i64,  attune_flops_E(dims, workers) -> i64
//   attune_work_E(dims, out), if E has `rt.kernel_work`
//   attune_gathers_E(dims, workers) -> i64,  attune_gather_bytes_E(dims, workers) -> i64, if E has `xfmr.gathers` and
//                                                                                         `xfmr.gather_bytes`
//
// Makes the entries private and removes `xfmr.entry` and the formulas from them: `rt.workspace`, `xfmr.flops`,
// `rt.kernel_work`, `xfmr.gathers` and `xfmr.gather_bytes`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Object/EntryAdapter.h"
#include "compiler/Object/EntryFormulas.h"
#include "compiler/Object/Passes.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attune {
#define GEN_PASS_DEF_ENTRYWRAPPERS
#include "compiler/Object/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Removes the formulas `xfmr.gathers` and `xfmr.gather_bytes` from |entry|. If both were there, builds the functions
/// that evaluate them: the number of calls of all_gather in a call of |entry|, and the bytes that a rank receives by
/// these calls.
static LogicalResult buildGathers(func::FuncOp entry, EntryFormulas &formulas) {
  auto gathers = cast_or_null<xfmr::FormulaAttr>(entry->removeAttr(xfmr::kGathersAttr));
  auto bytes = cast_or_null<xfmr::FormulaAttr>(entry->removeAttr(xfmr::kGatherBytesAttr));
  if (!gathers || !bytes)
    return success();
  return failure(failed(formulas.buildSize("gathers", gathers)) || failed(formulas.buildSize("gather_bytes", bytes)));
}

namespace {
struct EntryWrappers : attune::impl::EntryWrappersBase<EntryWrappers> {
  using EntryWrappersBase::EntryWrappersBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Result<std::vector<CacheSignature>> caches = readCaches(module);
    if (!caches) {
      module.emitError(caches.message());
      return signalPassFailure();
    }
    for (auto entry : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (!xfmr::getEntry(entry))
        continue;
      EntryFormulas formulas(entry);
      auto take = [&](StringRef formula) { return cast_or_null<xfmr::FormulaAttr>(entry->removeAttr(formula)); };
      auto kernels = cast_or_null<ArrayAttr>(entry->removeAttr(rt::kKernelWorkAttr));
      if (failed(EntryAdapter(entry, *caches, device).build()) || failed(formulas.buildSize("workspace", take(rt::kWorkspaceAttr))) ||
          failed(formulas.buildSize("flops", take(xfmr::kFlopsAttr))) || failed(buildGathers(entry, formulas)) ||
          (kernels && failed(formulas.buildWork(kernels))))
        return signalPassFailure();
      xfmr::removeEntry(entry);
      entry.setPrivate();
    }
  }
};
} // namespace
