//===- Describe.h - Description of an artifact ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_DESCRIBE_H
#define ATTUNE_COMPILER_TOOLS_DESCRIBE_H

#include "compiler/Support/Json.h"
#include "compiler/Tools/Artifact.h"
#include "compiler/Tools/Dims.h"

namespace attune {

/// The options of describeModel.
struct DescribeOptions {
  /// The dimensions for which workspace, FLOPs and the work of kernels are computed.
  DimFlags dims;
  /// The number of workers for which workspace and FLOPs are computed; 0 = the CPUs of the affinity mask or, for a
  /// model on a GPU, the workers of a session on an H100.
  int64_t threads = 0;
  /// Path of a file written by `bench --profile --json`, whose times are added; "" for none.
  std::string profile;
  /// True if the weights and the tokenizer were read and have the expected checksums.
  bool verified = false;
};

/// Describes signatures, limits, sizes, caches, kernels, device code and weights of |artifact| as a JSON object. Fails
/// if a dimension of |options| exceeds a limit of the model, or if the profile does not belong to the artifact.
Result<nlohmann::ordered_json> describeModel(const Artifact &artifact, const DescribeOptions &options);
/// Returns the word for |use|, an attune_cache_use: "none", "encode", "append" or "continue"; "unknown" for another
/// number.
const char *cacheUseName(uint32_t use);
/// Describes the caches of a session, a row for each in the order of their memory: name, type, kind, heads, components
/// of a head, and the bytes for one token of a slot or of a source.
nlohmann::ordered_json describeCaches(const attune_model_desc &desc);
/// Describes |tensors|, the list in the manifest of a weights file: a row for each tensor with name, dtype, shape,
/// layout, offset, bytes and source, as far as the manifest has them.
nlohmann::ordered_json describeManifest(const std::vector<Json> &tensors);

/// Prints a description as text, each line after |indent|: scalars, objects and arrays of scalars as "key  value",
/// other arrays as tables. The members of the array `entries` are printed as indented descriptions instead.
void printDescription(const nlohmann::ordered_json &object, const std::string &indent = "");

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_DESCRIBE_H
