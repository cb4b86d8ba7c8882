//===- Device.cpp - Finding the code for a device -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Device.h"

// A weak reference does not take the code from the static library, so the address of this table is null unless the
// program refers to the symbol elsewhere.
#pragma weak attune_cuda_device

using namespace attune;

namespace {
struct DeviceKind {
  const char *name, *symbol;
  const attune_device_functions *functions;
};
} // namespace

attune_status attune::findDevice(const attune_model_desc &desc, const attune_device_functions *&out) {
  out = nullptr;
  if (desc.device == ATTUNE_DEVICE_CPU)
    return ATTUNE_OK;
  static const DeviceKind kinds[] = {{"an NVIDIA GPU", "attune_cuda_device", &attune_cuda_device}};
  const DeviceKind &kind = kinds[desc.device - 1];
  out = kind.functions;
  if (!out)
    return fail(ATTUNE_INCOMPATIBLE,
                "model '%s' runs on %s, but this program is linked without the runtime's code for it: include the model's header, or link "
                "with -Wl,-u,%s",
                desc.name, kind.name, kind.symbol);
  return ATTUNE_OK;
}
