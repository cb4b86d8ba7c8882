//===- Packer.h - Writing the weights file ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams the weights of a module to a weights file (layout in attune/abi.h), at the offsets that AssignWeightOffsets
// has assigned. The memory that packing needs does not grow with the number of weights: it is two buffers, and the
// parts of one source that are being read. Only projected rows (SourceReader.h) are in memory as a whole. The header is
// written last because it contains the build id, which depends on the manifest.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_WEIGHTS_PACKER_H
#define ATTUNE_WEIGHTS_PACKER_H

#include "compiler/Support/OutputFile.h"
#include "compiler/Weights/TensorProvider.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <functional>

namespace attune {

class CalibratedRows;

/// 128 bits that name one compilation, in the object and in its weights file.
using BuildId = std::array<uint8_t, 16>;

/// Callbacks for progress and messages while packing.
struct PackListener {
  /// The function that packWeights calls with the number of bytes packed so far and the total. If it fails, packWeights
  /// fails with its error.
  std::function<Status(uint64_t done, uint64_t total)> progress = [](uint64_t, uint64_t) { return Status(); };
  std::function<void(const std::string &message)> warning = [](const std::string &) {};
};

/// The sizes, hashes and manifest of a weights file that has been packed, for its header and for the object. The class
/// that opens such a file is PackedWeights in compiler/Tools.
struct PackingResult {
  uint64_t dataBytes = 0;
  /// The attune_checksum of the data section.
  uint64_t contentHash = 0;
  /// The manifest, JSON text.
  std::string manifest;
  /// The attune_checksum of the manifest.
  uint64_t manifestChecksum = 0;
  /// The rank whose weights were packed, and the number of ranks.
  uint32_t rank = 0, ranks = 1;
};

/// Writes to |file|, which must be empty, a page of 4096 zeros for the header, then the data section, then the
/// manifest. The weights are those of process |rank| of the processes that run |module| together. If there are several
/// processes, their manifests are equal and have no content hash. Rows in |calibrated|, which has at most one element
/// for each format, are stored with the integers of the calibration. An error about a weight or a tensor names the
/// weight or the tensor. Calls |listener|.warning for each tensor with infinite or NaN values.
Result<PackingResult> packWeights(mlir::ModuleOp module, const TensorProvider &tensors, OutputFile &file, const PackListener &listener = {},
                                  int64_t rank = 0, llvm::ArrayRef<CalibratedRows> calibrated = {});

/// Returns the manifest that packWeights would write for |module|, without the content hash. Weights files of the same
/// rank with equal manifests, tensors and calibrated rows have equal data.
Result<std::string> describePackedWeights(mlir::ModuleOp module, const TensorProvider &tensors);

/// Reads the result of packWeights back from |path|, a complete weights file. Checks the header, the sizes and the
/// manifest's checksum; does not read the data.
Result<PackingResult> readPackedWeights(const std::string &path);

/// The build id of a weights file that several objects share: zeros.
inline constexpr BuildId kSharedBuildId = {};

/// Writes the header into the page that packWeights left for it. The caller commits the file.
Status writeWeightsHeader(const PackingResult &packed, const BuildId &buildId, OutputFile &file);

} // namespace attune

#endif // ATTUNE_WEIGHTS_PACKER_H
