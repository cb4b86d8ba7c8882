//===- Prefetch.h - Panels of weights ahead of their use --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_GEN_PREFETCH_H
#define ATTUNE_COMPILER_TARGET_HALIDE_GEN_PREFETCH_H

#include <Halide.h>

#include <string>

namespace attune {

/// A weight panel that tiles of rows read from its beginning to its end; the next panel follows it in memory.
struct PanelRead {
  /// The input, and its bytes per panel.
  std::string input;
  int64_t bytes = 0;
  /// The function of the sums, and what names of its reduction loop contain.
  std::string sum, reduction;
  /// What the name of a loop over tiles that share the next panel contains; empty for tiles of few rows.
  std::string sharingLoop;
};

/// A pass over the lowered kernel that prefetches for |read|: Halide's own prefetches know nothing of the next panel. Tiles of many rows
/// each fetch a share of the next panel; tiles of few rows, which memory keeps waiting, fetch |aheadBytes| ahead of what they read.
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
