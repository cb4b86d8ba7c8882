//===- PlainModel.cpp - IR of any phase, executed -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/PlainModel.h"
#include "attune/abi.h"
#include "compiler/Plain/PlainBinding.h"
#include "compiler/Plain/PlainCalls.h"
#include "compiler/Plain/PlainLowering.h"
#include "compiler/Plain/PlainMemory.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include <cstring>

using namespace mlir;
using namespace attune;

PlainModel::~PlainModel() = default;

/// Removes the discardable attributes of this project's dialects, which MLIR's lowerings do not know.
static void removeOwnAttributes(ModuleOp module) {
  auto isOwn = [](NamedAttribute attr) {
    return isa_and_nonnull<xfmr::XfmrDialect, tiles::TileDialect, rt::RtDialect>(attr.getNameDialect());
  };
  module->walk([&](Operation *op) {
    for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
      if (isOwn(attr))
        op->removeDiscardableAttr(attr.getName());
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        for (NamedAttribute attr : llvm::to_vector(function.getArgAttrs(i)))
          if (isOwn(attr))
            function.removeArgAttr(i, attr.getName());
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        for (NamedAttribute attr : llvm::to_vector(function.getResultAttrs(i)))
          if (isOwn(attr))
            function.removeResultAttr(i, attr.getName());
    }
  });
}

/// Returns an operation of |module| that the plain path cannot execute: code for a GPU or, unless |isCode|, a kernel of
/// Halide. Returns null if there is none. |isCode| is true if LLVM IR is executed, and |module| only describes its
/// weights.
static Operation *findForeign(ModuleOp module, bool isCode) {
  Operation *found = nullptr;
  module->walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    bool isForeign = dialect == "gpu" || dialect == "nvgpu" || dialect == "nvvm" || (dialect == "halide" && !isCode);
    found = isForeign ? op : nullptr;
    return isForeign ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Stores |values| at |target| as elements of |kind|.
static void storeValues(const std::vector<double> &values, ElementKind kind, char *target) {
  PlainBuffer buffer;
  buffer.data = target;
  buffer.kind = kind;
  buffer.sizes = {int64_t(values.size())};
  buffer.strides = {1};
  for (size_t i = 0; i < values.size(); ++i)
    buffer.set<double>({int64_t(i)}, values[i]);
}

Status PlainModel::readWeights(const PlainWeights &given) {
  std::map<std::string, std::vector<OpCall *>> users;
  for (auto &call : calls)
    if (auto reference = dyn_cast<xfmr::WeightRefOp>(call->op))
      users[reference.getWeight().str()].push_back(call.get());
  if (std::optional<int64_t> bytes = xfmr::getWeightsBytes(*original)) {
    if (*bytes > 0 && options.wide)
      return Status::error("f64 is for phases up to 'kernels': the module reads weights as bytes");
    weights.assign(static_cast<size_t>(*bytes) + 64, 0);
  }
  char *blob = weights.data() + (-reinterpret_cast<intptr_t>(weights.data()) & 63);
  for (auto weight : original->getOps<xfmr::WeightOp>()) {
    auto used = users.find(weight.getSymName().str());
    bool packed = weight.getOffset() && !weights.empty();
    if (used == users.end() && !packed)
      continue;
    Result<WeightValue> value = evaluateWeight(weight.getSource(), given, options.wide);
    if (!value)
      return Status::error("weight '" + weight.getSymName().str() + "': " + value.message());
    if (packed)
      storeValues(value->values, *getElementKind(cast<ShapedType>(weight.getType()).getElementType(), false), blob + *weight.getOffset());
    if (used != users.end())
      for (OpCall *call : used->second) {
        call->results.resize(1);
        PlainBuffer &buffer = call->create(0, value->shape);
        storeValues(value->values, buffer.kind, buffer.data);
      }
  }
  return {};
}

Result<std::unique_ptr<PlainModel>> PlainModel::create(ModuleOp module, const PlainWeights &weights, const PlainOptions &options,
                                                       const PlainSignature *signature) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  std::unique_ptr<PlainModel> model(new PlainModel());
  model->options = options;
  model->original = cast<ModuleOp>(module->clone());
  if (Operation *foreign = findForeign(module, !options.llvmText.empty()))
    return Status::error("the plain path does not execute '" + foreign->getName().getStringRef().str() + "'");
  model->compiledInterface = !options.llvmText.empty();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    model->compiledInterface |= function.getSymName().starts_with("attune_entry_");
  if (model->compiledInterface) {
    if (!signature)
      return Status::error("the module of the phase 'target' does not describe its entries: give IR of an earlier phase as --signature");
    model->entries = *signature;
  } else {
    Result<PlainSignature> read = readPlainSignature(module);
    if (!read)
      return read.status();
    model->entries = std::move(*read);
  }

  if (!options.llvmText.empty()) {
    if (Status status = model->readWeights(weights); status.failed())
      return status;
    if (Status status = model->startCode(*model->original); status.failed())
      return status;
    return model;
  }
  OwningOpRef<ModuleOp> lowered = cast<ModuleOp>(module->clone());
  Result<std::vector<std::unique_ptr<OpCall>>> calls = replaceByCalls(*lowered, *model->original, options.wide, options.observesCalls);
  if (!calls)
    return calls.status();
  model->calls = std::move(*calls);
  for (auto &call : model->calls) {
    call->faults = &model->faults;
    call->observer = &model->options.observer;
    call->substitute = &model->options.substitute;
    call->calibrated = weights.calibrated;
  }
  if (options.wide)
    if (Status status = widenFloats(*lowered); status.failed())
      return status;
  for (auto function : lowered->getOps<func::FuncOp>())
    if (xfmr::getEntry(function))
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), UnitAttr::get(module.getContext()));
  removeOwnAttributes(*lowered);
  if (Status status = lowerPlainly(*lowered); status.failed())
    return status;
  for (auto function : lowered->getOps<LLVM::LLVMFuncOp>())
    if (function.getSymName().starts_with("attune_entry_"))
      function.setVisibility_(LLVM::Visibility::Default);
  if (Status status = model->readWeights(weights); status.failed())
    return status;

  if (Status status = model->startCode(*lowered); status.failed())
    return status;
  return model;
}

/// Parses |text|, LLVM IR of a compiled model, and makes its entries, the functions `attune_entry_*`, visible to the
/// JIT. If |text| cannot be parsed, sets |message| and returns null.
static std::unique_ptr<llvm::Module> parseCode(const std::string &text, llvm::LLVMContext &context, std::string &message) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> parsed = llvm::parseAssemblyString(text, problem, context);
  if (!parsed) {
    message = "line " + std::to_string(problem.getLineNo()) + ": " + problem.getMessage().str();
    return nullptr;
  }
  for (llvm::Function &function : *parsed)
    if (function.getName().starts_with("attune_entry_")) {
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
      function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    }
  return parsed;
}

Status PlainModel::startCode(ModuleOp lowered) {
  std::string message;
  ScopedDiagnosticHandler handler(lowered.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && message.empty())
      message = diagnostic.str();
    return success();
  });
  ExecutionEngineOptions jit;
  jit.jitCodeGenOptLevel = llvm::CodeGenOptLevel::None;
  jit.enableGDBNotificationListener = false;
  jit.enablePerfNotificationListener = false;
  auto parse = [&](Operation *, llvm::LLVMContext &context) { return parseCode(options.llvmText, context, message); };
  if (!options.llvmText.empty())
    jit.llvmModuleBuilder = parse;
  auto started = ExecutionEngine::create(lowered, jit);
  if (!started) {
    std::string text = llvm::toString(started.takeError());
    return Status::error("cannot translate the module to LLVM IR: " + (message.empty() ? text : message));
  }
  engine = std::move(*started);
  engine->registerSymbols([](llvm::orc::MangleAndInterner mangle) {
    llvm::orc::SymbolMap map;
    for (auto &[name, address] : PlainMemory::symbols())
      map[mangle(name)] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    return map;
  });
  return {};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Returns |error| as a status. If the module calls a function that it does not contain, such as a kernel of another
/// code generator, the text of |error| is a list of all symbols; the status then has a clearer sentence.
static Status describeError(llvm::Error error) {
  bool isIncomplete = error.isA<llvm::orc::FailedToMaterialize>();
  std::string text = llvm::toString(std::move(error));
  return Status::error(isIncomplete ? "the module calls functions that it does not contain" : text);
}

/// Returns the memref descriptor of a dense row-major buffer at |data|: allocated pointer, aligned pointer, offset,
/// sizes and strides; offset and strides are in elements.
static std::vector<int64_t> describeBuffer(void *data, const std::vector<int64_t> &shape) {
  auto address = reinterpret_cast<int64_t>(data);
  std::vector<int64_t> words = {address, address, 0};
  words.insert(words.end(), shape.begin(), shape.end());
  size_t begin = words.size();
  words.resize(begin + shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    words[begin + dim - 1] = words[begin + dim] * shape[dim];
  return words;
}

/// Copies the memref with the descriptor |words|, the result |argument| of an entry, to a dense tensor.
static OwnedTensor readResult(const PlainArgument &argument, const int64_t *words, bool wide) {
  size_t rank = argument.dims.size();
  DType dtype = getPlainDType(argument.elementType, wide);
  OwnedTensor tensor{{argument.name, dtype, {words + 3, words + 3 + rank}}, {}};
  size_t bytes = elementSize(dtype);
  int64_t count = *elementCount(tensor.spec.shape);
  tensor.data.resize(static_cast<size_t>(count) * bytes);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, offset = words[2];
    for (size_t dim = rank; dim-- > 0; rest /= words[3 + dim])
      offset += rest % words[3 + dim] * words[3 + rank + dim];
    std::memcpy(&tensor.data[static_cast<size_t>(i) * bytes], reinterpret_cast<const char *>(words[1]) + offset * int64_t(bytes), bytes);
  }
  return tensor;
}

static void runForward(void *, int64_t count, int64_t, attune_body_fn body, void *context) { body(context, 0, 0, count); }

static void runBackward(void *, int64_t count, int64_t grain, attune_body_fn body, void *context) {
  grain = std::max<int64_t>(grain, 1);
  for (int64_t range = (count + grain - 1) / grain; range-- > 0;)
    body(context, range % 2, range * grain, std::min(count, (range + 1) * grain));
}

namespace {
/// The caches of a session as a compiled entry gets them, attune_call::state: one block of memory, in which the caches
/// of sequences precede those of sources.
class CacheState {
public:
  CacheState(const PlainSignature &signature, PlainCaches &caches) : caches(caches) {
    for (bool ofSources : {false, true})
      for (const PlainEntry &entry : signature.entries)
        for (const PlainArgument &argument : entry.arguments) {
          if (argument.kind != PlainArgument::Kind::Cache || llvm::is_contained(order, argument.name) || !caches.count(argument.name))
            continue;
          if ((std::get<std::string>(argument.dims[0]) == "sources") == ofSources)
            add(argument, ofSources);
        }
    bytes.resize(bytes.size() + 64);
  }
  void *data() { return bytes.data() + (-reinterpret_cast<intptr_t>(bytes.data()) & 63); }
  void load() {
    move([](uint8_t *memory, std::vector<uint8_t> &cache) { std::memcpy(memory, cache.data(), cache.size()); });
  }
  void store() {
    move([](uint8_t *memory, std::vector<uint8_t> &cache) { std::memcpy(cache.data(), memory, cache.size()); });
  }
  /// The values of attune_call::state_dims: slots, panels of a slot, sources, panels of a source.
  int64_t counts[4] = {0, 0, 0, 0};

private:
  void add(const PlainArgument &argument, bool ofSources) {
    const OwnedTensor &cache = caches.at(argument.name);
    order.push_back(argument.name);
    counts[ofSources ? 2 : 0] = cache.spec.shape[0];
    // Keys are `[slots, heads, panels, size, ATTUNE_CACHE_PANEL]`, values `[slots, heads, tokens, size]`, and masks are
    // `[slots, tokens]`.
    const std::vector<int64_t> &shape = cache.spec.shape;
    counts[ofSources ? 3 : 1] = shape.size() == 2   ? shape[1] / ATTUNE_CACHE_PANEL
                                : shape.size() == 5 ? shape[2]
                                                    : shape[2] / ATTUNE_CACHE_PANEL;
    bytes.resize(bytes.size() + cache.data.size());
  }
  template <typename Move>
  void move(Move copy) {
    auto *memory = static_cast<uint8_t *>(data());
    for (const std::string &name : order) {
      copy(memory, caches.at(name).data);
      memory += caches.at(name).data.size();
    }
  }

  PlainCaches &caches;
  std::vector<std::string> order;
  std::vector<uint8_t> bytes;
};
} // namespace

Result<std::vector<OwnedTensor>> PlainModel::run(const PlainRequest &request, PlainCaches *caches) {
  Result<const PlainEntry *> found = entries.entry(request.entry);
  if (!found)
    return found.status();
  const PlainEntry &entry = **found;
  Result<PlainBinding> binding = PlainBinding::create(entry, request, caches, options.wide);
  if (!binding)
    return binding.status();
  faults.first.clear();
  PlainMemory memory(options.poison);
  char *blob = weights.empty() ? nullptr : weights.data() + (-reinterpret_cast<intptr_t>(weights.data()) & 63);
  int64_t workers = options.reverse ? 2 : 1;
  std::map<std::string, int64_t> dims = binding->dims();
  dims["workers"] = workers;
  int64_t workspaceBytes = entry.workspace ? evaluateFormula(entry.workspace, dims) : 0;

  // The outputs for which the entry gets memory from its caller: those that are arguments and, with the C interface,
  // all.
  std::map<std::string, OwnedTensor> outputs;
  for (const PlainArgument *output : entry.outputs()) {
    bool isResult = output >= entry.results.data() && output < entry.results.data() + entry.results.size();
    if (isResult && !compiledInterface)
      continue;
    Result<OwnedTensor> tensor = binding->makeOutput(*output, options.poison);
    if (!tensor)
      return tensor.status();
    outputs[output->name] = std::move(*tensor);
  }

  if (compiledInterface) {
    auto address = engine->lookup("attune_entry_" + entry.name);
    if (!address)
      return describeError(address.takeError());
    std::vector<int64_t> dimValues;
    for (const std::string &dim : entry.dims)
      dimValues.push_back(dims[dim]);
    std::vector<const void *> inputPointers;
    std::vector<void *> outputPointers;
    for (const PlainArgument &argument : entry.arguments)
      if (argument.kind == PlainArgument::Kind::Input)
        inputPointers.push_back(binding->tensor(argument).data.data());
    for (const PlainArgument *output : entry.outputs())
      outputPointers.push_back(outputs[output->name].data.data());
    PlainCaches none;
    CacheState state(entries, caches ? *caches : none);
    state.load();
    attune_host host = {};
    host.abi_version = ATTUNE_ABI_VERSION;
    host.num_workers = workers;
    host.parallel_for = options.reverse ? runBackward : runForward;
    attune_call call = {
        blob, memory.allocate(workspaceBytes), state.data(), state.counts, dimValues.data(), inputPointers.data(), outputPointers.data()};
    int32_t status = reinterpret_cast<attune_entry_fn>(*address)(&host, &call);
    if (status != 0)
      return Status::error("entry '" + entry.name + "' returned " + std::to_string(status));
    state.store();
  } else {
    // The descriptors must not move, since |pointers| refers to them.
    std::vector<std::vector<int64_t>> descriptors;
    descriptors.reserve(entry.arguments.size() + 1);
    std::vector<void *> pointers(entry.arguments.size() + 1);
    std::vector<int64_t> numbers(entry.arguments.size());
    std::vector<void *> packed;
    size_t resultWords = 0;
    for (const PlainArgument &result : entry.results)
      resultWords += 3 + 2 * result.dims.size();
    if (resultWords > 0) {
      descriptors.emplace_back(resultWords);
      pointers.back() = descriptors.back().data();
      packed.push_back(&pointers.back());
    }
    void *nothing = nullptr;
    for (auto [index, argument] : llvm::enumerate(entry.arguments)) {
      auto pass = [&, i = index](void *data, const std::vector<int64_t> &shape) {
        descriptors.push_back(describeBuffer(data, shape));
        pointers[i] = descriptors.back().data();
        packed.push_back(&pointers[i]);
      };
      switch (argument.kind) {
      case PlainArgument::Kind::Input:
      case PlainArgument::Kind::Cache: {
        OwnedTensor &tensor = binding->tensor(argument);
        // An entry with results was on tensors before its lowering, which may have made it write to its arguments. It
        // gets copies, so that the inputs and the caches stay unchanged.
        void *data = tensor.data.data();
        if (!entry.results.empty()) {
          data = memory.allocate(tensor.data.size());
          std::memcpy(data, tensor.data.data(), tensor.data.size());
        }
        pass(data, tensor.spec.shape);
        break;
      }
      case PlainArgument::Kind::Output:
        pass(outputs[argument.name].data.data(), outputs[argument.name].spec.shape);
        break;
      case PlainArgument::Kind::SessionDim:
        numbers[index] = dims[argument.name];
        packed.push_back(&numbers[index]);
        break;
      case PlainArgument::Kind::Role:
        if (argument.role == rt::Role::Weights)
          pass(blob, {int64_t(weights.size())});
        else if (argument.role == rt::Role::Workspace)
          pass(memory.allocate(workspaceBytes), {workspaceBytes});
        else if (argument.role == rt::Role::Workers)
          numbers[index] = workers, packed.push_back(&numbers[index]);
        else
          packed.push_back(&nothing);
        break;
      }
    }
    if (llvm::Error error = engine->invokePacked("_mlir_ciface_" + entry.symbol, packed))
      return describeError(std::move(error));
    const int64_t *words = resultWords ? descriptors.front().data() : nullptr;
    for (const PlainArgument &result : entry.results) {
      OwnedTensor tensor = readResult(result, words, options.wide);
      words += 3 + 2 * result.dims.size();
      if (result.kind == PlainArgument::Kind::Cache && caches)
        (*caches)[result.name] = std::move(tensor);
      else
        outputs[result.name] = std::move(tensor);
    }
  }
  if (!faults.first.empty())
    return Status::error(faults.first);
  std::vector<OwnedTensor> flat;
  for (const PlainArgument *output : entry.outputs())
    for (OwnedTensor &member : splitGroup(*output, std::move(outputs[output->name])))
      flat.push_back(std::move(member));
  return flat;
}
