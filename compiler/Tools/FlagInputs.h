//===- FlagInputs.h - Inputs given on the command line --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags --ids and --value: small inputs without a file. Their types come from the signature of the model. Their
// shapes come from the signature, the rows of ids and the inputs of a file.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_FLAGINPUTS_H
#define ATTUNE_COMPILER_TOOLS_FLAGINPUTS_H

#include "compiler/Support/Safetensors.h"
#include "compiler/Support/SafetensorsWriter.h"
#include "compiler/Tools/Artifact.h"
#include "compiler/Tools/Flags.h"

namespace attune {

/// Parses |text|, "N,N,...", the value of a flag --ids, and appends its integers to |rows| as a row.
Status parseIds(const std::string &text, std::vector<std::vector<int64_t>> &rows);

/// The values of --ids and --value.
class FlagInputs {
public:
  /// Treatment of rows of ids of different lengths. None: an error. Hidden: rows are padded, and an attention_mask
  /// hides the padding, as generation expects.
  enum class Padding { None, Hidden };

  explicit FlagInputs(Padding padding) : padding(padding) {}

  /// Adds the two flags.
  void addTo(FlagTable &flags);
  bool empty() const { return rows.empty() && values.empty(); }
  /// Returns the names of the inputs that the function make creates.
  std::vector<std::string> names() const;
  /// Creates the tensors. Each is an input of one of |entries| of |artifact|, whose signature gives its type and shape.
  /// Entries that the model lacks are skipped; if the model has none of them, nothing is created, and the later call of
  /// the entry reports the error. Sizes of dimensions come from |given|, the inputs of a file, then from the ids. A
  /// size that is still unknown follows from the number of values; an unknown batch is 1. Fails for an input that the
  /// model does not have or that |given| also has, for numbers of another type, and if the number of values does not
  /// match the shape.
  Result<std::vector<OwnedTensor>> make(const Artifact &artifact, const std::vector<std::string> &entries,
                                        const std::vector<TensorView> &given) const;

private:
  /// One occurrence of --value.
  struct Value {
    std::string name;
    std::vector<std::string> numbers;
  };

  struct Target;
  class Signature;

  Status readValue(const std::string &text);
  /// Returns true if rows of ids differ in length.
  bool hasPadding() const;
  Status makeIds(Signature &signature, std::vector<OwnedTensor> &made) const;
  Status makeValue(const Value &value, Signature &signature, std::vector<OwnedTensor> &made) const;

  Padding padding;
  std::vector<std::vector<int64_t>> rows;
  std::vector<Value> values;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_FLAGINPUTS_H
