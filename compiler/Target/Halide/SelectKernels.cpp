//===- SelectKernels.cpp - Kernels whose tasks Halide computes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Passes.h"
#include "compiler/Target/Halide/TranslateKernel.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attune {
#define GEN_PASS_DEF_SELECTKERNELS
#include "compiler/Target/Halide/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

static constexpr llvm::StringLiteral kSelectKernelsName = "attune-select-kernels";

namespace {
struct SelectKernels : attune::impl::SelectKernelsBase<SelectKernels> {
  void runOnOperation() override {
    descriptions.clear();
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      tiles::KernelAttr description = tiles::getKernel(kernel);
      if (!description || !description.getBackend().empty())
        continue;
      auto copy = kernel.clone();
      std::string why;
      if (succeeded(translateToHalideKernel(copy, why))) {
        xfmr::passed(kernel, kSelectKernelsName, "SelectKernels")
            << remark::metric(xfmr::kRemarkKernel, description.getText()) << remark::add("Halide makes the code of its tiles");
        copy->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(&getContext(), description.getText(), false, "halide"));
        kernel->getBlock()->getOperations().insert(Block::iterator(kernel), copy);
        kernel.erase();
        IRRewriter rewriter(&getContext());
        (void)runRegionDCE(rewriter, copy->getRegions());
        copy.walk([&](halide::TileOp tile) { share(tile); });
      } else {
        copy.erase();
        xfmr::missed(kernel, kSelectKernelsName, "SelectKernels")
            << remark::metric(xfmr::kRemarkKernel, description.getText()) << remark::reason("not a kernel for Halide: {0}", why);
        kernel->setAttr(tiles::kKernelAttr,
                        tiles::KernelAttr::get(&getContext(), description.getText(), false, "", "not by Halide: " + why));
      }
    }
  }

private:
  /// If an earlier tile has the same description but for the kernel's name, makes |tile| use the kernel of that tile,
  /// so that the kernel is compiled once.
  void share(halide::TileOp tile) {
    std::string rest = tile.getDescription().drop_front(("(kernel " + tile.getKernel()).str().size()).str();
    auto [known, isNew] = descriptions.try_emplace(rest, tile);
    if (isNew)
      return;
    tile.setKernelAttr(known->second.getKernelAttr());
    tile.setDescriptionAttr(known->second.getDescriptionAttr());
  }

  /// The first halide.tile of each description. The key is the description without its beginning, "(kernel NAME", so
  /// that kernels that differ only in their names share an entry.
  llvm::StringMap<halide::TileOp> descriptions;
};
} // namespace
