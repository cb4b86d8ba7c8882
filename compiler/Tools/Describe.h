//===- Describe.h - What an artefact says of itself -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_DESCRIBE_H
#define ATTUNE_COMPILER_TOOLS_DESCRIBE_H

#include "compiler/Support/Json.h"
#include "compiler/Tools/Artefact.h"
#include "compiler/Tools/Dims.h"

namespace attune {

/// What the description is for.
struct DescribeOptions {
  /// Dimensions for sizes that depend on them.
  DimFlags dims;
  /// 0 = as many as a session has unless it is told otherwise.
  int64_t threads = 0;
  /// A file of `bench --profile --json`, or empty.
  std::string profile;
  /// The weights were read and have the hash that they should.
  bool verified = false;
};

/// Signature, limits, sizes, caches, kernels, device code and weights of |artefact|.
Result<nlohmann::ordered_json> describeModel(const Artefact &artefact, const DescribeOptions &options);
/// What an entry does with the caches of its session, as descriptions call it.
const char *cacheUseName(uint32_t use);
/// What a session keeps of each token of a slot, or of a source, in the order of its memory.
nlohmann::ordered_json describeCaches(const attune_model_desc &desc);
/// The rows of a manifest, with its own columns in a fixed order.
nlohmann::ordered_json describeManifest(const std::vector<Json> &tensors);

/// Prints a description as text: scalars as "key  value", arrays as tables, entries one level deeper.
void printDescription(const nlohmann::ordered_json &object, const std::string &indent = "");

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_DESCRIBE_H
