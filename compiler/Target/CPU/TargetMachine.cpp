//===- TargetMachine.cpp - The CPU that code is made for -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/TargetMachine.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <map>
#include <mutex>

using namespace attune;

/// What generated x86-64 code may contain beyond the baseline, by LLVM's names; the runtime knows all of them.
static constexpr const char *kX86Features[] = {
    "sse3",        "ssse3",        "sse4.1",     "sse4.2",     "popcnt",     "lzcnt",       "movbe",        "bmi",
    "bmi2",        "adx",          "avx",        "avx2",       "fma",        "f16c",        "gfni",         "avxvnni",
    "avxvnniint8", "avxvnniint16", "avxifma",    "avx512f",    "avx512bw",   "avx512cd",    "avx512dq",     "avx512vl",
    "avx512vnni",  "avx512bf16",   "avx512fp16", "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq"};
/// What generated AArch64 code may contain beyond the baseline.
static constexpr const char *kArmFeatures[] = {"dotprod", "fullfp16", "fp16fml", "bf16", "i8mm", "sve", "sve2", "lse", "rdm"};
/// Extensions the code generator would use but no operating system or runtime of ours is prepared for.
static constexpr const char *kX86Withheld[] = {"egpr", "push2pop2", "ppx", "ndd", "ccmp", "nf", "cf", "zu", "xop", "fma4", "tbm"};

/// The features of this machine, as LLVM writes them. A virtual machine may lack some that its CPU's name implies.
static std::string getHostFeatures() {
  // A map, so that the string is always the same.
  std::map<std::string, bool> sorted;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    sorted[feature.getKey().str()] = feature.getValue();
  llvm::SubtargetFeatures features;
  for (const auto &[name, enabled] : sorted)
    features.AddFeature(name, enabled);
  return features.getString();
}

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
  });
}

static std::unique_ptr<llvm::TargetMachine> createMachine(const llvm::Target &target, const llvm::Triple &triple, const std::string &cpu,
                                                          const std::string &features) {
  llvm::TargetOptions options;
  // Only what is written as a fused multiply-add is one: results must not depend on what the optimiser finds.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.FunctionSections = options.DataSections = false;
  return std::unique_ptr<llvm::TargetMachine>(target.createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_,
                                                                         /*CM=*/std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

Result<CpuTarget> CpuTarget::create(const std::string &name, const std::string &tripleText) {
  initializeTargets();
  llvm::Triple triple(tripleText.empty() ? llvm::sys::getDefaultTargetTriple() : llvm::Triple::normalize(tripleText));
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Status::error("--triple: unknown target '" + tripleText + "'");
  if (!triple.isOSBinFormatELF() || !triple.isArch64Bit() || !triple.isLittleEndian())
    return Status::error("--triple: expected a 64-bit little-endian ELF target, got '" + triple.str() + "'");

  std::string cpu = name, features;
  if (name == "native") {
    llvm::Triple host(llvm::sys::getProcessTriple());
    if (host.getArch() != triple.getArch())
      return Status::error("--cpu=native: this machine is " + llvm::Triple::getArchTypeName(host.getArch()).str() + ", not " +
                           llvm::Triple::getArchTypeName(triple.getArch()).str() + "; name a CPU");
    cpu = llvm::sys::getHostCPUName().str();
    features = getHostFeatures();
  }
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(*target, triple, "", "");
  if (!machine || cpu.empty() || !machine->getMCSubtargetInfo()->isCPUStringValid(cpu))
    return Status::error("--cpu: unknown CPU '" + name + "' for " + llvm::Triple::getArchTypeName(triple.getArch()).str() +
                         ", expected native, x86-64-v3, x86-64-v4 or a name LLVM knows");
  if (triple.isX86())
    for (const char *feature : kX86Withheld)
      features += std::string(features.empty() ? "-" : ",-") + feature;
  CpuTarget result;
  result.targetMachine = createMachine(*target, triple, cpu, features);
  if (triple.isX86())
    for (const char *feature : {"avx2", "fma"})
      if (!result.hasFeature(feature))
        return Status::error("--cpu: CPU '" + cpu + "' has no " + (feature[0] == 'a' ? "AVX2" : "FMA") +
                             ", which the code needs; the least is x86-64-v3");
  return result;
}

bool CpuTarget::hasFeature(llvm::StringRef feature) const { return machine().getMCSubtargetInfo()->checkFeatures(("+" + feature).str()); }

std::string CpuTarget::requiredFeatures() const {
  std::string list;
  auto collect = [&](llvm::ArrayRef<const char *> names) {
    for (const char *name : names)
      if (hasFeature(name))
        list += (list.empty() ? "" : ",") + std::string(name);
  };
  if (machine().getTargetTriple().isX86())
    collect(kX86Features);
  if (machine().getTargetTriple().isAArch64())
    collect(kArmFeatures);
  return list;
}

unsigned CpuTarget::vectorBits() const {
  if (!machine().getTargetTriple().isX86())
    return 128;
  return hasFeature("avx512f") && hasFeature("avx512vl") && hasFeature("avx512bw") && hasFeature("avx512dq") ? 512 : 256;
}

llvm::StringSet<> CpuTarget::dotFeatures() const {
  llvm::StringSet<> found;
  if (!machine().getTargetTriple().isX86())
    return found;
  found.insert("x86");
  for (const char *feature : {"avx512bf16", "avx512vnni", "avxvnni", "amx-bf16", "amx-int8"})
    if (hasFeature(feature))
      found.insert(feature);
  return found;
}
