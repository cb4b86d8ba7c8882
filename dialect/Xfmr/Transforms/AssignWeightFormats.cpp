//===- AssignWeightFormats.cpp - Formats of weights by their names --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects no composites (xfmr-decompose-composites). Expects weights as weight_refs, and as arguments marked
// xfmr.weight of private functions. Records the format of each projection and of each table as an attribute for later
// phases; rounds nothing yet.
//
// The name of a weight is known where a weight_ref refers to it, mostly in entries. The weight is used where it is an
// argument, mostly in the functions of layers:
//
//     @forward   %0 = weight_ref @"layers.0.mlp.up.weight"       format A, since a rule matches this name
//                call @layer(%x, %0)
//                %1 = weight_ref @"layers.1.mlp.up.weight"       format B
//                call @layer(%y, %1)  ->  call @layer_0(%y, %1)  a clone for this format
//     @layer     xfmr.linear %x, %w                              format A
//     @layer_0   xfmr.linear %x, %w                              format B
//
// Functions are visited callers first, so the formats of their arguments are known when their operations are visited.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/IR/WeightFormats.h"
#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "dialect/Xfmr/Transforms/LowerPrecision.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

#include <map>

namespace mlir::xfmr {
#define GEN_PASS_DEF_ASSIGNWEIGHTFORMATS
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;
using func::CallOp;
using func::FuncOp;

namespace {

constexpr StringLiteral kPassName = "xfmr-assign-weight-formats", kRemarkName = "AssignWeightFormats", kFlag = "--weights-format: ";
/// The number of names that an error for a pattern without a match lists as examples.
constexpr size_t kListedNames = 3;

/// Calls |use| with each leaf of the weight expression |weight|. A leaf is a value that neither a weight expression nor
/// a `weight_select` computes, such as a reference or an argument.
void forEachLeaf(Value weight, llvm::function_ref<void(Value)> use) {
  Operation *op = weight.getDefiningOp();
  if (auto select = dyn_cast_or_null<WeightSelectOp>(op))
    return forEachLeaf(select.getStack(), use);
  if (!op || !isWeightExpression(op))
    return use(weight);
  for (Value operand : op->getOperands())
    forEachLeaf(operand, use);
}

/// The pattern of a rule for names: globs that match consecutive parts of a name (WeightFormats::Rule).
class NamePattern {
public:
  /// |text| is the pattern of a rule that WeightFormats::parse returned, so its globs are valid.
  explicit NamePattern(StringRef text) {
    for (StringRef glob : llvm::split(text, '.'))
      globs.push_back(llvm::cantFail(llvm::GlobPattern::create(glob)));
  }

  /// Returns true if consecutive parts of |name| match the globs.
  bool match(StringRef name) const {
    SmallVector<StringRef> parts;
    name.split(parts, '.');
    for (size_t begin = 0; begin + globs.size() <= parts.size(); ++begin)
      if (llvm::all_of(llvm::zip(globs, ArrayRef(parts).slice(begin, globs.size())),
                       [](auto pair) { return std::get<0>(pair).match(std::get<1>(pair)); }))
        return true;
    return false;
  }

private:
  std::vector<llvm::GlobPattern> globs;
};

/// The assignment of formats to the weights of one module.
class FormatAssigner {
public:
  FormatAssigner(ModuleOp module, const WeightFormats &formats, Precision precision);
  LogicalResult run();

private:
  using Format = std::optional<WeightFormat>;
  /// An index into |distinct|; 0 is the default format of projections.
  using FormatId = int64_t;
  /// The format of each argument of a function; 0, without a meaning, for an argument from which no matrix of a
  /// projection is computed.
  using ArgumentFormats = std::vector<FormatId>;

  FormatId getId(const Format &format) {
    auto known = llvm::find(distinct, format);
    if (known == distinct.end())
      known = distinct.insert(known, format);
    return known - distinct.begin();
  }
  /// Returns the format of the rule number |rule|, or for -1 the default format of projections.
  const Format &getFormat(int64_t rule) const { return rule < 0 ? formats.projections : formats.rules[rule].format; }
  static bool isAssignable(LinearOp op) {
    return op.getPrecision() == Precision::F32 && !op.getFormat() && whyNotInPrecision(op, Precision::F32).empty();
  }

  void findMatrices(FuncOp function);
  FailureOr<int64_t> findRule(WeightRefOp reference);
  FailureOr<FormatId> findFormat(Operation *user, Value weight, const ArgumentFormats &arguments);
  bool isHead(FuncOp function, WeightRefOp reference);
  LogicalResult visit(FuncOp function, const ArgumentFormats &arguments);
  LogicalResult visitCall(CallOp call, const ArgumentFormats &arguments);
  LogicalResult assign(LinearOp op, const ArgumentFormats &arguments);
  void assign(EmbeddingOp op);
  LogicalResult checkRules();

  InFlightDiagnostic emitError() { return module.emitError(kFlag); }

  ModuleOp module;
  const WeightFormats &formats;
  Precision precision;
  SymbolTable symbols;
  CalleesFirst order;
  FunctionUsers users;
  std::vector<Format> distinct;
  /// The pattern of names of each rule; nullopt for `lm_head` and `embeddings`, which are roles and not patterns of
  /// names.
  std::vector<std::optional<NamePattern>> patterns;
  /// The numbers of the rules for `lm_head` and for `embeddings`, -1 if there is none, and for each rule whether it
  /// matched a weight.
  int64_t headRule = -1, tableRule = -1;
  std::vector<bool> matched;
  /// The arguments of each function from which matrices of projections are computed, in the function or in its callees.
  DenseMap<FuncOp, BitVector> matrices;
  /// The variants of each function, itself or a clone, by the formats of their arguments.
  DenseMap<FuncOp, std::map<ArgumentFormats, FuncOp>> variants;
  /// By the name of a tensor, the number of the last rule whose pattern matches it, -1 for none; and the names of the
  /// first kListedNames tensors, for errors.
  llvm::StringMap<int64_t> ruleOfTensor;
  std::vector<std::string> names;
};

} // namespace

FormatAssigner::FormatAssigner(ModuleOp module, const WeightFormats &formats, Precision precision)
    : module(module), formats(formats), precision(precision), symbols(module), order(module, symbols), users(module, symbols),
      distinct{formats.projections}, matched(formats.rules.size(), false) {
  for (auto [number, rule] : llvm::enumerate(formats.rules)) {
    patterns.push_back(rule.isRole() ? std::nullopt : std::optional<NamePattern>(rule.pattern));
    if (rule.pattern == WeightFormats::kHead)
      headRule = static_cast<int64_t>(number);
    if (rule.pattern == WeightFormats::kTables)
      tableRule = static_cast<int64_t>(number);
  }
}

/// Finds the weight arguments of |function| from which matrices of projections are computed, in the function or in its
/// callees. Its callees, but for recursive ones, have been visited.
void FormatAssigner::findMatrices(FuncOp function) {
  BitVector &found = matrices.try_emplace(function, function.getNumArguments()).first->second;
  auto add = [&](Value weight) {
    forEachLeaf(weight, [&](Value leaf) {
      auto argument = dyn_cast<BlockArgument>(leaf);
      if (argument && isWeightArgument(leaf))
        found.set(argument.getArgNumber());
    });
  };
  function.walk([&](Operation *op) {
    if (auto linear = dyn_cast<LinearOp>(op); linear && isAssignable(linear))
      add(linear.getWeight());
    auto call = dyn_cast<CallOp>(op);
    auto callee = call ? symbols.lookup<FuncOp>(call.getCallee()) : FuncOp();
    auto inside = callee && !order.recursive.contains(callee) ? matrices.find(callee) : matrices.end();
    if (inside != matrices.end())
      for (unsigned index : inside->second.set_bits())
        add(call.getOperand(index));
  });
}

/// Returns the number of the last rule whose pattern matches the name of a tensor of which the weight |reference| is
/// made, -1 for none. Fails, with an error, if the rules of these tensors give different formats.
FailureOr<int64_t> FormatAssigner::findRule(WeightRefOp reference) {
  std::optional<int64_t> found;
  std::string first, other;
  symbols.lookup<WeightOp>(reference.getWeight()).getSource().walk([&](TensorSourceAttr tensor) {
    auto [known, isNew] = ruleOfTensor.try_emplace(tensor.getName(), -1);
    if (isNew) {
      for (auto [number, pattern] : llvm::enumerate(patterns))
        if (pattern && pattern->match(tensor.getName())) {
          known->second = static_cast<int64_t>(number);
          matched[number] = true;
        }
      if (names.size() < kListedNames)
        names.push_back(tensor.getName().str());
    }
    if (!found)
      first = tensor.getName().str();
    else if (getFormat(*found) != getFormat(known->second))
      other = tensor.getName().str();
    found = std::max(found.value_or(-1), known->second);
  });
  if (other.empty())
    return found.value_or(-1);
  emitError() << "the tensors '" << first << "' and '" << other << "' are one matrix, expected one format for both";
  return failure();
}

/// Returns true if |reference|, the matrix of a projection in |function|, is that of the head: |function| is an entry,
/// and the matrix has a row for each id of the entry's input `input_ids` or `decoder_input_ids`.
bool FormatAssigner::isHead(FuncOp function, WeightRefOp reference) {
  auto type = cast<RankedTensorType>(reference.getType());
  if (!getEntry(function) || type.getRank() != 2)
    return false;
  return llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned index) {
    InputAttr input = getInput(function, index);
    return input && (input.getName() == "input_ids" || input.getName() == "decoder_input_ids") && input.getMaxValue() == type.getDimSize(0);
  });
}

/// Returns the format of |weight|: the matrix of the projection |user|, or an operand of the call |user|. The arguments
/// of the function of |user| have the formats |arguments|. Fails, with an error, if the leaves of |weight| have
/// different formats or if findRule fails.
FailureOr<FormatAssigner::FormatId> FormatAssigner::findFormat(Operation *user, Value weight, const ArgumentFormats &arguments) {
  std::optional<FormatId> format;
  bool isFailure = false, differs = false;
  auto function = user->getParentOfType<FuncOp>();
  forEachLeaf(weight, [&](Value leaf) {
    FormatId own = getId(formats.projections);
    if (auto argument = dyn_cast<BlockArgument>(leaf); argument && isWeightArgument(leaf))
      own = arguments[argument.getArgNumber()];
    if (auto reference = leaf.getDefiningOp<WeightRefOp>()) {
      FailureOr<int64_t> rule = findRule(reference);
      if (failed(rule)) {
        isFailure = true;
        return;
      }
      if (headRule >= 0 && isa<LinearOp>(user) && isHead(function, reference)) {
        matched[headRule] = true;
        *rule = std::max(*rule, headRule);
      }
      own = getId(getFormat(*rule));
    }
    differs |= format && *format != own;
    format = own;
  });
  if (!isFailure && differs) {
    emitError() << "weights that one projection joins in '" << function.getSymName() << "' get different formats, expected one";
    return failure();
  }
  return isFailure ? FailureOr<FormatId>(failure()) : format.value_or(getId(formats.projections));
}

LogicalResult FormatAssigner::assign(LinearOp op, const ArgumentFormats &arguments) {
  if (!isAssignable(op)) {
    // Rules are not applied to a projection whose weights cannot have a format; only the default format is meant for
    // all projections. So there is a remark only if there is a default format.
    if (StringRef why = whyNotInPrecision(op, Precision::F32); formats.projections && !why.empty())
      missed(op, kPassName, kRemarkName) << remark::reason("{0}", why);
    return success();
  }
  FailureOr<FormatId> id = findFormat(op, op.getWeight(), arguments);
  if (failed(id))
    return failure();
  const Format &format = distinct[*id];
  if (!format)
    return success();
  Precision rounded = format->isFloat() ? Precision::F32 : precision;
  if (StringRef why = whyNotInPrecision(op, rounded); !why.empty()) {
    missed(op, kPassName, kRemarkName) << remark::reason("{0}", why);
    return success();
  }
  op.setPrecision(rounded);
  op.setFormatAttr(WeightFormatAttr::get(op.getContext(), *format));
  passed(op, kPassName, kRemarkName) << remark::add("its operands are {0}, its weights {1}", stringifyPrecision(rounded), format->str());
  return success();
}

/// Gives |op| the format of the rule `embeddings` if its table is an f32 weight that is made of tensors of the model
/// folder, and if |op| is neither tied nor has a format. If the table is also the matrix of a projection,
/// xfmr-tie-embeddings replaces this format by that of the projection.
void FormatAssigner::assign(EmbeddingOp op) {
  if (tableRule < 0 || op.getTied() || op.getFormat() || !isWeight(op.getTable()) || !getElementTypeOrSelf(op.getTable().getType()).isF32())
    return;
  bool isStored = true;
  forEachLeaf(op.getTable(), [&](Value leaf) {
    auto reference = leaf.getDefiningOp<WeightRefOp>();
    if (!reference)
      return;
    bool hasTensor = false;
    symbols.lookup<WeightOp>(reference.getWeight()).getSource().walk([&](TensorSourceAttr) { hasTensor = true; });
    isStored &= hasTensor;
  });
  if (!isStored)
    return;
  matched[tableRule] = true;
  const Format &format = getFormat(tableRule);
  if (!format)
    return;
  op.setFormatAttr(WeightFormatAttr::get(op.getContext(), *format));
  passed(op, kPassName, kRemarkName) << remark::add("its table is {0}", format->str());
}

/// Makes |call|, in a function whose arguments have the formats |arguments|, call the variant of its callee for the
/// formats of the matrices that it passes. Creates the variant if there is none. Fails, with an error, if findFormat
/// fails or if a recursive function would need another variant.
LogicalResult FormatAssigner::visitCall(CallOp call, const ArgumentFormats &arguments) {
  auto callee = symbols.lookup<FuncOp>(call.getCallee());
  auto found = callee ? matrices.find(callee) : matrices.end();
  if (found == matrices.end() || found->second.none())
    return success();
  ArgumentFormats given(callee.getNumArguments(), 0);
  for (unsigned index : found->second.set_bits()) {
    FailureOr<FormatId> id = findFormat(call, call.getOperand(index), arguments);
    if (failed(id))
      return failure();
    given[index] = *id;
  }
  std::map<ArgumentFormats, FuncOp> &known = variants[callee];
  // A function that is public, recursive or named by operations other than calls gets the default format itself. For
  // other formats it is cloned or, if it is recursive, the pass fails.
  if (known.empty() && (!callee.isPrivate() || users.hasOtherUsers(callee) || order.recursive.contains(callee)))
    known.emplace(ArgumentFormats(callee.getNumArguments(), 0), callee);
  auto [variant, isNew] = known.try_emplace(given, callee);
  if (isNew && order.recursive.contains(callee)) {
    emitError() << "the weights of '" << callee.getSymName() << "' cannot have formats of their own, since it calls itself";
    return failure();
  }
  if (isNew && known.size() > 1) {
    FuncOp clone = callee.clone();
    if (getEntry(clone))
      removeEntry(clone);
    clone.setPrivate();
    symbols.insert(clone, std::next(callee->getIterator()));
    variant->second = clone;
  }
  call.setCallee(variant->second.getSymName());
  return success();
}

/// Assigns formats to the projections and embeddings in |function|, whose arguments have the formats |arguments|, and
/// selects the variants that its calls call.
LogicalResult FormatAssigner::visit(FuncOp function, const ArgumentFormats &arguments) {
  WalkResult walk = function.walk([&](Operation *op) -> WalkResult {
    if (auto linear = dyn_cast<LinearOp>(op))
      return assign(linear, arguments);
    if (auto embedding = dyn_cast<EmbeddingOp>(op))
      assign(embedding);
    if (auto call = dyn_cast<CallOp>(op))
      return visitCall(call, arguments);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// Fails, with an error, if a rule has matched no weight.
LogicalResult FormatAssigner::checkRules() {
  for (auto [rule, isMatched] : llvm::zip_equal(formats.rules, matched)) {
    if (isMatched)
      continue;
    if (rule.pattern == WeightFormats::kTables)
      emitError() << "'" << rule.pattern << "' matches no weight: the model has no table of which ids choose rows";
    else if (rule.pattern == WeightFormats::kHead)
      emitError() << "'" << rule.pattern
                  << "' matches no weight: no projection of the model has a row for each id of 'input_ids' or 'decoder_input_ids'";
    else
      emitError() << "'" << rule.pattern << "' matches no weight of a projection"
                  << (names.empty() ? "" : ", expected parts of a name such as '" + llvm::join(names, "', '") + "'");
    return failure();
  }
  return success();
}

LogicalResult FormatAssigner::run() {
  for (FuncOp function : order.functions)
    findMatrices(function);
  for (FuncOp function : llvm::reverse(order.functions)) {
    std::map<ArgumentFormats, FuncOp> own = variants.lookup(function);
    if (own.empty())
      own.emplace(ArgumentFormats(function.getNumArguments(), 0), function);
    for (const auto &[arguments, variant] : own)
      if (failed(visit(variant, arguments)))
        return failure();
  }
  return checkRules();
}

namespace {
struct AssignWeightFormats : xfmr::impl::AssignWeightFormatsBase<AssignWeightFormats> {
  using AssignWeightFormatsBase::AssignWeightFormatsBase;

  void runOnOperation() override {
    std::string wrong;
    std::optional<WeightFormats> parsed = WeightFormats::parse(formats.getValue(), wrong);
    if (!wrong.empty()) {
      getOperation().emitError(kFlag) << wrong;
      return signalPassFailure();
    }
    if (failed(FormatAssigner(getOperation(), *parsed, precision).run()))
      signalPassFailure();
  }
};
} // namespace
