//===- ModuleTarget.cpp - The target that a module carries -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/ModuleTarget.h"
#include "compiler/Object/Architectures.h"

using namespace mlir;
using namespace attune;

/// Returns the value of `cpu` for pipelines `attune-to-PHASE` that do not give it: a CPU's name, after which features
/// may follow. It does not depend on the machine that runs the compiler.
static std::string getDefaultCpu(const llvm::Triple &triple) {
  if (triple.getArch() == llvm::Triple::x86_64)
    return "x86-64-v4";
  const Architecture *architecture = findArchitecture(triple);
  if (!architecture)
    return ""; // HostMachine::create rejects the triple.
  std::string features = architecture->baselineFeatures;
  return architecture->baselineCpu + (features.empty() ? "" : "," + features);
}

Result<std::unique_ptr<Target>> attune::createTarget(const TargetRequest &request, const std::string &cpu, const std::string &triple) {
  const llvm::Triple parsed(triple.empty() ? "x86_64-unknown-linux-gnu" : llvm::Triple::normalize(triple));
  Result<HostMachine> host = HostMachine::create(cpu.empty() ? getDefaultCpu(parsed) : cpu, parsed.str());
  return host ? createTarget(request, *host) : Result<std::unique_ptr<Target>>(host.status());
}

void attune::setTarget(ModuleOp module, const Target &target) {
  MLIRContext *context = module.getContext();
  module->setAttr(rt::TargetAttr::kName, target.attribute(context));
  module->setAttr(rt::ScheduleAttr::kName, rt::ScheduleAttr::get(context, target.schedule()));
}

FailureOr<ModuleTarget> attune::readTarget(ModuleOp module) {
  auto attribute = module->getAttrOfType<rt::TargetAttr>(rt::TargetAttr::kName);
  Result<std::unique_ptr<Target>> target = attribute ? readTarget(attribute) : createTarget(TargetRequest(), "", "");
  if (!target)
    return module.emitError("'rt.target': ") << target.message();
  auto schedule = module->getAttrOfType<rt::ScheduleAttr>(rt::ScheduleAttr::kName);
  rt::Schedule tiles = schedule ? schedule.getValue() : (*target)->schedule();
  return ModuleTarget{std::move(*target), tiles};
}
