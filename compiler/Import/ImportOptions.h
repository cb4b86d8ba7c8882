//===- ImportOptions.h - Entries, inputs and outputs of an import -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_IMPORT_IMPORTOPTIONS_H
#define ATTUNE_COMPILER_IMPORT_IMPORTOPTIONS_H

#include "compiler/Support/DType.h"
#include "compiler/Support/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// An input of the entry; what is not given has the family's default.
struct InputRequest {
  std::string name;
  std::optional<int64_t> rank;
  /// I64 or F32.
  std::optional<DType> dtype;
  /// If not empty, 1 for each dimension that is broadcast, anySize for others: tells masks of rank 4 apart.
  std::vector<int64_t> sizes;

  static constexpr int64_t anySize = -1;
};

/// What happens to tokens whose mask is 0.
enum class Padding {
  /// They are computed like all others, as the reference implementation does.
  Compute,
  /// Only visible tokens are computed; outputs are zero at the others. Without an `attention_mask` input all tokens are visible.
  Skip
};

struct ImportOptions {
  Padding padding = Padding::Compute;
  /// The entry's inputs, in order; the family's standard inputs if empty.
  std::vector<InputRequest> inputs;
  /// The entry's outputs, in order: the architecture's main outputs by name, the groups `hidden_states` and `attentions`, or single members
  /// (`hidden_states.2`); the main outputs if empty.
  std::vector<std::string> outputs;
  /// The entries to build; all that the model has if empty or if it has none of them.
  std::vector<std::string> entries;
  /// Largest values of dimensions ("batch", "length"), beside the configuration's own limit of "length".
  std::map<std::string, int64_t> limits;
};

/// Parses "NAME[:RANK[:i64|f32]],…", as in `--inputs`; "?x1x?x?" stands for a rank and the dimensions that are broadcast.
Result<std::vector<InputRequest>> parseInputList(std::string_view text);
/// Splits "NAME,…", as in `--outputs`.
std::vector<std::string> parseOutputList(std::string_view text);

} // namespace attune

#endif // ATTUNE_COMPILER_IMPORT_IMPORTOPTIONS_H
