//===- Provenance.cpp - Operations without a location after each pass -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// usage: attune-test-provenance MODEL [--target=NAME] [--dtype=TYPE]
//
// Lowers a model from `import` to `target` and prints, for each pass, by how many operations without a location the
// module grows in that pass. An operation has a location if its `loc` contains a name, that of a module of the model,
// or a line of a file. Two kinds of operations without a location come from MLIR and are counted apart: MLIR shares
// equal constants and takes their locations away on purpose, and it makes the regions of named linalg operations
// without locations. Exits with 1 if the import or a pass of this project leaves another operation without a location,
// or if a phase fails.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/LoadedModel.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>
#include <map>

using namespace attune;
using namespace mlir;

namespace {
struct Count {
  int64_t operations = 0, constants = 0;
};

/// Counts the operations in |root|, modules and functions included, whose location has neither a name nor a line of a
/// file. Count::constants counts constants and the operations in regions of named linalg operations; Count::operations
/// counts all others. Appends the names of the others to |names| unless it is null.
Count countLost(Operation *root, SmallVectorImpl<std::string> *names = nullptr) {
  Count count;
  root->walk([&](Operation *op) {
    if (op->getLoc()->findInstanceOf<NameLoc>() || op->getLoc()->findInstanceOf<FileLineColLoc>())
      return;
    auto named = dyn_cast_or_null<linalg::LinalgOp>(op->getParentOp());
    bool isConstant = op->hasTrait<OpTrait::ConstantLike>() || (named && !isa<linalg::GenericOp>(named.getOperation()));
    ++(isConstant ? count.constants : count.operations);
    if (!isConstant && names)
      names->push_back(op->getName().getStringRef().str());
  });
  return count;
}

/// The increase of both counts of countLost in each pass.
struct LossCounter : PassInstrumentation {
  void runBeforePass(Pass *pass, Operation *op) override {
    if (!isAdaptor(pass))
      before[{pass, op}] = countLost(op);
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (isAdaptor(pass))
      return;
    Count start = before[{pass, op}];
    SmallVector<std::string> names;
    Count end = countLost(op, &names);
    Count &sum = lost[pass->getArgument().str()];
    sum.operations += std::max<int64_t>(0, end.operations - start.operations);
    sum.constants += std::max<int64_t>(0, end.constants - start.constants);
    if (end.operations > start.operations)
      for (const std::string &name : names)
        ++examples[pass->getArgument().str()][name];
  }
  /// Returns true if |pass| only runs a nested pipeline, whose passes are counted one by one.
  static bool isAdaptor(Pass *pass) { return pass->getArgument().empty(); }

  std::map<std::pair<Pass *, Operation *>, Count> before;
  std::map<std::string, Count> lost;
  std::map<std::string, std::map<std::string, int>> examples;
};
} // namespace

int main(int argc, char **argv) {
  registerAllTargets();
  CompileOptions options;
  for (int i = 1; i < argc; ++i) {
    StringRef word = argv[i];
    if (word.consume_front("--target="))
      options.target.name = word.str();
    else if (word.consume_front("--dtype="))
      options.target.precision = *xfmr::symbolizePrecision(word);
    else
      options.model = word.str();
  }
  Result<std::unique_ptr<LoadedModel>> model = LoadedModel::import(options);
  if (!model)
    return std::fprintf(stderr, "%s\n", model.message().c_str()), 1;
  ModuleOp module = (*model)->module();
  if (int64_t lost = countLost(module).operations)
    return std::fprintf(stderr, "the import leaves %lld operations without a location\n", static_cast<long long>(lost)), 1;
  FailureOr<ModuleTarget> target = readTarget(module);
  if (failed(target))
    return 1;
  std::map<std::string, Count> lost;
  std::map<std::string, std::map<std::string, int>> examples;
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target}) {
    PassManager passes(module.getContext());
    auto counter = std::make_unique<LossCounter>();
    LossCounter &result = *counter;
    passes.addInstrumentation(std::move(counter));
    buildPhasePipeline(passes, phase, *target->target, target->schedule);
    if (failed(passes.run(module)))
      return 1;
    for (auto &[name, count] : result.lost) {
      lost[name].operations += count.operations;
      lost[name].constants += count.constants;
    }
    for (auto &[name, ops] : result.examples)
      for (auto &[op, count] : ops)
        examples[name][op] += count;
  }
  Count own, upstream;
  for (auto &[name, count] : lost) {
    bool isOwn = StringRef(name).starts_with("attune-") || StringRef(name).starts_with("xfmr-") || name == "convert-xfmr-to-linalg";
    Count &sum = isOwn ? own : upstream;
    sum.operations += count.operations;
    sum.constants += count.constants;
    if (count.operations != 0 || count.constants != 0)
      std::printf("%s: %lld operations, %lld constants\n", name.c_str(), static_cast<long long>(count.operations),
                  static_cast<long long>(count.constants));
    for (auto &[op, number] : examples[name])
      std::printf("  %d x %s\n", number, op.c_str());
  }
  std::printf("passes of this project: %lld operations\npasses of MLIR: %lld operations\nconstants and regions of MLIR: %lld\n",
              static_cast<long long>(own.operations), static_cast<long long>(upstream.operations),
              static_cast<long long>(own.constants + upstream.constants));
  return own.operations != 0;
}
