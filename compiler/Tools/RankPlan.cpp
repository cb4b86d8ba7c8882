//===- RankPlan.cpp - A model of the speed of several ranks ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of an exchange among N ranks is ceil(log2 N) * latency + bytes / rate. MPI's algorithms for short messages
// take ceil(log2 N) rounds; the bytes are those that a rank receives, and the rate is that of its link. An all-reduce
// of b bytes takes the faster of two algorithms: reduce-scatter and all-gather, with twice the rounds and 2 b (N - 1) /
// N bytes, or recursive doubling, with b bytes in each round.
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

/// The fraction of a link's rate that the content of messages gets. Headers and pauses take the rest.
static constexpr double kLinkEfficiency = 0.9;
/// The size of CallRecord (runtime/src/Ranks.cpp), the record that ranks exchange at the beginning of each call.
static constexpr double kCallRecordBytes = 128;

namespace {
/// The gathers of an entry that all-reduce would replace, which are of two kinds. `inputs` and `sums` count the runs of
/// each kind in a call. `inputBytes` and `sumBytes` are the bytes that a rank receives for each token, `sumWidth` the
/// bytes of a whole row of a result. All are sums over the gathers of a kind; in the bytes, a gather in a loop counts
/// once.
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

/// Returns the bytes of a row of |tensor| if that is a token tensor with a static number of features, otherwise 0.
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

/// Finds the projections that read |rows|, a gathered tensor, directly or through slices and conversions to a wider
/// float type. Adds the gathers that read the results of these projections to |sums|. A result that no gather reads may
/// be the residual of another projection: that of the next range of columns, or that of the feed-forward beside an
/// attention. The result of this other projection then takes its place. Returns false if an operation other than these
/// and `tensor.dim` reads |rows| or a result, or if no gather reads a result.
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

/// Returns the names of the entries to plan: those of `prefill` and `decode` that |module| has, else its first entry.
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

/// Returns the sizes of calls of |module|, a model that errors call |name|. Reduces a default that is larger than the
/// model accepts. Fails if a size that a flag gives is larger than the model accepts.
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

/// Returns the value of the formula in the attribute |name| of |entry| for a call with |sizes|; 0 if |entry| has no
/// such attribute.
static double evaluate(mlir::func::FuncOp entry, llvm::StringRef name, const CallSizes &sizes) {
  auto formula = entry->getAttrOfType<FormulaAttr>(name);
  if (!formula)
    return 0;
  return static_cast<double>(SizeExpr::fromFormula(formula).evaluate([&](mlir::Attribute symbol) {
    llvm::StringRef dim = llvm::cast<mlir::StringAttr>(symbol).getValue();
    return dim == "batch" ? sizes.batch : dim == "past" ? sizes.past : sizes.length;
  }));
}

/// Adds to |names| the weights that |function|, which is IR of the phase `linalg`, and its callees read. Omits a weight
/// whose elements are only read one by one, such as the table of an embedding: a call reads only a few rows of it.
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

/// Sets the times and the traffic of |call|, whose work and gathers are known. Adds the exchange of call records to the
/// gathers.
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

  // This phase chooses the packed layout of weights, so the types of weights have the sizes of packed weights.
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
  // The weights file stores a weight once for each layer that reads it. So the size of the file is known only from the
  // phase `bufferized` on.
  if (Status status = (*model)->lowerTo(Phase::Bufferized); status.failed())
    return status;
  plan.weightBytes = static_cast<double>(getWeightsBytes(module).value_or(0));
  return plan;
}
