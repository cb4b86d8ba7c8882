//===- Prefetch.h - Panels of weights ahead of their use --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_PREFETCH_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_PREFETCH_H

#include <Halide.h>

#include <string>

namespace attune {

/// A weight panel that every tile of rows reads from its beginning to its end; the next panel follows it in memory.
struct PanelRead {
  /// The name of the input with the weights, and the bytes of a panel.
  std::string input;
  int64_t bytes = 0;
  /// The name of the Halide function of the sums that read the panel, and a part of the name of its reduction loop.
  std::string sum, reduction;
  /// A part of the name of the loop over tiles of the full number of rows, each of which prefetches a share of the next
  /// panel; empty for tiles of fewer rows.
  std::string sharingLoop;
};

/// A Halide pass over a lowered kernel that adds prefetches of weights, since Halide's own prefetches cannot reach the
/// next panel. Tiles of the full number of rows each prefetch a share of the next panel. Tiles of fewer rows wait for
/// memory, so they prefetch |aheadBytes| bytes ahead of their reads.
class PrefetchPanels : public Halide::Internal::IRMutator {
public:
  PrefetchPanels(PanelRead read, int aheadBytes) : read(std::move(read)), ahead(aheadBytes) {}
  using IRMutator::visit;

protected:
  Halide::Internal::Stmt visit(const Halide::Internal::For *loop) override;

private:
  Halide::Internal::Stmt fetch(const Halide::Internal::For *loop);

  PanelRead read;
  int ahead;
  const Halide::Internal::For *tiles = nullptr;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_GEN_PREFETCH_H
