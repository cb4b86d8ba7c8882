//===- GpuArchitecture.cpp - GPUs that code is made for --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/GpuArchitecture.h"
#include "compiler/Target/NVVM/ImageEmitter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace attune;

/// Returns every supported GPU.
static std::vector<GpuArchitecture> listKnown() {
  std::vector<GpuArchitecture> known = {{80}, {86}, {87}, {89}, {90}, {90, true}};
  for (const ImageEmitter *emitter : getImageEmitters())
    known.push_back({emitter->number, emitter->isSpecific, emitter});
  return known;
}

std::string GpuArchitecture::name() const { return emitter ? emitter->name : "sm_" + std::to_string(number) + (isSpecific ? "a" : ""); }

Result<std::vector<GpuArchitecture>> attune::parseGpuList(const std::string &text) {
  const std::vector<GpuArchitecture> known = listKnown();
  std::vector<GpuArchitecture> list;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(text).split(names, ',');
  for (llvm::StringRef name : names) {
    auto gpu = llvm::find_if(known, [&](const GpuArchitecture &one) { return one.name() == name; });
    if (gpu == known.end())
      return Status::error("expected " + llvm::join(llvm::map_range(known, [](const GpuArchitecture &one) { return one.name(); }), ", ") +
                           ", got '" + name.str() + "'");
    if (!llvm::is_contained(list, *gpu))
      list.push_back(*gpu);
  }
  return list;
}

std::string attune::formatGpuList(const std::vector<GpuArchitecture> &list) {
  return llvm::join(llvm::map_range(list, [](const GpuArchitecture &gpu) { return gpu.name(); }), ",");
}
