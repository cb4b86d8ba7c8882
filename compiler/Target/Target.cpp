//===- Target.cpp - The interface of all targets ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace attune;

TargetEmission::~TargetEmission() = default;

std::string TargetEmission::deviceText() const { llvm_unreachable("the target has no device code"); }

Target::~Target() = default;

Status Target::checkEmit(EmitKind kind) const {
  if (kind == EmitKind::Ptx)
    return Status::error("--emit: 'ptx' is not for --target=" + name().str() + ", expected object, shared or asm");
  return {};
}

//===----------------------------------------------------------------------===//
// Registry
//===----------------------------------------------------------------------===//

static std::vector<TargetInfo> &registeredTargets() {
  static std::vector<TargetInfo> targets;
  return targets;
}

void attune::registerTarget(TargetInfo info) {
  std::vector<TargetInfo> &targets = registeredTargets();
  if (llvm::none_of(targets, [&](const TargetInfo &known) { return known.name == info.name; }))
    targets.push_back(std::move(info));
}

llvm::ArrayRef<TargetInfo> attune::getTargets() { return registeredTargets(); }

/// Returns the target called |name|, or the first target if |name| is empty.
static Result<const TargetInfo *> findTarget(llvm::StringRef name) {
  for (const TargetInfo &info : getTargets())
    if (name.empty() || info.name == name)
      return &info;
  auto names = llvm::map_range(getTargets(), [](const TargetInfo &info) { return info.name; });
  return Status::error("target '" + name.str() + "' is not in this build, expected " + llvm::join(names, ", "));
}

Result<std::unique_ptr<Target>> attune::createTarget(const TargetRequest &request, const HostMachine &host) {
  Result<const TargetInfo *> info = findTarget(request.name);
  return info ? (*info)->create(request, host) : Result<std::unique_ptr<Target>>(info.status());
}

Result<std::unique_ptr<Target>> attune::readTarget(mlir::rt::TargetAttr attribute) {
  Result<const TargetInfo *> info = findTarget(attribute.getName().getValue());
  return info ? (*info)->read(attribute) : Result<std::unique_ptr<Target>>(info.status());
}
