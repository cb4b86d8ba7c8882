//===- HostMachine.cpp - The machine of the host code ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/HostMachine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <map>
#include <mutex>

using namespace attune;

/// Returns the features of this machine, as LLVM writes them ("+avx2,-avx512f"). They are needed beside the CPU's name,
/// since a virtual machine may lack features that the name implies.
static std::string getHostFeatures() {
  // A map sorts the features, so that the string is always the same.
  std::map<std::string, bool> sorted;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    sorted[feature.getKey().str()] = feature.getValue();
  llvm::SubtargetFeatures features;
  for (const auto &[name, enabled] : sorted)
    features.AddFeature(name, enabled);
  return features.getString();
}

void attune::initializeTargets() {
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
                                                          const std::string &features, const char *abi = "") {
  llvm::TargetOptions options;
  // Only explicit fused multiply-adds are fused: results must not depend on what the optimizer finds.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.FunctionSections = options.DataSections = false;
  options.MCOptions.ABIName = abi;
  return std::unique_ptr<llvm::TargetMachine>(target.createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_,
                                                                         /*CM=*/std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Adds |more|, "+a,-b", to |features|.
static void addFeatures(std::string &features, llvm::StringRef more) {
  if (!more.empty())
    features += (features.empty() ? "" : ",") + more.str();
}

namespace {
/// A CPU and its features, as LLVM takes them.
struct CpuName {
  std::string cpu, features;
};
} // namespace

/// Returns the CPU and the features that |text|, the value of --cpu, stands for. |text| is empty, `native` or a CPU's
/// name, after which features may follow (",+a,-b"). Fails if |text| is `native` and |triple| has another architecture
/// than this machine.
static Result<CpuName> resolveCpu(const std::string &text, const llvm::Triple &triple, const Architecture &architecture) {
  auto [name, features] = llvm::StringRef(text).split(',');
  llvm::Triple host(llvm::sys::getProcessTriple());
  bool isHost = host.getArch() == triple.getArch();
  CpuName result = {name.str(), ""};
  if (name == "native" && !isHost)
    return Status::error("--cpu=native: this machine is " + llvm::Triple::getArchTypeName(host.getArch()).str() + ", not " +
                         llvm::Triple::getArchTypeName(triple.getArch()).str() + "; name a CPU");
  if (name == "native" || (name.empty() && isHost))
    result = {llvm::sys::getHostCPUName().str(), getHostFeatures()};
  else if (name.empty())
    result = {architecture.baselineCpu, architecture.baselineFeatures};
  addFeatures(result.features, features);
  return result;
}

/// Returns an error if a feature in |features|, "+a,-b", has no sign or is unknown to LLVM. LLVM itself would only
/// print a warning.
static Status checkFeatures(llvm::StringRef features, const llvm::MCSubtargetInfo &info) {
  llvm::SmallVector<llvm::StringRef> words;
  features.split(words, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    bool known =
        llvm::any_of(info.getAllProcessorFeatures(), [&](const llvm::SubtargetFeatureKV &entry) { return word.drop_front() == entry.Key; });
    if (!known || (word[0] != '+' && word[0] != '-'))
      return Status::error("--cpu: expected features like +avx2 or -avx2 behind the name, got '" + word.str() + "'");
  }
  return {};
}

/// Appends "-NAME" to |features| for each feature in Architecture::withheld. A prefix in that list stands for the
/// features with this prefix that |info| has enabled.
static void withhold(const Architecture &architecture, const llvm::MCSubtargetInfo &info, std::string &features) {
  for (llvm::StringRef pattern : architecture.withheld) {
    if (!pattern.consume_back("*")) {
      addFeatures(features, ("-" + pattern).str());
      continue;
    }
    for (const llvm::SubtargetFeatureKV &entry : info.getEnabledProcessorFeatures())
      if (llvm::StringRef(entry.Key).starts_with(pattern))
        addFeatures(features, std::string("-") + entry.Key);
  }
}

Result<HostMachine> HostMachine::create(const std::string &name, const std::string &tripleText) {
  initializeTargets();
  llvm::Triple triple(tripleText.empty() ? llvm::sys::getDefaultTargetTriple() : llvm::Triple::normalize(tripleText));
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Status::error("--triple: unknown target '" + tripleText + "'");
  if (!triple.isOSBinFormatELF() || !triple.isArch64Bit() || !triple.isLittleEndian())
    return Status::error("--triple: expected a 64-bit little-endian ELF target, got '" + triple.str() + "'");
  const Architecture *architecture = findArchitecture(triple);
  if (!architecture)
    return Status::error("--triple: expected x86_64, aarch64 or riscv64, got '" + triple.str() + "'");

  Result<CpuName> cpu = resolveCpu(name, triple, *architecture);
  if (!cpu)
    return cpu.status();
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(*target, triple, "", "");
  if (!machine || cpu->cpu.empty() || !machine->getMCSubtargetInfo()->isCPUStringValid(cpu->cpu))
    return Status::error("--cpu: unknown CPU '" + cpu->cpu + "' for " + llvm::Triple::getArchTypeName(triple.getArch()).str() +
                         ", expected native, " + (triple.isX86() ? "x86-64-v3, x86-64-v4" : architecture->baselineCpu) +
                         " or a name LLVM knows");
  if (Status status = checkFeatures(cpu->features, *machine->getMCSubtargetInfo()); status.failed())
    return status;
  machine = createMachine(*target, triple, cpu->cpu, cpu->features);
  withhold(*architecture, *machine->getMCSubtargetInfo(), cpu->features);
  HostMachine result;
  result.architecture = architecture;
  result.targetMachine = createMachine(*target, triple, cpu->cpu, cpu->features, architecture->abi);
  for (const RequiredFeature &required : architecture->required)
    if (!result.hasFeature(required.feature))
      return Status::error("--cpu: CPU '" + cpu->cpu + "' has no " + required.name + ", which the code needs; the least is " +
                           architecture->least);
  return result;
}

bool HostMachine::hasFeature(llvm::StringRef feature) const { return machine().getMCSubtargetInfo()->checkFeatures(("+" + feature).str()); }

std::string HostMachine::requiredFeatures() const {
  std::string list;
  for (const char *name : architecture->features)
    if (hasFeature(name))
      list += (list.empty() ? "" : ",") + std::string(name);
  return list;
}

unsigned HostMachine::vectorBits() const {
  if (machine().getTargetTriple().isX86())
    return hasFeature("avx512f") && hasFeature("avx512vl") && hasFeature("avx512bw") && hasFeature("avx512dq") ? 512 : 256;
  if (machine().getTargetTriple().isAArch64())
    return 128;
  if (!hasFeature("zve32f"))
    return 32;
  return hasFeature("zvl512b") ? 512 : hasFeature("zvl256b") ? 256 : 128;
}

unsigned HostMachine::vectorRegisters() const { return machine().getTargetTriple().isX86() && vectorBits() < 512 ? 16 : 32; }

llvm::StringSet<> HostMachine::scheduleFeatures() const {
  llvm::StringSet<> found;
  if (!machine().getTargetTriple().isX86())
    return found;
  found.insert("x86");
  for (const char *feature : {"avx512bf16", "avx512vnni", "avxvnni", "amx-bf16", "amx-int8", "sse4a"})
    if (hasFeature(feature))
      found.insert(feature);
  return found;
}
