//===- Schedule.h - Tile sizes and layouts ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_RT_IR_SCHEDULE_H
#define ATTUNE_DIALECT_RT_IR_SCHEDULE_H

#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mlir::rt {

/// The type of low-precision operands in memory.
enum class StorageType { F32, BF16, I16, I8 };

/// Returns "f32", "bf16", "i16" or "i8".
llvm::StringRef stringifyStorageType(StorageType type);
/// Returns the type called |name|.
std::optional<StorageType> symbolizeStorageType(llvm::StringRef name);

/// The layout of the low-precision operands of one precision in memory.
struct OperandLayout {
  StorageType type;
  /// The columns of operands, and the rows of K in packed weights, are padded to a multiple of this.
  int64_t multiple;
  /// Neighbors in K that lie side by side in packed weights.
  int64_t group = 2;
};

/// Tile sizes and layouts of a target: what the passes that all targets share need to know about it. They change speed and the layout of
/// packed weights, never a result, except where a field says so. The defaults are those of a CPU with AVX-512.
struct Schedule {
  /// Most rows of a register tile.
  int64_t registerRows = 12;
  /// Query rows of an attention tile, a power of two.
  int64_t queryRows = 8;
  /// Columns of a register tile and of a packed weight panel, a multiple of 16.
  int64_t panelWidth = 32;
  /// Keys of a score tile and of a key panel, a multiple of 16.
  int64_t keyPanelWidth = 32;
  /// Most rows of a tile of attention over several blocks of keys, at least 64.
  int64_t attentionRows = 64;
  /// Most bytes of the input rows of one cache block. Rows are read again for every panel, weights again for every block: more than the L2
  /// cache holds costs less than reading the weights of a deep projection several times.
  int64_t blockBytes = 1536 << 10;
  /// Most rows of one cache block; the rows are divided evenly among the blocks.
  int64_t maxBlockRows = 128;
  /// Rows of one task of a row-wise kernel.
  int64_t rowBlock = 8;
  /// The layouts of low-precision operands.
  OperandLayout bf16 = {StorageType::F32, 2}, int8 = {StorageType::I16, 2};
  /// Rows of a register tile of low-precision operands, a power of two.
  int64_t lowPrecisionRows = 8;
  /// Low-precision rows are read in whole groups of so many.
  int64_t lowPrecisionGroup = 1;
  /// Whether a few register tiles of low-precision operands get about the same number of rows, as those of f32 do.
  bool evenLowPrecisionTiles = true;
  /// Weight panels that a single row reads side by side. With 4 the projections of GPT-2 read 92-95 % of the bandwidth that was there, with
  /// 1 64-68 % (`attune bench --entry=decode --past=128 --profile`, Emerald Rapids VM, 2026-11-21).
  int64_t streamPanels = 4;
  /// Up to |fewRows| rows blocks have |fewColumns| columns, so that there are enough of them; 0 for none.
  int64_t fewRows = 0, fewColumns = 0;
  /// Low-precision blocks have |wideRows| rows and |wideColumns| columns where there are at least |wideBlocks| of them; 0 for none.
  int64_t wideRows = 0, wideColumns = 0, wideBlocks = 0;
  /// Most features of a projection of f32; those with more are sums of several. 128 rows, a panel and the next one on its way are 1.5 MiB
  /// then. The same for all CPUs, as results depend on it; 0 for any number.
  int64_t maxFeatures = 2048;
  /// The precision that operands of attention are rounded to, in heads of at most |maxAttentionHead| components. Changes results.
  xfmr::Precision attentionPrecision = xfmr::Precision::F32;
  int64_t maxAttentionHead = 128;
  /// Whether the host can read buffers, such as the number of packed tokens. If not, it uses upper bounds.
  bool hostReadsBuffers = true;

  bool operator==(const Schedule &other) const;
};

llvm::hash_code hash_value(const Schedule &schedule);

/// The values that a field of a schedule may have.
enum class FieldRange { Any, Positive, NotNegative, MultipleOf16, PowerOfTwo };

/// Calls |visit| with the name, the value and the range of each field of |schedule|: the one list of them.
template <typename ScheduleT, typename Visitor>
void visitFields(ScheduleT &schedule, Visitor visit) {
  visit("register_rows", schedule.registerRows, FieldRange::Positive);
  visit("query_rows", schedule.queryRows, FieldRange::PowerOfTwo);
  visit("panel_width", schedule.panelWidth, FieldRange::MultipleOf16);
  visit("key_panel_width", schedule.keyPanelWidth, FieldRange::MultipleOf16);
  visit("attention_rows", schedule.attentionRows, FieldRange::Positive);
  visit("block_bytes", schedule.blockBytes, FieldRange::Positive);
  visit("max_block_rows", schedule.maxBlockRows, FieldRange::Positive);
  visit("row_block", schedule.rowBlock, FieldRange::Positive);
  visit("bf16_type", schedule.bf16.type, FieldRange::Any);
  visit("bf16_multiple", schedule.bf16.multiple, FieldRange::Positive);
  visit("bf16_group", schedule.bf16.group, FieldRange::Positive);
  visit("int8_type", schedule.int8.type, FieldRange::Any);
  visit("int8_multiple", schedule.int8.multiple, FieldRange::Positive);
  visit("int8_group", schedule.int8.group, FieldRange::Positive);
  visit("low_precision_rows", schedule.lowPrecisionRows, FieldRange::PowerOfTwo);
  visit("low_precision_group", schedule.lowPrecisionGroup, FieldRange::Positive);
  visit("even_low_precision_tiles", schedule.evenLowPrecisionTiles, FieldRange::Any);
  visit("stream_panels", schedule.streamPanels, FieldRange::Positive);
  visit("few_rows", schedule.fewRows, FieldRange::NotNegative);
  visit("few_columns", schedule.fewColumns, FieldRange::NotNegative);
  visit("wide_rows", schedule.wideRows, FieldRange::NotNegative);
  visit("wide_columns", schedule.wideColumns, FieldRange::NotNegative);
  visit("wide_blocks", schedule.wideBlocks, FieldRange::NotNegative);
  visit("max_features", schedule.maxFeatures, FieldRange::NotNegative);
  visit("attention_precision", schedule.attentionPrecision, FieldRange::Any);
  visit("max_attention_head", schedule.maxAttentionHead, FieldRange::Positive);
  visit("host_reads_buffers", schedule.hostReadsBuffers, FieldRange::Any);
}

} // namespace mlir::rt

#endif // ATTUNE_DIALECT_RT_IR_SCHEDULE_H
