//===- FlagInputs.h - Inputs given on the command line --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --ids and --value: small inputs without a file. Their types come from the signature of the model, their shapes from it, the rows of ids
// and the inputs of a file.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_FLAGINPUTS_H
#define ATTUNE_COMPILER_TOOLS_FLAGINPUTS_H

#include "compiler/Support/Safetensors.h"
#include "compiler/Support/SafetensorsWriter.h"
#include "compiler/Tools/Artefact.h"
#include "compiler/Tools/Flags.h"

namespace attune {

/// The values of --ids and --value.
class FlagInputs {
public:
  /// Rows of ids of different lengths: an error, or padded and hidden by an attention_mask, as a generation takes them.
  enum class Padding { None, Hidden };

  explicit FlagInputs(Padding padding) : padding(padding) {}

  /// Adds the two flags.
  void addTo(FlagTable &flags);
  bool empty() const { return rows.empty() && values.empty(); }
  /// The inputs that will be made.
  std::vector<std::string> names() const;
  /// Makes the tensors. Each is an input of one of |entries| of |artefact|, whose signature says its type and shape; an entry that the
  /// model lacks is passed over, and without any of them nothing is made: the call will say so. Sizes of dimensions are those of |given|,
  /// the inputs of a file, then of the ids; of one that is still unknown, as many as there are values for; a batch, 1. Fails for an input
  /// that the model does not have or that |given| has, too, for numbers of another type, and if there are more or fewer values than the
  /// shape says.
  Result<std::vector<OwnedTensor>> make(const Artefact &artefact, const std::vector<std::string> &entries,
                                        const std::vector<TensorView> &given) const;

private:
  /// One --value.
  struct Value {
    std::string name;
    std::vector<std::string> numbers;
  };

  struct Target;
  class Signature;

  Status readIds(const std::string &text);
  Status readValue(const std::string &text);
  /// Returns true if rows differ in length.
  bool hasPadding() const;
  Status makeIds(Signature &signature, std::vector<OwnedTensor> &made) const;
  Status makeValue(const Value &value, Signature &signature, std::vector<OwnedTensor> &made) const;

  Padding padding;
  std::vector<std::vector<int64_t>> rows;
  std::vector<Value> values;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_FLAGINPUTS_H
