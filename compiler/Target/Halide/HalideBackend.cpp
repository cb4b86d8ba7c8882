//===- HalideBackend.cpp - Kernels by Halide -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/HalideBackend.h"
#include "compiler/Target/Halide/HalideProcesses.h"
#include "compiler/Target/Halide/Passes.h"

using namespace attune;

Result<std::unique_ptr<KernelBackend>> HalideBackend::create(const std::map<std::string, std::string> &settings) {
  auto backend = std::make_unique<HalideBackend>();
  for (const auto &[key, value] : settings) {
    if (key != "schedule" || (value != "auto" && value != "none"))
      return Status::error("--set: expected schedule=auto or schedule=none, got '" + key + "=" + value + "'");
    backend->schedule = value;
  }
  return std::unique_ptr<KernelBackend>(std::move(backend));
}

// The scheduling rules (Gen/Schedule.cpp) expect that a task, an iteration of the parallel loop, reads only one weight
// panel, even if the task has a single row. Then its columns fit into one register tile, which may read the padding of
// the panel instead of checking each column.
void HalideBackend::adjust(mlir::rt::Schedule &schedule) const { schedule.streamPanels = 1; }

std::string HalideBackend::flags() const { return schedule == "auto" ? "" : " --set=schedule=" + schedule; }

std::vector<std::string> HalideBackend::programs() const {
  Result<std::string> tool = findHalideTool();
  return tool ? std::vector<std::string>{*tool} : std::vector<std::string>();
}

void HalideBackend::addSelectPasses(mlir::OpPassManager &pm) const { pm.addPass(createSelectKernels()); }

void HalideBackend::addTilePasses(mlir::OpPassManager &pm) const { pm.addPass(createLowerHalideTiles()); }

namespace {
/// The emission of one module. Processes compile its kernels by Halide while the phases after `kernels` run.
class HalideEmission : public TargetEmission {
public:
  HalideEmission(std::string tool, HalideOptions options) : tool(std::move(tool)), options(std::move(options)) {}

  Status start(mlir::ModuleOp module) override { return processes.start(tool, describeHalideKernels(module), options); }
  llvm::StringRef stepName() const override { return HalideBackend::kName; }
  Status takeKernels(mlir::ModuleOp) override {
    Result<std::vector<std::string>> finished = processes.finish();
    if (!finished)
      return finished.status();
    bitcode = std::move(*finished);
    return {};
  }
  Status linkHost(llvm::Module &host) override {
    for (const std::string &kernels : bitcode)
      if (Status status = linkHalideKernels(host, kernels); status.failed())
        return status;
    return {};
  }

private:
  std::string tool;
  HalideOptions options;
  HalideProcesses processes;
  std::vector<std::string> bitcode;
};
} // namespace

Result<std::unique_ptr<TargetEmission>> HalideBackend::createEmission(const HostMachine &host, const KernelTiles &tiles) const {
  if (host.machine().getTargetTriple().getArch() != llvm::Triple::x86_64)
    return Status::error("--kernels=halide: expected an x86-64 target, got '" + host.triple() + "'");
  Result<std::string> tool = findHalideTool();
  if (!tool)
    return Status::error("--kernels=halide: " + tool.message());
  return std::unique_ptr<TargetEmission>(std::make_unique<HalideEmission>(*tool, HalideOptions{tiles, schedule}));
}

void attune::registerHalideBackend() {
  registerKernelBackend({HalideBackend::kName.str(), registerHalideDialect, registerAttuneHalidePasses, HalideBackend::create});
}
