//===- WideInputs.h - A generation's inputs with I64 for I32 --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_WIDEINPUTS_H
#define ATTUNE_RUNTIME_GENERATION_WIDEINPUTS_H

#include "../Signature.h"
#include "ScratchBuffer.h"

namespace attune {

/// The tensors of a caller, of which those that are I32 are converted to I64. Tensors whose shape, data or size is wrong stay as they are,
/// for the checks that follow to name.
class WideInputs {
public:
  /// Converts |inputs|, which must outlive this. Takes memory if any is I32. Fails with OUT_OF_MEMORY.
  attune_status open(TensorList inputs);
  TensorList list() const { return tensors; }

private:
  TensorList tensors{};
  ScratchBuffer memory;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_WIDEINPUTS_H
