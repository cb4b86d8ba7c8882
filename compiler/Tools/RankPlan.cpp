//===- RankPlan.cpp - A model of the speed of several ranks ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An exchange among N ranks takes ceil(log2 N) rounds of messages, as the algorithms of MPI for short messages do, and
// the time of the bytes that a rank receives on its link. An all-reduce of b bytes is the faster one of two algorithms:
// reduce-scatter and all-gather, with twice the rounds and 2 b (N - 1) / N bytes, or recursive doubling, with b bytes
// in each round.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/RankPlan.h"

#include "compiler/Driver/LoadedModel.h"
#include "compiler/Object/DescriptorSignature.h"
#include "compiler/Tools/CompilerCommands.h"
#include "compiler/Transforms/SizeExpr.h"
#include "compiler/Transforms/Work.h"
#include "compiler/Weights/WeightRows.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace attune;
using namespace mlir::xfmr;

/// The part of a link's rate that messages get: the rest are headers and pauses.
static constexpr double kLinkEfficiency = 0.9;
/// The record that ranks exchange at the beginning of each call, CallRecord of runtime/src/Ranks.cpp.
static constexpr double kCallRecordBytes = 128;

namespace {
/// The gathers of an entry that all-reduce would replace: their numbers (`inputs`, `sums`), the bytes of a token that a
/// rank receives by them (`inputBytes`, `sumBytes`), and the bytes of a whole row of a result (`sumWidth`), all summed
/// over gathers.
struct ReplacedGathers {
  /// Gathers whose result only projections read. They are not needed if these projections are divided among ranks by
  /// their inputs, so that each rank multiplies the columns that it has.
  double inputs = 0, inputBytes = 0;
  /// Gathers of the results of these projections. An all-reduce of |sumWidth| bytes for each token takes their place.
  double sums = 0, sumBytes = 0, sumWidth = 0;

  void add(const ReplacedGathers &other) {
    inputs += other.inputs;
    inputBytes += other.inputBytes;
    sums += other.sums;
    sumBytes += other.sumBytes;
    sumWidth += other.sumWidth;
  }
};

/// Finds the gathers that all-reduce would replace.
class AllReduceAnalysis {
public:
  ReplacedGathers countFunction(mlir::func::FuncOp function);

private:
  llvm::DenseMap<mlir::Operation *, ReplacedGathers> counted;
};

/// The times of exchanges among |ranks| hosts.
class LinkModel {
public:
  LinkModel(const HostRates &rates, int64_t ranks)
      : latency(rates.messageLatency / 1e6), bytesPerSecond(rates.linkGigabits * 1e9 / 8 * kLinkEfficiency), ranks(ranks),
        rounds(llvm::Log2_64_Ceil(ranks)) {}

  Traffic gather(double exchanges, double bytes) const { return {exchanges, bytes, exchanges * rounds * latency + bytes / bytesPerSecond}; }
  /// Returns the traffic of |exchanges| all-reduces of |bytes| in total.
  Traffic allReduce(double exchanges, double bytes) const {
    double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
    Traffic scattered = gather(2 * exchanges, 2 * bytes * others), doubled = gather(exchanges, rounds * bytes);
    Traffic faster = scattered.seconds < doubled.seconds ? scattered : doubled;
    faster.exchanges = exchanges;
    return faster;
  }

private:
  double latency, bytesPerSecond;
  int64_t ranks;
  double rounds;
};
} // namespace

/// Returns the bytes of a row of |tensor| if it has a row for each token, otherwise 0.
static double tokenBytes(mlir::Value tensor) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor.getType());
  if (type.getRank() != 2 || type.isDynamicDim(1))
    return 0;
  return static_cast<double>(type.getDimSize(1)) * type.getElementTypeBitWidth() / 8;
}

/// Returns the bytes that a rank receives by |gather| for each token.
static double receivedBytes(AllGatherOp gather) {
  return tokenBytes(gather.getInput()) * static_cast<double>(gather.getBegins().size() - 1);
}

/// Looks at the projections that read |rows|, a gathered tensor, directly or through slices and conversions to a wider
/// float type. Adds to |sums| the gathers that read their results. A result that no gather reads may be the residual of
/// another projection, whose result then takes its place: the projection of the next range of columns, or the
/// feed-forward beside an attention. Returns false if an operation other than these and `tensor.dim` reads |rows| or
/// one of the results, or if no gather reads a result.
static bool findSums(mlir::Value rows, llvm::SetVector<AllGatherOp> &sums) {
  llvm::SetVector<mlir::Value> partialSums;
  llvm::SmallVector<mlir::Value> columns = {rows};
  while (!columns.empty())
    for (mlir::OpOperand &use : columns.pop_back_val().getUses()) {
      if (llvm::isa<mlir::tensor::ExtractSliceOp, mlir::arith::ExtFOp>(use.getOwner()))
        columns.push_back(use.getOwner()->getResult(0));
      else if (auto linear = llvm::dyn_cast<LinearOp>(use.getOwner()); linear && linear.getInput() == use.get())
        partialSums.insert(linear.getResult());
      else if (!llvm::isa<mlir::tensor::DimOp>(use.getOwner()))
        return false;
    }
  for (size_t i = 0; i < partialSums.size(); ++i) {
    mlir::Value sum = partialSums[i];
    bool isGathered = llvm::any_of(sum.getUsers(), llvm::IsaPred<AllGatherOp>);
    for (mlir::OpOperand &use : sum.getUses()) {
      auto next = llvm::dyn_cast<LinearOp>(use.getOwner());
      bool isAdded = next && next.getResidual() == sum && next.getInput() != sum;
      if (auto gather = llvm::dyn_cast<AllGatherOp>(use.getOwner()))
        sums.insert(gather);
      else if (isAdded && !isGathered)
        partialSums.insert(next.getResult());
      else if (!isAdded && !llvm::isa<mlir::tensor::DimOp>(use.getOwner()))
        return false;
    }
  }
  return !sums.empty();
}

ReplacedGathers AllReduceAnalysis::countFunction(mlir::func::FuncOp function) {
  if (auto it = counted.find(function); it != counted.end())
    return it->second;
  counted[function] = {}; // a recursive call counts nothing
  ReplacedGathers total;
  // A gather of sums is counted once, even if several gathered inputs lead to it.
  llvm::SetVector<AllGatherOp> allSums;
  function.walk([&](mlir::Operation *op) {
    llvm::SetVector<AllGatherOp> sums;
    auto gather = llvm::dyn_cast<AllGatherOp>(op);
    if (gather && tokenBytes(gather.getResult()) != 0 && findSums(gather.getResult(), sums)) {
      total.inputs += static_cast<double>(countRuns(op));
      total.inputBytes += receivedBytes(gather);
      allSums.insert_range(sums);
    }
    auto call = llvm::dyn_cast<mlir::func::CallOp>(op);
    auto callee = call ? mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(call, call.getCalleeAttr()) : mlir::func::FuncOp();
    if (callee)
      total.add(countFunction(callee));
  });
  for (AllGatherOp sum : allSums) {
    total.sums += static_cast<double>(countRuns(sum));
    total.sumBytes += receivedBytes(sum);
    total.sumWidth += tokenBytes(sum.getResult());
  }
  return counted[function] = total;
}

/// Returns the names of the entries of |module| to plan.
static std::vector<std::string> chooseEntries(mlir::ModuleOp module) {
  std::vector<std::string> names;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (EntryAttr entry = getEntry(function))
      names.push_back(entry.getName().str());
  std::vector<std::string> chosen;
  for (const char *name : {"prefill", "decode"})
    if (llvm::is_contained(names, name))
      chosen.emplace_back(name);
  return chosen.empty() && !names.empty() ? std::vector{names.front()} : chosen;
}

static mlir::func::FuncOp findEntry(mlir::ModuleOp module, llvm::StringRef name) {
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (EntryAttr entry = getEntry(function); entry && entry.getName() == name)
      return function;
  return {};
}

namespace {
/// The sizes of a call.
struct CallSizes {
  int64_t batch, length, past;
};
} // namespace

/// Returns the sizes for |module|, the model |name|. A default that is larger than the model accepts is reduced; fails
/// for such a size that a flag gives.
static Result<CallSizes> resolve(mlir::ModuleOp module, const std::string &name, const PlannedSizes &sizes) {
  CallSizes resolved{sizes.batch, sizes.length.value_or(PlannedSizes::kLength), sizes.past.value_or(PlannedSizes::kPast)};
  ModelAttr model = getModel(module);
  if (!model || !model.getLimits())
    return resolved;
  for (mlir::NamedAttribute limit : model.getLimits()) {
    llvm::StringRef dim = limit.getName();
    bool isBatch = dim == "batch", isPast = dim == "past", isGiven = isBatch || (isPast ? sizes.past : sizes.length).has_value();
    const char *flag = isBatch ? "--batch" : isPast ? "--past" : "--length";
    int64_t &size = isBatch ? resolved.batch : isPast ? resolved.past : resolved.length;
    // The limit of `past` counts the token of the step as well.
    int64_t most = llvm::cast<mlir::IntegerAttr>(limit.getValue()).getInt() - (isPast ? 1 : 0);
    if (size > most && isGiven)
      return Status::error(flag + (": '" + name) + "' accepts at most " + std::to_string(most) + ", got " + std::to_string(size));
    size = std::min(size, most);
  }
  return resolved;
}

/// Returns the value of the formula |name| of |entry|, 0 if it has none.
static double evaluate(mlir::func::FuncOp entry, llvm::StringRef name, const CallSizes &sizes) {
  auto formula = entry->getAttrOfType<FormulaAttr>(name);
  if (!formula)
    return 0;
  return static_cast<double>(SizeExpr::fromFormula(formula).evaluate([&](mlir::Attribute symbol) {
    llvm::StringRef dim = llvm::cast<mlir::StringAttr>(symbol).getValue();
    return dim == "batch" ? sizes.batch : dim == "past" ? sizes.past : sizes.length;
  }));
}

/// Adds to |names| the weights that |function|, in phase `linalg`, and its callees read. Of a weight that is only
/// looked up element by element, such as the table of an embedding, a call reads single rows; it is left out.
static void findWeights(mlir::func::FuncOp function, llvm::StringSet<> &names, llvm::SmallPtrSetImpl<mlir::Operation *> &visited) {
  if (!visited.insert(function).second)
    return;
  function.walk([&](mlir::Operation *op) {
    auto reference = llvm::dyn_cast<WeightRefOp>(op);
    if (reference && !llvm::all_of(reference->getUsers(), llvm::IsaPred<mlir::tensor::ExtractOp>))
      names.insert(reference.getWeight());
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op))
      if (auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(call, call.getCalleeAttr()))
        findWeights(callee, names, visited);
  });
}

/// Fills in the times and the traffic of |call|, whose work and gathers are known.
static void addTimes(PlannedCall &call, const ReplacedGathers &replaced, const HostRates &rates, int64_t ranks) {
  call.arithmeticSeconds = call.flops / (rates.gflops * 1e9);
  call.readSeconds = (call.weightBytesRead + call.cacheBytesRead) / (rates.readGigabytes * 1e9);
  if (ranks == 1)
    return;
  LinkModel link(rates, ranks);
  double exchanges = call.gathers.exchanges + 1, bytes = call.gathers.bytes + kCallRecordBytes * static_cast<double>(ranks - 1);
  auto tokens = static_cast<double>(call.tokens);
  call.gathers = link.gather(exchanges, bytes);
  Traffic kept = link.gather(exchanges - replaced.inputs - replaced.sums, bytes - tokens * (replaced.inputBytes + replaced.sumBytes));
  Traffic sums = link.allReduce(replaced.sums, tokens * replaced.sumWidth);
  call.allReduce = {kept.exchanges + sums.exchanges, kept.bytes + sums.bytes, kept.seconds + sums.seconds};
}

Result<RankPlan> attune::planRanks(const CompileOptions &options, const HostRates &rates, const PlannedSizes &planned) {
  Result<std::unique_ptr<LoadedModel>> model = LoadedModel::import(options, createListener());
  if (!model)
    return model.status();
  if (Status status = (*model)->lowerTo(Phase::Dialect); status.failed())
    return status;
  mlir::ModuleOp module = (*model)->module();
  Result<CallSizes> sizes = resolve(module, options.model, planned);
  if (!sizes)
    return sizes.status();
  RankPlan plan;
  plan.ranks = getRanks(module);
  Result<std::vector<CacheSignature>> caches = readCaches(module);
  if (!caches)
    return caches.status();
  double cacheTokenBytes = 0;
  for (const CacheSignature &cache : *caches)
    cacheTokenBytes += static_cast<double>(cache.tokenBytes());
  plan.cacheBytes = cacheTokenBytes * static_cast<double>(sizes->batch * std::max(sizes->past + 1, sizes->length));

  std::vector<ReplacedGathers> replaced;
  AllReduceAnalysis analysis;
  for (const std::string &name : chooseEntries(module)) {
    mlir::func::FuncOp entry = findEntry(module, name);
    PlannedCall call;
    call.entry = name;
    bool decodes = name == "decode";
    // Prompts begin with empty caches.
    CallSizes called = *sizes;
    called.past = decodes ? sizes->past : 0;
    call.tokens = sizes->batch * (decodes ? 1 : sizes->length);
    call.flops = evaluate(entry, kFlopsAttr, called);
    call.gathers.exchanges = evaluate(entry, kGathersAttr, called);
    call.gathers.bytes = evaluate(entry, kGatherBytesAttr, called);
    if (decodes)
      call.cacheBytesRead = cacheTokenBytes * static_cast<double>(sizes->batch * (sizes->past + 1));
    replaced.push_back(analysis.countFunction(entry));
    plan.calls.push_back(call);
  }
  if (plan.calls.empty())
    return Status::error("'" + options.model + "': expected a model with an entry");

  // Weights are packed in this phase.
  if (Status status = (*model)->lowerTo(Phase::Linalg); status.failed())
    return status;
  llvm::StringMap<double> bytes;
  for (auto weight : module.getOps<WeightOp>())
    bytes[weight.getSymName()] = static_cast<double>(getWeightBytes(weight.getType()));
  for (auto [call, gathers] : llvm::zip_equal(plan.calls, replaced)) {
    llvm::StringSet<> names;
    llvm::SmallPtrSet<mlir::Operation *, 8> visited;
    findWeights(findEntry(module, call.entry), names, visited);
    for (const auto &name : names.keys())
      call.weightBytesRead += bytes.lookup(name);
    addTimes(call, gathers, rates, plan.ranks);
  }
  // The weights file stores a weight for each layer that reads it, so its size is known only in the phase `bufferized`.
  if (Status status = (*model)->lowerTo(Phase::Bufferized); status.failed())
    return status;
  plan.weightBytes = static_cast<double>(getWeightsBytes(module).value_or(0));
  return plan;
}
