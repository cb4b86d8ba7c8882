//===- EntryWrappers.cpp - C functions of entries -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects entries (`xfmr.entry`) whose arguments are the host, inputs (`xfmr.input`), outputs (`xfmr.output`), caches (`xfmr.cache`),
// values of dims (`xfmr.dim`), memref<?xi8> for the weights and the workspace, and the number of workers; and the module attributes
// `xfmr.workspace`, `xfmr.flops`, `xfmr.entry_dims`. Adds for an entry E the functions that attune_entry_desc points to:
//
//   attune_entry_E(host, call) -> i32,  attune_workspace_E(dims, workers) -> i64,  attune_flops_E(dims, workers) -> i64
//   attune_work_E(dims, out), if the module attribute `xfmr.kernel_work` knows E
//
//===----------------------------------------------------------------------===//

#include "compiler/Object/EntryFunctions.h"
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

namespace {
struct EntryWrappers : attune::impl::EntryWrappersBase<EntryWrappers> {
  using EntryWrappersBase::EntryWrappersBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto dims = module->getAttrOfType<DictionaryAttr>(xfmr::kEntryDimsAttr);
    Result<std::vector<CacheSignature>> caches = readCaches(module);
    if (!caches) {
      module.emitError(caches.message());
      return signalPassFailure();
    }
    for (auto entry : llvm::to_vector(module.getOps<func::FuncOp>())) {
      xfmr::EntryAttr attr = xfmr::getEntry(entry);
      if (!attr)
        continue;
      StringAttr name = attr.getName();
      auto names = dims ? dims.getAs<ArrayAttr>(name.getValue()) : ArrayAttr();
      if (!names) {
        entry.emitError("expects module attribute '") << xfmr::kEntryDimsAttr << "' to name the dims of entry " << name;
        return signalPassFailure();
      }
      EntryFunctions builder(entry, name.getValue(), names, *caches, device);
      auto work = module->getAttrOfType<DictionaryAttr>(xfmr::kKernelWorkAttr);
      auto kernels = work ? work.getAs<ArrayAttr>(name) : ArrayAttr();
      if (failed(builder.buildEntry()) ||
          failed(builder.buildSize("workspace", module->getAttrOfType<DictionaryAttr>(xfmr::kWorkspaceAttr))) ||
          failed(builder.buildSize("flops", module->getAttrOfType<DictionaryAttr>(xfmr::kFlopsAttr))) ||
          (kernels && failed(builder.buildWork(kernels))))
        return signalPassFailure();
      xfmr::removeEntry(entry);
      entry.setPrivate();
    }
  }
};
} // namespace
