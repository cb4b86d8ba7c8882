//===- FirstWrongOutput.cpp - Which part of an imported model is wrong? ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/FirstWrongOutput.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <memory>
#include <set>

using namespace mlir;
using namespace attune;

/// Returns true for an operation that may compute wrong numbers from right ones: not for weights, constants and
/// dropout, nor for sizes, copies and changes of shapes.
static bool computesNumbers(Operation *op) {
  if (isa<xfmr::WeightRefOp, xfmr::DropoutOp, arith::ConstantOp>(op) || xfmr::isWeightExpression(op) ||
      isa<tensor::TensorDialect>(op->getDialect()))
    return false;
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
}

namespace {
/// One execution of a layer function, by |call|. |caller| is the execution of the function that has the call, null for
/// an entry. Executions of entries have no frame.
struct Frame {
  const Frame *caller = nullptr;
  func::CallOp call;
};

/// A value, as an opaque pointer, in one execution of its function; the frame is null in an entry.
using FrameValue = std::pair<const Frame *, void *>;
/// An operation in one execution of its function; the frame is null in an entry.
using FrameOp = std::pair<const Frame *, Operation *>;

/// The values from which an output is computed, operands before results, and those of their defining operations that
/// compute numbers.
struct Slice {
  std::vector<FrameValue> values;
  std::set<FrameOp> operations;

  bool contains(const Slice &other) const {
    return llvm::all_of(other.operations, [&](const FrameOp &op) { return operations.count(op) != 0; });
  }
};

/// Collects slices. An execution of a function by a call has the same frame in all slices.
class Slicer {
public:
  explicit Slicer(ModuleOp module) : symbols(module) {}

  /// Returns the slice of |value|, a value in an entry.
  Slice slice(Value value) {
    Slice result;
    std::set<FrameValue> seen;
    visit(nullptr, value, result, seen);
    return result;
  }

private:
  void visit(const Frame *frame, Value value, Slice &slice, std::set<FrameValue> &seen) {
    if (!seen.insert({frame, value.getAsOpaquePointer()}).second)
      return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      bool isOfFunction = isa<func::FuncOp>(argument.getOwner()->getParentOp());
      if (isOfFunction && frame)
        visit(frame->caller, Value(func::CallOp(frame->call).getOperand(argument.getArgNumber())), slice, seen);
      return;
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    auto call = dyn_cast<func::CallOp>(op);
    if (auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp(); callee && !callee.isExternal()) {
      std::unique_ptr<Frame> &place = frames[{frame, op}];
      if (!place)
        place.reset(new Frame{frame, call});
      visit(place.get(), callee.front().getTerminator()->getOperand(number), slice, seen);
      return;
    }
    // Operations in regions, such as those of linalg.generic, may use values from outside.
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Region *region = operand.getParentRegion(); inner == op || !op->isAncestor(region->getParentOp()))
          visit(frame, operand, slice, seen);
    });
    slice.values.push_back({frame, value.getAsOpaquePointer()});
    if (computesNumbers(op))
      slice.operations.insert({frame, op});
  }

  SymbolTable symbols;
  std::map<FrameOp, std::unique_ptr<Frame>> frames;
};
} // namespace

/// Returns the value of output |name| in |module|; null if there is none.
static Value findOutputValue(ModuleOp module, StringRef name) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!xfmr::getEntry(function))
      continue;
    for (auto [index, value] : llvm::enumerate(function.front().getTerminator()->getOperands())) {
      xfmr::OutputAttr output = xfmr::getResultOutput(function, unsigned(index));
      if (output && !output.getIsGroup() && output.getName() == name)
        return value;
      int64_t member;
      StringRef rest = name;
      if (!output || !output.getIsGroup() || !rest.consume_front(output.getName()) || !rest.consume_front(".") ||
          rest.getAsInteger(10, member))
        continue;
      // A chain of insertions builds the group, one for each member; the loop follows it from the last insertion to the
      // first.
      Value group = value;
      while (auto insert = group.getDefiningOp<tensor::InsertSliceOp>()) {
        if (!insert.getStaticOffsets().empty() && insert.getStaticOffsets()[0] == member)
          return insert.getSource();
        group = insert.getDest();
      }
      return value;
    }
  }
  return {};
}

/// Returns the path of a module of the model from |location|: "encoder.layer.1"; "" if it has none.
static std::string pathOf(Location location) {
  std::string path;
  location->walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    if (name)
      path = name.getName().str();
    return name ? WalkResult::interrupt() : WalkResult::advance();
  });
  return path;
}

static std::string describeStep(const FrameOp &of) {
  auto [frame, op] = of;
  std::string path = pathOf(op->getLoc());
  if (frame)
    // In a layer function, "encoder_layer.ffn" is the part "ffn" of the layer that the call names.
    if (std::string layer = pathOf(func::CallOp(frame->call).getLoc()); !layer.empty())
      path = layer + (path.find('.') == std::string::npos ? "" : path.substr(path.find('.')));
  return op->getName().getStringRef().str() + (path.empty() ? "" : " " + path);
}

/// Returns the name of the group of |output|, "hidden_states" of "hidden_states.2"; "" if |output| belongs to no group.
static StringRef groupOf(StringRef output) {
  auto [group, member] = output.rsplit('.');
  unsigned number;
  return member.getAsInteger(10, number) ? StringRef() : group;
}

std::optional<FirstWrongOutput> attune::findFirstWrongOutput(ModuleOp module,
                                                             const std::vector<std::pair<std::string, Judgment>> &outputs) {
  Slicer slicer(module);
  std::vector<Slice> slices;
  bool judgedLayers = false;
  for (const auto &[name, judgment] : outputs) {
    Value value = findOutputValue(module, name);
    slices.push_back(value ? slicer.slice(value) : Slice());
    judgedLayers |= judgment.kind != Judgment::Unknown && !groupOf(name).empty();
  }
  std::optional<FirstWrongOutput> first;
  for (size_t wrong = 0; wrong < outputs.size(); ++wrong) {
    if (outputs[wrong].second.kind != Judgment::Wrong)
      continue;
    std::vector<size_t> before;
    std::set<FrameValue> right;
    for (size_t other = 0; other < outputs.size(); ++other)
      if (outputs[other].second.kind == Judgment::Right && !slices[other].values.empty() && slices[wrong].contains(slices[other])) {
        before.push_back(other);
        right.insert(slices[other].values.begin(), slices[other].values.end());
      }
    FirstWrongOutput found;
    found.name = outputs[wrong].first;
    found.judgedLayers = judgedLayers;
    std::set<FrameOp> listed;
    for (const FrameValue &value : slices[wrong].values) {
      FrameOp op = {value.first, Value::getFromOpaquePointer(value.second).getDefiningOp()};
      if (!right.count(value) && computesNumbers(op.second) && listed.insert(op).second)
        found.operations.push_back(describeStep(op));
    }
    if (first && first->operations.size() <= found.operations.size())
      continue;
    auto isFollowed = [&](size_t output) {
      StringRef group = groupOf(outputs[output].first);
      return !group.empty() && llvm::any_of(before, [&](size_t later) {
        return groupOf(outputs[later].first) == group && slices[later].operations.size() > slices[output].operations.size();
      });
    };
    for (size_t other : before)
      if (!isFollowed(other))
        found.known.push_back(outputs[other].first);
    first = std::move(found);
  }
  return first;
}
