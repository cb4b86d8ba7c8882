//===- ProjectionStrips.cpp - Tiles of persistent blocks -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ProjectionStrips.h"
#include "compiler/Target/NVVM/ProjectionLoop.h"
#include "compiler/Target/NVVM/RowLimit.h"
#include "dialect/Rt/IR/RtOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

/// The number of rows of tiles in a strip: the tiles that are visited before the column advances.
static constexpr int64_t kTogether = 16;

ProjectionStrips::ProjectionStrips(ThreadBuilder &host, scf::ForallOp before, int64_t columns, int64_t threads, int64_t arch)
    : columns(columns) {
  auto count = [&](OpFoldResult size, int64_t each) { return host.ceilDiv(host.index(size), host.index(each)); };
  rowTiles = count(before.getMixedUpperBound()[0], kWarpgroupRows), columnTiles = count(before.getMixedUpperBound()[1], columns);
  // One block fills a multiprocessor, and the worker count is two for each multiprocessor.
  Value most = count(rt::WorkerCountOp::create(host).getResult(), 2);
  blocks = host.min(host.mul(rowTiles, columnTiles), most);
  loop = scf::ForallOp::create(host, ArrayRef<OpFoldResult>{blocks}, ValueRange(), std::nullopt);
  loop->setAttr(rt::kLaunchAttr, rt::LaunchAttr::get(loop.getContext(), /*grid=*/false, threads, 0, arch, std::nullopt));
  ThreadBuilder e = bodyBuilder();
  if (Value tokens = readTokenCount(before, e))
    rowTiles = e.min(rowTiles, e.div(e.add(tokens, kWarpgroupRows - 1), kWarpgroupRows));
}

void ProjectionStrips::forEach(ThreadBuilder &e, ValueRange initial, llvm::function_ref<Values(Value, Value, ValueRange)> body) const {
  e.loop(scf::ForallOp(loop).getInductionVar(0), e.mul(rowTiles, columnTiles), blocks, initial, [&](Value number, ValueRange carried) {
    Value strip = e.mul(columnTiles, kTogether), above = e.mul(e.div(number, strip), kTogether), within = e.rem(number, strip);
    Value height = e.min(e.sub(rowTiles, above), e.index(kTogether));
    Value row = e.add(above, e.rem(within, height)), column = e.div(within, height);
    return body(e.mul(row, kWarpgroupRows), e.mul(column, columns), carried);
  });
}
