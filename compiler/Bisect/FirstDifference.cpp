//===- FirstDifference.cpp - Where do two modules first differ? -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/FirstDifference.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <cmath>
#include <map>
#include <set>

using namespace mlir;
using namespace attune;

/// The largest difference of two values that count as equal, relative to the largest absolute value of their sequence
/// in the first module.
static constexpr double kTolerance = 1e-4;
/// The most values of the first module that are kept; later values are not compared.
static constexpr size_t kMostValues = size_t(1) << 27;

/// Returns true if an operation may write to |buffer|, also through views and called functions. |seen| has the buffers
/// that have been visited.
static bool isWritten(Value buffer, std::set<void *> &seen) {
  if (!seen.insert(buffer.getAsOpaquePointer()).second)
    return false;
  for (OpOperand &use : buffer.getUses()) {
    Operation *user = use.getOwner();
    if (isa<ViewLikeOpInterface>(user)) {
      if (isWritten(user->getResult(0), seen))
        return true;
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (!callee || callee.isExternal() || isWritten(callee.getArgument(use.getOperandNumber()), seen))
        return true;
      continue;
    }
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(user)) {
      if (destination.isDpsInit(&use))
        return true;
      continue;
    }
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    if (isMemoryEffectFree(user) || (effects && !effects.getEffectOnValue<MemoryEffects::Write>(buffer)))
      continue;
    return true;
  }
  return false;
}

static std::string describe(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto call = dyn_cast<func::CallOp>(op)) {
    stream << "call @" << call.getCallee();
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (tiles::KernelAttr kernel = callee ? tiles::getKernel(callee) : tiles::KernelAttr())
      stream << " (" << kernel.getText() << ")";
  } else {
    stream << op->getName();
  }
  op->getLoc().print(stream << ", ");
  return text;
}

/// Returns a text that is equal for operations of the two modules whose values are compared with each other.
static std::string keyOf(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return "call " + call.getCallee().str();
  return describe(op);
}

namespace {
/// Finds the buffers that operations write. The key of a buffer is the key of its operation (keyOf), followed by the
/// number of the result or operand.
class ValueTrace {
public:
  /// Calls |use| with the key and each buffer of f32 or f64 that |call| wrote; skips weights and expressions over them.
  void forEachBuffer(const OpCall &call, llvm::function_ref<void(const std::string &, const PlainBuffer &)> use) {
    if (xfmr::isWeightExpression(call.op) || isa<xfmr::WeightRefOp>(call.op))
      return;
    std::string key = keyOf(call.op);
    auto useIfFloat = [&](const std::string &name, const PlainBuffer &buffer) {
      if (buffer.present() && (buffer.kind == ElementKind::F32 || buffer.kind == ElementKind::F64))
        use(key + " " + name, buffer);
    };
    for (auto [index, result] : llvm::enumerate(call.results))
      useIfFloat("result " + std::to_string(index), result.buffer);
    if (!isa<func::CallOp>(call.op))
      return;
    for (auto [index, operand] : llvm::enumerate(call.operands))
      if (operand.present() && writes(call.op, unsigned(index)))
        useIfFloat("operand " + std::to_string(index), operand);
  }

private:
  /// Returns true if the callee of |op| may write to operand |index|.
  bool writes(Operation *op, unsigned index) {
    auto [place, isNew] = written.try_emplace({op, index});
    if (isNew) {
      std::set<void *> seen;
      auto call = cast<func::CallOp>(op);
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      place->second = !callee || callee.isExternal() || isWritten(callee.getArgument(index), seen);
    }
    return place->second;
  }

  std::map<std::pair<Operation *, unsigned>, bool> written;
};

/// The values of one buffer (by its key in ValueTrace) in all executions of its operation in the first module, their
/// largest finite absolute value, and the number of values that were compared with those of the second module.
struct ValueSequence {
  std::vector<float> values;
  double largest = 0;
  size_t next = 0;
};
} // namespace

static Status execute(ModuleOp module, const PlainWeights &weights, const PlainInputs &inputs, OpObserver observer) {
  PlainOptions options;
  options.observesCalls = true;
  options.observer = std::move(observer);
  Result<std::unique_ptr<PlainModel>> model = PlainModel::create(module, weights, options);
  return model ? runPlainly(**model, inputs).status() : model.status();
}

/// Follows the operands of |op| backwards, breadth first, as far as observed operations (FirstDifference.h). Returns
/// the first observed operation whose key is not in |known|; |op| if there is none.
static Operation *findOrigin(Operation *op, const std::set<std::string> &known) {
  std::vector<Operation *> pending = {op};
  std::set<Operation *> seen = {op};
  for (size_t i = 0; i < pending.size(); ++i)
    for (Value operand : pending[i]->getOperands()) {
      Operation *origin = operand.getDefiningOp();
      if (!origin || !seen.insert(origin).second)
        continue;
      bool isObserved = hasReference(origin) || isa<func::CallOp>(origin);
      if (isObserved && !known.count(keyOf(origin)))
        return origin;
      if (!isObserved)
        pending.push_back(origin);
    }
  return op;
}

Result<std::string> attune::findFirstDifference(ModuleOp before, ModuleOp after, const PlainWeights &weights, const PlainInputs &inputs) {
  std::map<std::string, ValueSequence> sequences;
  std::set<std::string> known;
  size_t count = 0;
  ValueTrace ofBefore, ofAfter;
  Status status = execute(before, weights, inputs, [&](const OpCall &call) {
    known.insert(keyOf(call.op));
    ofBefore.forEachBuffer(call, [&](const std::string &key, const PlainBuffer &buffer) {
      ValueSequence &sequence = sequences[key];
      for (int64_t i = 0, end = buffer.elements(); i < end && count < kMostValues; ++i, ++count) {
        auto value = buffer.get<float>(buffer.indicesOf(i));
        sequence.values.push_back(value);
        if (std::isfinite(value))
          sequence.largest = std::max(sequence.largest, double(std::abs(value)));
      }
    });
  });
  if (status.failed())
    return status;
  std::string found;
  status = execute(after, weights, inputs, [&](const OpCall &call) {
    if (!found.empty())
      return;
    bool differs = false;
    ofAfter.forEachBuffer(call, [&](const std::string &key, const PlainBuffer &buffer) {
      auto place = sequences.find(key);
      if (place == sequences.end())
        return;
      ValueSequence &sequence = place->second;
      for (int64_t i = 0, end = buffer.elements(); i < end && sequence.next < sequence.values.size(); ++i) {
        double got = buffer.get<float>(buffer.indicesOf(i)), expected = sequence.values[sequence.next++];
        bool isEqual =
            got == expected || (std::isnan(got) && std::isnan(expected)) || std::abs(got - expected) <= sequence.largest * kTolerance;
        differs |= !isEqual;
      }
    });
    if (differs)
      found = describe(findOrigin(call.op, known));
  });
  // A wrong module may fail after the difference.
  if (status.failed() && found.empty())
    return status;
  return found;
}
