//===- FirstWrongOutput.h - Which part of an imported model is wrong? -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The importer has no passes to search. Its errors are narrowed down by the outputs that a reference has recorded, such
// as the hidden states of each layer:
//
//   embeddings --> layer 0 --> layer 1 --> layer 2 --> head
//              |           |           |           |
//   hidden_states.0        .1          .2          .3      logits
//       right             right       WRONG       WRONG    WRONG
//
// Here the error is in layer 1. In general, each output is computed by a set of operations. If the set of a right
// output is a part of the set of a wrong one, the operations of the right output are right, and the others of the wrong
// output remain. The first wrong output is the wrong one for which the fewest operations remain.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_FIRSTWRONGOUTPUT_H
#define ATTUNE_COMPILER_BISECT_FIRSTWRONGOUTPUT_H

#include "compiler/Bisect/Judge.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune {

/// The first wrong output of an imported model.
struct FirstWrongOutput {
  /// The name in the C API, "hidden_states.2".
  std::string name;
  /// The right outputs before this one: those whose operations all belong to the set of this output. Of a group, such
  /// as hidden states, only the last one.
  std::vector<std::string> known;
  /// The operations that compute this output and none of the right outputs before it, in order of execution, as text:
  /// the name and the path of the module, "xfmr.layer_norm encoder.layer.1.ffn".
  std::vector<std::string> operations;
  /// True if members of a group of outputs, such as the hidden states of the layers, were judged.
  bool judgedLayers = false;
};

/// Finds the first wrong output of |module|, IR of the phase `import`. |outputs| has the name and the judgment of each
/// output. Returns nullopt if no output is wrong.
std::optional<FirstWrongOutput> findFirstWrongOutput(mlir::ModuleOp module, const std::vector<std::pair<std::string, Judgment>> &outputs);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_FIRSTWRONGOUTPUT_H
