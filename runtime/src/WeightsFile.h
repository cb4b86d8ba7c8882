//===- WeightsFile.h - Finding, checking and mapping weights --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_WEIGHTSFILE_H
#define ATTUNE_RUNTIME_WEIGHTSFILE_H

#include "attune/runtime.h"

#include <climits>

namespace attune {

/// A weights file mapped read-only, whole. Nothing in it has been read but the header and the manifest.
struct WeightsFile {
  char path[PATH_MAX];
  attune_weights_header header; // a checked copy
  const char *base;             // null if not mapped

  const void *data() const { return base + header.data_offset; }
  const char *manifest() const { return base + header.manifest_offset; }

  /// Finds the file of |desc| (see attune_model_options::weights_path), checks it against the descriptor and maps it.
  attune_status open(const attune_model_desc &desc, const char *where);
  /// Compares the hash of the data section with the header. Fails with CORRUPT.
  attune_status verify() const;
  void close();
};

/// Returns whether |header| has the build id of |desc| or, if several objects share the file and it has none, the manifest of |desc|.
bool belongsTo(const attune_weights_header &header, const attune_model_desc &desc);

/// Hexadecimal text of a build id.
struct BuildIdText {
  char text[33];
};
BuildIdText formatBuildId(const uint8_t *id);

/// Writes the path of the file with |desc|'s build id into |out| (PATH_MAX bytes): |where| itself if it is a file, else
/// searched for in that folder, or if null in the folder of the executable or shared library that holds |desc|.
attune_status findWeights(const attune_model_desc &desc, const char *where, char *out);

} // namespace attune

#endif // ATTUNE_RUNTIME_WEIGHTSFILE_H
