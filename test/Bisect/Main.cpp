//===- Main.cpp - attune bisect with an error in a pass -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// usage: attune-test-bisect --list
//        attune-test-bisect SEED ARGUMENT…    runs `attune bisect ARGUMENT…` with the error in its pass
//
//===----------------------------------------------------------------------===//

#include "Seeds.h"
#include "compiler/Support/Temporaries.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "compiler/Tools/BisectCommand.h"
#include "llvm/Support/InitLLVM.h"

#include <cstdio>
#include <cstring>

using namespace attune;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerAllTargets();
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Seed &seed : listSeeds())
      std::printf("%s\t%s\t%s\t%s\t%s\t%s\t%d\n", seed.name.c_str(), seed.what.c_str(), seed.phase.c_str(), seed.pass.c_str(),
                  seed.place.c_str(), seed.model.c_str(), seed.harmless);
    return 0;
  }
  CommandHost host;
  host.tool = "attune-test-bisect";
  if (argc < 2)
    return reportError(host.tool, "expected --list or the name of a seed");
  for (const Seed &seed : listSeeds()) {
    if (seed.name != argv[1])
      continue;
    PassHook hook = [&](const PassStep &step, mlir::ModuleOp module) {
      if (step.name == seed.pass && stringifyPhase(step.phase) == seed.phase)
        seed.change(module);
    };
    return runBisect(host, {argv + 2, argv + argc}, hook);
  }
  return reportError(host.tool, std::string("unknown seed '") + argv[1] + "'");
}
