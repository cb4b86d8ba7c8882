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

  /// Finds the weights file of |rank| of |desc| by |where|, which is attune_model_options::weights_path, checks it
  /// against the descriptor and maps it. Fails as findWeights does, or with NOT_FOUND, IO_ERROR, CORRUPT or
  /// INCOMPATIBLE; nothing is mapped then.
  attune_status open(const attune_model_desc &desc, int64_t rank, const char *where);
  /// Compares the hash of the data section with the header. Fails with CORRUPT.
  attune_status verify() const;
  void close();
};

/// Returns true if the file with |header| belongs to the object of |desc|, for any rank: file and object have the same
/// build id, or the file has no build id, because several objects share it, and has the manifest checksum of |desc|.
bool belongsTo(const attune_weights_header &header, const attune_model_desc &desc);

/// The hexadecimal text of a build id.
struct BuildIdText {
  char text[33];
};
BuildIdText formatBuildId(const uint8_t *id);

/// Writes the path of the weights file of |rank| of |desc| to |out| (PATH_MAX bytes). A file fits if its header names
/// |rank| and belongs to |desc| (belongsTo). If |where| is a folder, chooses the file `<name>.weights` in it
/// (`<name>.rankR.weights` for rank R of a divided model) if this file fits, else any other `*.weights` that fits. If
/// none fits and a file of the first name exists but is no weights file, chooses this file, so that opening it reports
/// the damage. If |where| is null, the folder is that of the executable or shared library that contains |desc|. If
/// |where| is anything else, it is the path itself, which is not checked. Fails with NOT_FOUND, IO_ERROR, INCOMPATIBLE
/// if no file of the folder fits but one belongs to another object, or INVALID_ARGUMENT if |where| has PATH_MAX or more
/// bytes.
attune_status findWeights(const attune_model_desc &desc, int64_t rank, const char *where, char *out);

} // namespace attune

#endif // ATTUNE_RUNTIME_WEIGHTSFILE_H
