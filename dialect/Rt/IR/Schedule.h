//===- Schedule.h - Tile sizes and layouts ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_RT_IR_SCHEDULE_H
#define ATTUNE_DIALECT_RT_IR_SCHEDULE_H

#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mlir::rt {

/// The type of low-precision operands in memory.
enum class StorageType { F32, BF16, I16, I8 };

/// Returns "f32", "bf16", "i16" or "i8".
llvm::StringRef stringifyStorageType(StorageType type);
/// Returns the type called |name|; nullopt if there is none.
std::optional<StorageType> symbolizeStorageType(llvm::StringRef name);

/// The layout in memory of operands of one low precision.
struct OperandLayout {
  StorageType type;
  /// K, the number of terms of each sum, is padded to a multiple of this number in operands and in packed panels.
  int64_t multiple;
  /// The number of weights of one output, neighbors in K, that are side by side in packed panels. Used for bf16 and f16
  /// only: for int8, |type| implies 2 (i16) or 4 (i8).
  int64_t group = 2;
};

/// Tile sizes and layouts of a target, for the passes that all targets share. On a CPU they change speed and the layout
/// of packed weights, never a result, except where a field says so. On a GPU the rows and columns of the tiles of a
/// projection change results, too, since the order of the sums depends on them. The defaults are for a CPU with
/// AVX-512.
struct Schedule {
  /// Maximum rows of a register tile of f32 products; |lowPrecisionRows| and |groupedRows| are for other products.
  int64_t registerRows = 12;
  /// The number of rows of an attention tile whose scores registers hold at once; a power of two. A row is a query of
  /// one head.
  int64_t queryRows = 8;
  /// Columns of a register tile and of a packed panel of weights, a multiple of 16.
  int64_t panelWidth = 32;
  /// The number of keys whose scores registers hold at once, a multiple of 16. Also the number of keys of a key panel
  /// that attention builds in a call; a cache that stores its keys as panels has its own number.
  int64_t keyPanelWidth = 32;
  /// Maximum rows of an attention tile if there are several blocks of keys; at least 64.
  int64_t attentionRows = 64;
  /// Maximum bytes of the input rows of one cache block if they were f32; a block has at least the rows of a register
  /// tile. A block of rows is read once for each weight panel, and all weights are read once for each block of rows. A
  /// block somewhat larger than the L2 cache costs less than more and smaller blocks, for which the weights of a deep
  /// projection would be read more often.
  int64_t blockBytes = 1536 << 10;
  /// Maximum rows of one cache block. Rows are divided evenly among the blocks.
  int64_t maxBlockRows = 128;
  /// Rows that one iteration of the parallel loop of a kernel without a product computes.
  int64_t rowBlock = 8;
  /// Rows that one iteration of a loop computes if the loop only quantizes rows.
  int64_t quantizedRowBlock = 8;
  /// The layouts of low-precision operands. The type of bf16 operands changes results: with BF16, products use
  /// instructions for bf16, which add in orders of their own. Operands of f16 have the layout of bf16, with elements of
  /// f16.
  OperandLayout bf16 = {StorageType::F32, 2}, int8 = {StorageType::I16, 2};
  /// Maximum rows of a register tile of low-precision products, except those of |groupedRows|; a power of two.
  int64_t lowPrecisionRows = 8;
  /// Maximum rows of a register tile of products of quantized rows and weights with a scale per group, if |wideBlocks|
  /// is 0. If the rows are floats, |registerRows| is the maximum.
  int64_t groupedRows = 4;
  /// The number of low-precision rows that instructions read at once: 32 with AMX, else 1. Buffers of such rows are
  /// allocated in multiples of this number.
  int64_t lowPrecisionGroup = 1;
  /// True if up to three low-precision register tiles of a cache block have about the same number of rows, as up to
  /// three f32 register tiles always have.
  bool evenLowPrecisionTiles = true;
  /// Weight panels that a block of an f32 product reads side by side if there is a single row and |fewRows| is 0.
  /// Several streams use more of the memory bandwidth than one; see docs/measurements.md.
  int64_t streamPanels = 4;
  /// A projection of up to |fewRows| rows has blocks of |fewColumns| columns instead of |panelWidth|, so that there are
  /// enough blocks for all workers; |fewRows| = 0 disables this.
  int64_t fewRows = 0, fewColumns = 0;
  /// Returns the columns of a panel of weights with a scale per group: the fewest columns that a block may have, since
  /// a block of such weights must begin with a whole panel.
  int64_t groupedPanelWidth() const { return fewRows != 0 ? fewColumns : panelWidth; }
  /// Blocks of a low-precision product have |wideRows| rows and |wideColumns| columns if there are at least
  /// |wideBlocks| blocks of this size; |wideColumns| is a multiple of |panelWidth|. |wideBlocks| = 0 disables this.
  int64_t wideRows = 0, wideColumns = 0, wideBlocks = 0;
  /// Maximum K, the number of terms of each sum, of an f32 projection; a projection with a larger K is split into a sum
  /// of several. With 2048, 128 input rows, a weight panel and the next panel, which is being prefetched, take 1.5 MiB.
  /// The value is the same for all CPUs, since results depend on it; 0 disables the split.
  int64_t maxFeatures = 2048;
  /// The type to which operands of attention may be rounded. Outside of caches, keys and values are stored in this type
  /// if heads have at most |maxAttentionHead| components. Changes results.
  xfmr::Precision attentionPrecision = xfmr::Precision::F32;
  int64_t maxAttentionHead = 128;
  /// True if kernels write the outputs of an entry to the caller's buffers. Otherwise kernels write outputs to the
  /// workspace, whose rows can have padding, and the entry copies them to the caller's buffers.
  bool outputsInPlace = false;
  /// True if the host can read buffers, for example the number of packed tokens. Otherwise the host uses upper bounds.
  bool hostReadsBuffers = true;

  bool operator==(const Schedule &other) const;
};

llvm::hash_code hash_value(const Schedule &schedule);

/// The range of values of a field of a schedule. Integers have an upper limit, so that computations of passes do not
/// overflow.
enum class FieldRange {
  Any,
  /// Positive is 1 to 2^31 - 1, NotNegative is 0 to 2^31 - 1.
  Positive,
  NotNegative,
  /// 64 to 2^31 - 1.
  AtLeast64,
  /// A multiple of 16 from 16 to 1024.
  MultipleOf16,
  /// TileRows is 1 to 128, PowerOfTwo is a power of two from 1 to 128: rows of tiles whose code is unrolled.
  TileRows,
  PowerOfTwo
};

/// A field of a schedule, or the option of a pass for such a field, with its name for errors.
struct RangedValue {
  llvm::StringRef name;
  int64_t value;
  FieldRange range;
};

/// Fails, with an error, if one of |values| is outside of its range.
llvm::LogicalResult verifyRanges(llvm::function_ref<InFlightDiagnostic()> emitError, llvm::ArrayRef<RangedValue> values);

/// Calls |visit| with each field of |schedule|: its name in `#rt.schedule`, its value and its range. The members of
/// |bf16| and |int8| are fields of their own. Parser, printer, verifier, comparison and hash use this list.
template <typename ScheduleT, typename Visitor>
void visitFields(ScheduleT &schedule, Visitor visit) {
  visit("register_rows", schedule.registerRows, FieldRange::TileRows);
  visit("query_rows", schedule.queryRows, FieldRange::PowerOfTwo);
  visit("panel_width", schedule.panelWidth, FieldRange::MultipleOf16);
  visit("key_panel_width", schedule.keyPanelWidth, FieldRange::MultipleOf16);
  visit("attention_rows", schedule.attentionRows, FieldRange::AtLeast64);
  visit("block_bytes", schedule.blockBytes, FieldRange::Positive);
  visit("max_block_rows", schedule.maxBlockRows, FieldRange::Positive);
  visit("row_block", schedule.rowBlock, FieldRange::Positive);
  visit("quantized_row_block", schedule.quantizedRowBlock, FieldRange::Positive);
  visit("bf16_type", schedule.bf16.type, FieldRange::Any);
  visit("bf16_multiple", schedule.bf16.multiple, FieldRange::Positive);
  visit("bf16_group", schedule.bf16.group, FieldRange::Positive);
  visit("int8_type", schedule.int8.type, FieldRange::Any);
  visit("int8_multiple", schedule.int8.multiple, FieldRange::Positive);
  visit("int8_group", schedule.int8.group, FieldRange::Positive);
  visit("low_precision_rows", schedule.lowPrecisionRows, FieldRange::PowerOfTwo);
  visit("grouped_rows", schedule.groupedRows, FieldRange::TileRows);
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
  visit("outputs_in_place", schedule.outputsInPlace, FieldRange::Any);
  visit("host_reads_buffers", schedule.hostReadsBuffers, FieldRange::Any);
}

} // namespace mlir::rt

#endif // ATTUNE_DIALECT_RT_IR_SCHEDULE_H
