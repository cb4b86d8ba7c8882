//===- ReduceModule.cpp - Reduction of modules to small test cases --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step erases parts of one kind, such as operations, from a module. These parts, the candidates, are numbered in
// program order, and a trial erases a range of them from a clone of the module. The first trial erases all candidates,
// the next ones erase halves, and so on down to single candidates. Ranges of one size are tried from the end of the
// module to its start, since users follow producers. The result of a trial replaces the module if it costs less,
// verifies and is interesting. All steps are repeated until no trial of any step succeeds. Running the test takes most
// of the time, so the texts of modules that the test found uninteresting are kept, and no such module is tested again.
//===----------------------------------------------------------------------===//

#include "compiler/Reduce/ModuleEdits.h"
#include "compiler/Reduce/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

namespace attune {
#define GEN_PASS_DEF_REDUCEMODULE
#include "compiler/Reduce/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// The cost of a module: a weighted count of operations, operands, results, arguments and attributes, and the sum of
/// the binary logarithms, rounded down, of all sizes in the types of values. The sum counts only between modules with
/// equal counts.
using Cost = std::pair<int64_t, int64_t>;

/// A function that removes candidates |begin| to |end| - 1 of a module, none if |end| is 0. Returns the number of
/// candidates that the module had before.
using Step = size_t (*)(ModuleOp module, size_t begin, size_t end);

/// A search for the smallest interesting module.
class ModuleReducer {
public:
  ModuleReducer(ModuleOp input, const Tester &tester);
  /// Reduces the module until no step finds a smaller one, and returns the module.
  OwningOpRef<ModuleOp> run();

private:
  /// Replaces the module by |changed| and returns true if |changed| costs less, verifies and is interesting; else
  /// returns false.
  bool keep(OwningOpRef<ModuleOp> changed);
  void runStep(Step step);
  void applyPatterns(const FrozenRewritePatternSet &patterns);
  void resize();

  const Tester &tester;
  /// The texts of uninteresting modules.
  llvm::StringSet<> refused;
  OwningOpRef<ModuleOp> module;
  Cost cost;
};

struct ReduceModule : attune::impl::ReduceModuleBase<ReduceModule> {
  using ReduceModuleBase::ReduceModuleBase;
  void runOnOperation() override;

private:
  /// Checks that the test runs and finds the input interesting; else emits an error and fails.
  LogicalResult checkInput();
};

} // namespace

static std::string printModuleText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

/// Visits the types of the results of |op| and of the arguments of its regions.
static void forEachType(Operation *op, llvm::function_ref<void(Type)> visit) {
  llvm::for_each(op->getResultTypes(), visit);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::for_each(block.getArgumentTypes(), visit);
}

static Cost countCost(ModuleOp module) {
  Cost cost;
  module.walk([&](Operation *op) {
    // An operation costs at least 5 with one result, more than the 4 of an argument that replaces this result in a
    // function with at most two calls: 2 for the argument and 1 for the operand of each call.
    cost.first += 4 + op->getDiscardableAttrDictionary().size() + op->getNumOperands() + op->getNumResults();
    if (isa<SymbolOpInterface>(op))
      cost.first += 4;
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      cost.first += 2 * function.getNumArguments() + function.getNumResults();
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (DictionaryAttr attributes = function.getArgAttrDict(i))
          cost.first += attributes.size();
    } else {
      cost.first += op->getAttrs().size() - op->getDiscardableAttrDictionary().size();
    }
    forEachType(op, [&](Type type) {
      if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
        for (int64_t size : shaped.getShape())
          if (size > 1)
            cost.second += llvm::Log2_64(size);
    });
  });
  return cost;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Returns elements |begin| to |end| - 1 of |all|.
template <typename T>
static SmallVector<T> slice(SmallVector<T> all, size_t begin, size_t end) {
  return SmallVector<T>(llvm::drop_begin(llvm::ArrayRef<T>(all).take_front(end), begin));
}

static size_t eraseSymbols(ModuleOp module, size_t begin, size_t end) {
  SmallVector<Operation *> symbols;
  for (Operation &op : *module.getBody())
    if (isa<SymbolOpInterface>(op))
      symbols.push_back(&op);
  for (Operation *symbol : slice(symbols, begin, end))
    ModuleEdits(module).eraseSymbol(symbol);
  return symbols.size();
}

static size_t eraseBodies(ModuleOp module, size_t begin, size_t end) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      functions.push_back(function);
  for (func::FuncOp function : slice(functions, begin, end))
    ModuleEdits(module).eraseBody(function);
  return functions.size();
}

static size_t eraseSomeOps(ModuleOp module, size_t begin, size_t end) {
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<ModuleOp, SymbolOpInterface>(op) && !op->hasTrait<OpTrait::IsTerminator>())
      ops.push_back(op);
  });
  SmallVector<Operation *> some = slice(ops, begin, end);
  ModuleEdits(module).eraseOps(llvm::SetVector<Operation *>(some.begin(), some.end()));
  return ops.size();
}

static size_t inlineRegions(ModuleOp module, size_t begin, size_t end) {
  SmallVector<std::pair<Operation *, unsigned>> regions;
  // Inner regions come first: inlining a region erases the other regions of its operation with everything in them.
  module.walk([&](Operation *op) {
    if (isa<ModuleOp, SymbolOpInterface>(op))
      return;
    for (Region &region : op->getRegions())
      if (region.hasOneBlock())
        regions.emplace_back(op, region.getRegionNumber());
  });
  llvm::SmallPtrSet<Operation *, 8> done;
  for (auto [op, number] : slice(regions, begin, end))
    if (done.insert(op).second)
      ModuleEdits(module).inlineRegion(op, op->getRegion(number));
  return regions.size();
}

/// Numbers the arguments, or the results, of all functions. Calls |erase| for the numbers from |begin| up to, but not
/// including, |end|, the last one first. |count| returns the number of arguments, or of results, of a function. Returns
/// the number for all functions together.
static size_t eraseFromFunctions(ModuleOp module, size_t begin, size_t end, llvm::function_ref<unsigned(func::FuncOp)> count,
                                 void (ModuleEdits::*erase)(func::FuncOp, unsigned)) {
  SmallVector<std::pair<func::FuncOp, unsigned>> places;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < count(function); ++i)
      places.emplace_back(function, i);
  auto some = slice(places, begin, end);
  for (auto [function, index] : llvm::reverse(some))
    (ModuleEdits(module).*erase)(function, index);
  return places.size();
}

static size_t eraseArguments(ModuleOp module, size_t begin, size_t end) {
  return eraseFromFunctions(
      module, begin, end, [](func::FuncOp function) { return function.getNumArguments(); }, &ModuleEdits::eraseArgument);
}

static size_t eraseResults(ModuleOp module, size_t begin, size_t end) {
  return eraseFromFunctions(module, begin, end, [](func::FuncOp function) { return function.getNumResults(); }, &ModuleEdits::eraseResult);
}

static size_t eraseAttributes(ModuleOp module, size_t begin, size_t end) {
  size_t count = 0;
  auto isPicked = [&] { return ++count > begin && count <= end; };
  module.walk([&](Operation *op) {
    SmallVector<StringAttr> names;
    for (NamedAttribute attribute : op->getAttrs())
      names.push_back(attribute.getName());
    // The inherent attributes of symbols stay, since a function needs its type and name.
    for (StringAttr name : names)
      if (!(isa<SymbolOpInterface>(op) && op->getInherentAttr(name)) && isPicked()) {
        op->removeAttr(name);
        op->getName().populateDefaultProperties(op->getPropertiesStorage());
      }
    auto function = dyn_cast<func::FuncOp>(op);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
      if (DictionaryAttr attributes = function.getArgAttrDict(i))
        for (NamedAttribute attribute : attributes)
          if (isPicked())
            function.removeArgAttr(i, attribute.getName());
    for (unsigned i = 0; function && i < function.getNumResults(); ++i)
      if (DictionaryAttr attributes = function.getResultAttrDict(i))
        for (NamedAttribute attribute : attributes)
          if (isPicked())
            function.removeResultAttr(i, attribute.getName());
  });
  return count;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

bool ModuleReducer::keep(OwningOpRef<ModuleOp> changed) {
  Cost changedCost = countCost(*changed);
  {
    ScopedDiagnosticHandler quiet(changed->getContext(), [](Diagnostic &) { return success(); });
    if (changedCost >= cost || failed(verify(*changed)))
      return false;
  }
  std::string text = printModuleText(*changed);
  if (refused.contains(text))
    return false;
  if (tester.isInteresting(*changed).first != Tester::Interestingness::True) {
    refused.insert(text);
    return false;
  }
  module = std::move(changed);
  cost = changedCost;
  return true;
}

void ModuleReducer::runStep(Step step) {
  for (size_t size = step(*module, 0, 0); size > 0; size /= 2)
    for (size_t end = step(*module, 0, 0); end > 0;) {
      size_t begin = end - std::min(end, size);
      OwningOpRef<ModuleOp> changed = module->clone();
      step(*changed, begin, end);
      keep(std::move(changed));
      end = std::min(begin, step(*module, 0, 0));
    }
}

/// Applies |patterns| to all operations, then to halves of the list of operations, and so on down to single ones; keeps
/// each result that keep() accepts.
void ModuleReducer::applyPatterns(const FrozenRewritePatternSet &patterns) {
  auto listOps = [](ModuleOp module) {
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (!isa<ModuleOp>(op))
        ops.push_back(op);
    });
    return ops;
  };
  for (size_t size = listOps(*module).size(); size > 0; size /= 2)
    for (size_t end = listOps(*module).size(); end > 0;) {
      size_t begin = end - std::min(end, size);
      OwningOpRef<ModuleOp> changed = module->clone();
      GreedyRewriteConfig config;
      config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps).enableFolding(false).enableConstantCSE(false);
      (void)applyOpPatternsGreedily(slice(listOps(*changed), begin, end), patterns, config);
      keep(std::move(changed));
      end = std::min(begin, listOps(*module).size());
    }
}

void ModuleReducer::resize() {
  std::set<int64_t> sizes;
  module->walk([&](Operation *op) {
    forEachType(op, [&](Type type) {
      if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
        for (int64_t size : shaped.getShape())
          if (size > 1)
            sizes.insert(size);
    });
  });
  for (int64_t size : llvm::reverse(sizes))
    for (int64_t from = size, to = 1; from > 1; from = to, to = from / 2) {
      auto resizeTo = [&](int64_t smaller) {
        for (bool numbers : {true, false}) {
          OwningOpRef<ModuleOp> changed = module->clone();
          resizeEverywhere(*changed, from, smaller, numbers);
          if (keep(std::move(changed)))
            return true;
        }
        return false;
      };
      if (resizeTo(1))
        break;
      to = from / 2;
      if (to < 2 || !resizeTo(to))
        break;
    }
}

ModuleReducer::ModuleReducer(ModuleOp input, const Tester &tester) : tester(tester), module(input.clone()), cost(countCost(*module)) {}

OwningOpRef<ModuleOp> ModuleReducer::run() {
  MLIRContext *context = module->getContext();
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects())
    if (auto *interface = dialect->getRegisteredInterface<DialectReductionPatternInterface>())
      interface->populateReductionPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (Cost before; before != cost;) {
    before = cost;
    for (Step step : {eraseSymbols, eraseBodies, eraseSomeOps, inlineRegions, eraseSomeOps, eraseResults, eraseArguments, eraseAttributes})
      runStep(step);
    applyPatterns(frozen);
    resize();
  }
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult ReduceModule::checkInput() {
  if (testerName.empty())
    return getOperation().emitError("expects a test: --attune-reduce-module='test=PROGRAM'");
  int file;
  SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("attune-reduce", "mlir", file, path))
    return getOperation().emitError("cannot create a temporary file: ") << error.message();
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream(file, /*shouldClose=*/true) << printModuleText(getOperation());
  SmallVector<StringRef> words = {testerName};
  for (const std::string &word : testerArgs)
    words.push_back(word);
  words.push_back(path);
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(testerName, words, std::nullopt, {}, 0, 0, &problem);
  if (status < 0)
    return getOperation().emitError("cannot run the test '") << testerName << "': " << problem;
  if (status != 1)
    return getOperation().emitError("the module is not interesting: the test '")
           << testerName << "' exits with status " << status << " on it, expected 1";
  return success();
}

void ReduceModule::runOnOperation() {
  if (failed(checkInput()))
    return signalPassFailure();
  SmallVector<std::string> words(testerArgs.begin(), testerArgs.end());
  OwningOpRef<ModuleOp> reduced = ModuleReducer(getOperation(), Tester(testerName, words)).run();
  getOperation()->setAttrs(reduced.get()->getAttrDictionary());
  getOperation().getBodyRegion().takeBody(reduced->getBodyRegion());
}
