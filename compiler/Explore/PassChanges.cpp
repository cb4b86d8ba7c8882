//===- PassChanges.cpp - The IR before and after each pass ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Explore/PassChanges.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <chrono>
#include <set>

using namespace attune;
using namespace mlir;

namespace attune {
/// Records the time and the changes of each pass of one phase.
class ChangeObserver : public PassInstrumentation {
public:
  ChangeObserver(PassChanges &changes, Phase phase) : changes(changes), phase(stringifyPhase(phase)) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (isRecorded(pass))
      starts.push_back(Clock::now());
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isRecorded(pass))
      return;
    Clock::time_point end = Clock::now();
    std::chrono::duration<double> time = end - starts.pop_back_val();
    changes.allRuns.push_back({phase.str(), pass->getArgument().str(), time.count()});
    changes.record(phase, pass->getArgument(), op);
    // The time of the recording does not count for the running passes that contain this one.
    for (Clock::time_point &start : starts)
      start += Clock::now() - end;
  }
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (isRecorded(pass))
      starts.pop_back();
  }

private:
  using Clock = std::chrono::steady_clock;
  /// Returns false for an adaptor of the pass manager, which has no argument name and only runs other passes; true for
  /// any other pass.
  static bool isRecorded(Pass *pass) { return !pass->getArgument().empty(); }

  PassChanges &changes;
  StringRef phase;
  /// A stack of the start times of the passes that are running: a pass may run others.
  SmallVector<Clock::time_point, 4> starts;
};
} // namespace attune

int64_t PassChanges::textOf(Operation *function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  function->print(stream, OpPrintingFlags().useLocalScope());
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  auto [known, isNew] = ids.try_emplace(llvm::utohexstr(hash.high64) + "." + llvm::utohexstr(hash.low64), allTexts.size());
  if (isNew)
    allTexts.push_back(std::move(text));
  return known->second;
}

void PassChanges::record(StringRef phase, StringRef pass, Operation *root) {
  std::set<std::string> seen;
  auto note = [&](Operation *function) {
    std::string name = cast<FunctionOpInterface>(function).getName().str();
    seen.insert(name);
    int64_t after = textOf(function);
    auto [known, isNew] = current.try_emplace(name, -1);
    if (known->second == after)
      return;
    if (!pass.empty())
      allChanges.push_back({phase.str(), pass.str(), name, known->second, after});
    known->second = after;
  };
  if (isa<FunctionOpInterface>(root))
    return note(root);
  auto module = dyn_cast<ModuleOp>(root);
  if (!module)
    return;
  for (auto function : module.getOps<FunctionOpInterface>())
    note(function);
  for (auto known = current.begin(); known != current.end();)
    if (seen.count(known->first)) {
      ++known;
    } else {
      allChanges.push_back({phase.str(), pass.str(), known->first, known->second, -1});
      known = current.erase(known);
    }
}

void PassChanges::observe(Phase phase, ModuleOp module, PassManager &passes) {
  if (current.empty())
    record("", "", module);
  passes.addInstrumentation(std::make_unique<ChangeObserver>(*this, phase));
}
