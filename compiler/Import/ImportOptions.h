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

/// A requested input of `forward`. The inputs of entries with caches are chosen from those of `forward`
/// (planCacheEntries). A member without a value means the default of the family.
struct InputRequest {
  std::string name;
  std::optional<int64_t> rank;
  /// I64 or F32.
  std::optional<DType> dtype;
  /// Empty, or an element for each dimension: 1 if the dimension is broadcast, else anySize. Distinguishes forms of a
  /// mask that have the same rank.
  std::vector<int64_t> sizes;

  static constexpr int64_t anySize = -1;
};

/// The treatment of tokens whose mask is 0.
enum class Padding {
  /// Computes them like all others, as transformers does.
  Compute,
  /// Computes only visible tokens; outputs are zero for the others. Without a mask as an input all tokens are visible,
  /// unless the model hides tokens by their id.
  Skip
};

struct ImportOptions {
  Padding padding = Padding::Compute;
  /// The inputs of `forward`, in order; the standard inputs of the family if empty.
  std::vector<InputRequest> inputs;
  /// The outputs of `forward`, in order: main outputs of the class by name, groups such as `hidden_states` and
  /// `attentions`, or single members as `hidden_states.2`; the main outputs if empty.
  std::vector<std::string> outputs;
  /// The entries to build; all entries of the model if the list names none that the model has. Naming `prefill`,
  /// `extend` or `decode` is an error if the model cannot have them. Naming `embed` builds it even if the folder
  /// declares no embedding.
  std::vector<std::string> entries;
  /// The largest values of dimensions, by name ("batch", "length", …). None may exceed the limit of the configuration
  /// for the dimension, if there is one.
  std::map<std::string, int64_t> limits;
};

/// Parses "NAME[:RANK[:i64|f32]],…", the value of `--inputs`; the type may be in upper case. A rank may be written as
/// "?x1x?x?", where 1 is a dimension that is broadcast. Fails for any other text.
Result<std::vector<InputRequest>> parseInputList(std::string_view text);
/// Splits "NAME,…", the value of `--outputs`. Skips empty names.
std::vector<std::string> parseOutputList(std::string_view text);

} // namespace attune

#endif // ATTUNE_COMPILER_IMPORT_IMPORTOPTIONS_H
