//===- GpuArchitecture.cpp - GPUs that code is made for --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/GpuArchitecture.h"
#include "compiler/Target/NVVM/Emulator/EmulatedImage.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace attune;

static constexpr llvm::StringLiteral kKnown[] = {"sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "emulator", "emulator_90a"};

Result<std::vector<GpuArchitecture>> attune::parseGpuList(const std::string &text) {
  std::vector<GpuArchitecture> list;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(text).split(names, ',');
  for (llvm::StringRef name : names) {
    if (!llvm::is_contained(kKnown, name))
      return Status::error("expected sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, emulator or emulator_90a, got '" + name.str() + "'");
    GpuArchitecture gpu;
    gpu.isEmulator = name.starts_with("emulator");
    gpu.isSpecific = name.consume_back("a");
    if (gpu.isEmulator)
      gpu.number = emulated::arch;
    else
      name.drop_front(3).getAsInteger(10, gpu.number);
    if (!llvm::is_contained(list, gpu))
      list.push_back(gpu);
  }
  return list;
}

std::string attune::formatGpuList(const std::vector<GpuArchitecture> &list) {
  std::string text;
  for (const GpuArchitecture &gpu : list)
    text += (text.empty() ? "" : ",") + gpu.name();
  return text;
}
