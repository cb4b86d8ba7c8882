//===- TextGeneration.h - Generation for Python -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_TEXTGENERATION_H
#define ATTUNE_PYTHON_TEXTGENERATION_H

#include "attune/text_generation.hpp"
#include "CompiledModel.h"
#include "compiler/Support/GenerationSettings.h"

namespace attune::python {

/// The settings of a generation: those of the model, changed by a JSON object whose keys are the names of transformers,
/// as on the command line. Cannot be copied or moved.
class GenerationCall {
public:
  /// |settings| is the JSON object. |onToken|, a function of (row, token, length) or None, ends the generation by
  /// returning False. At every token Python also handles signals, so that an interrupt ends the generation.
  GenerationCall(const CompiledModel &model, const std::string &settings, nb::object onToken);

  GenerationOptions &options() { return fields; }
  /// Returns true if the settings or the model's files limit the length of the result.
  bool limitsLength() const;

private:
  GenerationSettings values;
  GenerationOptions fields;
  nb::object listener;
  bool lengthGiven = false;
};

/// Returns a function for attune::PieceListener that calls |callback|(row, piece); empty for None. |callback| must
/// outlive the function.
PieceListener::Function makePieceFunction(nb::object callback);

/// Adds the functions of generation to |module|.
void bindGeneration(nb::module_ &module);

} // namespace attune::python

#endif // ATTUNE_PYTHON_TEXTGENERATION_H
