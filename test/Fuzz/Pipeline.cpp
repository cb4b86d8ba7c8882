//===- Pipeline.cpp - Fuzz the dialect and the phases ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: if the first byte is '#', the text of IR follows, which is compiled for f32. Otherwise the first byte selects
// the precision, and the other bytes are the decisions of a random module (RandomModule.h). A module that parses and
// verifies must pass through all phases that consist of passes, or be rejected by one of them with a diagnostic of this
// project, not one of MLIR's own. ATTUNE_FUZZ_PRINT=1 prints the module.
//===----------------------------------------------------------------------===//
#include "compiler/Driver/Diagnostics.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/Fuzz/RandomModule.h"

#include <cstdlib>

using namespace attune;

/// Prints |what| and |why| and aborts.
[[noreturn]] static void fail(const char *what, const std::string &why) {
  fprintf(stderr, "%s: %s\n", what, why.c_str());
  abort();
}

static void runPhases(mlir::MLIRContext &context, mlir::ModuleOp module, const Target &target) {
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target}) {
    DiagnosticCollector diagnostics(&context, [](const std::string &) {});
    mlir::PassManager passes(&context);
    buildPhasePipeline(passes, phase, target);
    if (mlir::succeeded(passes.run(module)))
      continue;
    std::string message = diagnostics.error("").message(), name = stringifyPhase(phase).str();
    if (message.empty())
      fail(name.c_str(), "failed without a diagnostic");
    for (const char *raw : {"failed to legalize", "failed to verify", "unrealized_conversion_cast", "does not dominate"})
      if (message.find(raw) != std::string::npos)
        fail(name.c_str(), message);
    return;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry all;
    registerAllTargets();
    registerCompilerDialects(all);
    return all;
  }();
  if (size == 0)
    return 0;
  bool isText = *data == '#';
  static const mlir::xfmr::Precision precisions[] = {mlir::xfmr::Precision::F32, mlir::xfmr::Precision::BF16, mlir::xfmr::Precision::Int8};
  TargetRequest request;
  request.precision = precisions[isText ? 0 : *data % 3];
  Result<std::unique_ptr<Target>> target = createTarget(request, "", "");
  if (!target)
    fail("target", target.message());
  std::string text = isText ? std::string(reinterpret_cast<const char *>(data) + 1, size - 1) : makeRandomModule(data + 1, size - 1);
  if (getenv("ATTUNE_FUZZ_PRINT"))
    fputs(text.c_str(), stderr);

  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  DiagnosticCollector diagnostics(&context, [](const std::string &) {});
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  if (!module) {
    std::string message = diagnostics.error("").message();
    if (message.empty())
      fail("parser", "refused without a diagnostic");
    if (getenv("ATTUNE_FUZZ_PRINT"))
      fprintf(stderr, "refused: %s\n", message.c_str());
    return 0;
  }
  runPhases(context, *module, **target);
  return 0;
}
