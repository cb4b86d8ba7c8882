//===- WideInputs.h - Conversion of I32 inputs to I64 ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_WIDEINPUTS_H
#define ATTUNE_RUNTIME_GENERATION_WIDEINPUTS_H

#include "../Signature.h"
#include "ScratchBuffer.h"

namespace attune {

/// The tensors of a caller, with I32 tensors converted to I64. An I32 tensor whose shape, data or size is wrong stays
/// as it is; later checks report it.
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
