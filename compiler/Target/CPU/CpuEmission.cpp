//===- CpuEmission.cpp - Kernels beside the host module --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CpuEmission.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;

// AMX tiles need a permission from the operating system, so only code that uses them requires the AMX features.
std::string CpuEmission::hostFeatures(const llvm::Module &host) const {
  std::string features;
  auto uses = [&](llvm::StringRef prefix) {
    return llvm::any_of(host, [&](const llvm::Function &f) { return f.getName().starts_with(prefix); });
  };
  for (auto [prefix, feature] :
       {std::pair("llvm.x86.tile", ",amx-tile"), std::pair("llvm.x86.tdpbf16ps", ",amx-bf16"), std::pair("llvm.x86.tdpbusd", ",amx-int8")})
    if (uses(prefix))
      features += feature;
  return features;
}
