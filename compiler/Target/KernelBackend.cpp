//===- KernelBackend.cpp - Code generators for CPU kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/KernelBackend.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;

KernelBackend::~KernelBackend() = default;

static std::vector<KernelBackendInfo> &registeredBackends() {
  static std::vector<KernelBackendInfo> backends;
  return backends;
}

void attune::registerKernelBackend(KernelBackendInfo info) {
  std::vector<KernelBackendInfo> &backends = registeredBackends();
  if (llvm::none_of(backends, [&](const KernelBackendInfo &known) { return known.name == info.name; }))
    backends.push_back(std::move(info));
}

llvm::ArrayRef<KernelBackendInfo> attune::getKernelBackends() { return registeredBackends(); }

Result<std::unique_ptr<KernelBackend>> attune::createKernelBackend(llvm::StringRef name,
                                                                   const std::map<std::string, std::string> &settings) {
  if (name.empty() || name == kOwnKernels) {
    if (!settings.empty())
      return Status::error("--set: '" + settings.begin()->first + "' is no setting of --kernels=" + kOwnKernels.str());
    return std::unique_ptr<KernelBackend>();
  }
  std::string known = kOwnKernels.str();
  for (const KernelBackendInfo &info : getKernelBackends()) {
    if (info.name == name)
      return info.create(settings);
    known += ", " + info.name;
  }
  return Status::error("--kernels: '" + name.str() + "' is not in this build, expected " + known);
}
