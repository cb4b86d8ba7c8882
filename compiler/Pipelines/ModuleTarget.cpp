//===- ModuleTarget.cpp - The target that a module carries -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/ModuleTarget.h"

using namespace mlir;
using namespace attune;

Result<std::unique_ptr<Target>> attune::createTarget(const TargetRequest &request, const std::string &cpu, const std::string &triple) {
  Result<HostMachine> host =
      HostMachine::create(cpu.empty() && triple.empty() ? "x86-64-v4" : cpu, triple.empty() ? "x86_64-unknown-linux-gnu" : triple);
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
