//===- PackedWeights.h - Looking into a weights file ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a .weights file on its own, without its object.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_PACKEDWEIGHTS_H
#define ATTUNE_COMPILER_TOOLS_PACKEDWEIGHTS_H

#include "attune/runtime.h"
#include "compiler/Support/Json.h"
#include "compiler/Support/MappedFile.h"

namespace attune {

/// An opened weights file. Header and manifest are checked; the data is not read.
class PackedWeights {
public:
  /// Returns true if the file |path| can be read and begins with the magic of a weights file.
  static bool isPackedWeights(const std::string &path);
  static Result<PackedWeights> open(const std::string &path);

  const attune_weights_header &header() const { return head; }
  /// Returns the tensors of the manifest, JSON objects.
  const std::vector<Json> &tensors() const { return entries; }
  /// Recomputes the checksum of the data section. Fails if it differs from the one in the header.
  Status verify() const;

private:
  explicit PackedWeights(MappedFile file) : file(std::move(file)) {}
  Status readHeader();
  Status readManifest();

  MappedFile file;
  attune_weights_header head = {};
  std::vector<Json> entries;
};

/// Returns the tensors in |text|, a manifest: an array of objects, or an object with that array under "tensors". |file|
/// names the manifest in errors.
Result<std::vector<Json>> parseManifest(std::string_view text, const std::string &file);
/// Returns a build id as 32 hexadecimal digits.
std::string buildIdText(const uint8_t id[16]);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_PACKEDWEIGHTS_H
