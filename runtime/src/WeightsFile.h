//===- WeightsFile.h - Finding, checking and mapping weights --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_WEIGHTSFILE_H
#define ATTUNE_RUNTIME_WEIGHTSFILE_H

#include "attune/runtime.h"

#include <climits>

namespace attune {

/// A weights file that is mapped read-only as a whole. Only its header and manifest have been read.
struct WeightsFile {
  char path[PATH_MAX];
  attune_weights_header header; // checked copy of the header
  const char *base;             // null if not mapped

  const void *data() const { return base + header.data_offset; }
  const char *manifest() const { return base + header.manifest_offset; }

  /// Finds the file of |rank| of |desc| (see attune_model_options::weights_path), checks it against the descriptor and
  /// maps it. Fails as findWeights does, or with NOT_FOUND, IO_ERROR, CORRUPT or INCOMPATIBLE; then nothing is mapped.
  attune_status open(const attune_model_desc &desc, int64_t rank, const char *where);
  /// Compares the hash of the data section with the header. Fails with CORRUPT.
  attune_status verify() const;
  void close();
};

/// Returns true if the file with |header| belongs to the object of |desc|, for any rank: they have the same build id,
/// or, if several objects share the file and it has no build id, the same manifest.
bool belongsTo(const attune_weights_header &header, const attune_model_desc &desc);

/// The hexadecimal text of a build id.
struct BuildIdText {
  char text[33];
};
BuildIdText formatBuildId(const uint8_t *id);

/// Writes the path of the weights file of |rank| of |desc| to |out| (PATH_MAX bytes). If |where| is a folder, that is
/// the file `<name>.weights` in it (`<name>.rankR.weights` of a divided model) if its header has |rank| and belongs to
/// |desc| (belongsTo), else any other `*.weights` of which this is true. If |where| is null, searches the folder of the
/// executable or shared library that |desc| is in. Every other |where| is the path itself.
/// Fails with NOT_FOUND, IO_ERROR, INCOMPATIBLE if the folder has only weights of other objects, or INVALID_ARGUMENT if
/// |where| is too long.
attune_status findWeights(const attune_model_desc &desc, int64_t rank, const char *where, char *out);

} // namespace attune

#endif // ATTUNE_RUNTIME_WEIGHTSFILE_H
