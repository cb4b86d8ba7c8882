//===- Mutate.cpp - Fuzz passes with changed IR of every phase ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: decisions (Decisions.h). They pick a golden model or a random module, a target with a precision, and a phase.
// Eight times, they then pick changes of the module before that phase, and the pipeline that runs on the changed
// module: this phase and some of the following ones, or a single pass. If the verifier accepts the changed module, the
// pipeline must succeed, or reject it with a diagnostic. ATTUNE_FUZZ_PRINT=1 prints each changed module and its passes:
// the output of `ATTUNE_FUZZ_PRINT=1 attune-fuzz-mutate INPUT 2> bad.mlir` ends with a reproducer, whose first line is
// the attune-opt command. At exit, the number of modules that passes ran on is printed.
//===----------------------------------------------------------------------===//
#include "compiler/Driver/Diagnostics.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Import/ImportModel.h"
#include "compiler/Import/ModelFolder.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "test/Fuzz/ModuleMutator.h"
#include "test/Fuzz/RandomModule.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <map>

using namespace attune;

namespace {

/// The phases that consist of passes, in order.
constexpr Phase kPhases[] = {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target};
constexpr size_t kPhaseCount = std::size(kPhases);

/// Golden models of test/fixtures with the features that differ between families: caches, rotary embeddings, cross
/// attention, relative positions.
constexpr const char *kModels[] = {"bert_base", "gpt2_cache", "llama_cache", "marian_forward", "bert_relative_key", "distilbert_base"};
constexpr size_t kRandomModules = 26;

/// The options of a target: CPU features, operand type of projections, kernel backend, type of caches and format of
/// weights. Each target has another |name|.
struct TargetOptions {
  const char *name, *cpu;
  mlir::xfmr::Precision precision;
  const char *target = "cpu", *kernels = "";
  mlir::xfmr::Precision caches = mlir::xfmr::Precision::F32;
  const char *format = "";

  /// Returns the target with these options, which the first call creates. Aborts if the build lacks the target.
  const Target &get() const {
    static std::map<const char *, std::unique_ptr<Target>> made;
    std::unique_ptr<Target> &found = made[name];
    if (!found) {
      std::string wrong;
      mlir::xfmr::WeightFormats formats = *mlir::xfmr::WeightFormats::parse(format, wrong);
      Result<std::unique_ptr<Target>> created =
          createTarget({target, "", kernels, {}, precision, formats, caches}, cpu, "x86_64-linux-gnu");
      if (!created) {
        llvm::errs() << created.message() << '\n';
        abort();
      }
      found = std::move(*created);
    }
    return *found;
  }
};

using mlir::xfmr::Precision;
constexpr TargetOptions kTargets[] = {
    {"f32", "x86-64-v4", Precision::F32},
    {"avx2", "x86-64-v3", Precision::F32},
    {"halide", "x86-64-v4", Precision::F32, "cpu", "halide"},
    {"bf16", "x86-64-v4,+avx512bf16,+avx512vnni", Precision::BF16},
    {"int8", "x86-64-v4,+avx512vnni", Precision::Int8},
    {"int8-avx2", "x86-64-v3,+avxvnni", Precision::Int8},
    {"amx-bf16", "x86-64-v4,+avx512bf16,+amx-bf16,+amx-int8", Precision::BF16},
    {"amx-int8", "x86-64-v4,+avx512bf16,+amx-bf16,+amx-int8", Precision::Int8},
    {"caches-int8", "x86-64-v4", Precision::F32, "cpu", "", Precision::Int8},
    {"caches-bf16", "x86-64-v3", Precision::F32, "cpu", "", Precision::BF16},
    {"int4-int8", "x86-64-v4,+avx512vnni", Precision::Int8, "cpu", "", Precision::F32, "int4:32"},
    {"int4-f32", "x86-64-v3", Precision::F32, "cpu", "", Precision::F32, "int4:16:asym"},
    {"int8-bf16", "x86-64-v4,+avx512bf16,+avx512vnni", Precision::BF16, "cpu", "", Precision::F32, "int8:0:f32"},
    {"cuda-f32", "x86-64-v4", Precision::F32, "cuda"},
    {"cuda-bf16", "x86-64-v4", Precision::BF16, "cuda"},
    {"cuda-f16", "x86-64-v4", Precision::F16, "cuda"},
    {"cuda-caches-int8", "x86-64-v4", Precision::F32, "cuda", "", Precision::Int8},
    {"cuda-int4", "x86-64-v4", Precision::BF16, "cuda", "", Precision::BF16, "int4:32"},
    {"cuda-int8", "x86-64-v4", Precision::F16, "cuda", "", Precision::Int8, "int8:16:asym"},
};

/// The modules to change. They are kept as text and parsed once in each context. Contexts are replaced, because a
/// single one would keep the types and attributes of all runs.
class Modules {
public:
  /// Returns the module of |model| for |target| as it is before kPhases[|phase|]; null if an earlier phase rejects the
  /// model. |model| is an index of kModels, or the number of golden models plus the number of a random module. |target|
  /// is an index of kTargets. After the phase `kernels`, only a part of the module is left (copyPart).
  mlir::ModuleOp get(size_t model, size_t target, size_t phase);
  /// Begins a run. Every kRunsOfContext runs, this replaces the context, which deletes all modules that get has
  /// returned.
  void startRun() {
    if (runs++ % kRunsOfContext == 0) {
      parsed.clear();
      context = std::make_unique<mlir::MLIRContext>(registry(), mlir::MLIRContext::Threading::DISABLED);
    }
  }

private:
  static constexpr int kRunsOfContext = 300;

  static const mlir::DialectRegistry &registry() {
    static const mlir::DialectRegistry all = [] {
      mlir::DialectRegistry all;
      registerAllTargets();
      registerCompilerDialects(all);
      return all;
    }();
    return all;
  }

  /// Returns the module of |model| as imported. Ends the program with an error if the golden model cannot be read.
  mlir::OwningOpRef<mlir::ModuleOp> import(size_t model);

  using Key = std::tuple<size_t, size_t, size_t>;
  std::unique_ptr<mlir::MLIRContext> context;
  std::map<Key, mlir::OwningOpRef<mlir::ModuleOp>> parsed;
  std::map<Key, std::string> texts;
  int runs = 0;
};

} // namespace

/// Prints |text| and aborts.
[[noreturn]] static void failRun(const std::string &text) {
  fprintf(stderr, "%s\n", text.c_str());
  abort();
}

static std::string printText(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, mlir::OpPrintingFlags().assumeVerified());
  return text;
}

mlir::OwningOpRef<mlir::ModuleOp> Modules::import(size_t model) {
  if (model < std::size(kModels)) {
    std::string path = std::string(ATTUNE_FIXTURES "/") + kModels[model];
    Result<ModelFolder> folder = openModelFolder(path);
    if (!folder)
      failRun(folder.message());
    Result<mlir::OwningOpRef<mlir::ModuleOp>> module = importModel(*context, folder->spec, *folder->tensors, {});
    if (!module)
      failRun(module.message());
    return std::move(*module);
  }
  // If a random module is invalid, the module of the next seed is tried.
  DiagnosticCollector diagnostics(context.get(), [](const std::string &) {});
  for (uint64_t seed = (model + 1) * 1000;; ++seed) {
    std::vector<uint8_t> data(200);
    Decisions bytes(reinterpret_cast<const uint8_t *>(&seed), sizeof(seed));
    for (uint8_t &byte : data)
      byte = uint8_t(bytes.pick(256));
    if (auto module =
            mlir::parseSourceString<mlir::ModuleOp>(makeRandomModule(data.data(), data.size()), mlir::ParserConfig(context.get())))
      return module;
  }
}

/// Returns a copy of |module| with the bodies of one to four functions at random; the other functions become private
/// declarations. More bodies would make runs slow and show little else, since kernels are similar.
static mlir::OwningOpRef<mlir::ModuleOp> copyPart(mlir::ModuleOp module, Decisions decisions) {
  std::vector<mlir::func::FuncOp> defined;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (!function.isExternal())
      defined.push_back(function);
  llvm::DenseSet<mlir::Operation *> kept;
  for (size_t left = 1 + decisions.pick(4); left > 0 && !defined.empty(); --left)
    kept.insert(decisions.of(defined));
  mlir::OwningOpRef<mlir::ModuleOp> copy = mlir::cast<mlir::ModuleOp>(module->cloneWithoutRegions());
  copy->getBodyRegion().emplaceBlock();
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(copy->getBody());
  for (mlir::Operation &op : *module.getBody()) {
    auto function = mlir::dyn_cast<mlir::func::FuncOp>(op);
    if (!function || function.isExternal() || kept.contains(function)) {
      builder.clone(op);
    } else {
      auto declaration = mlir::cast<mlir::func::FuncOp>(builder.insert(function->cloneWithoutRegions()));
      declaration.setPrivate();
      mlir::xfmr::removeEntry(declaration);
      for (llvm::StringRef name : {mlir::rt::kWorkspaceAttr, mlir::rt::kKernelWorkAttr})
        declaration->removeAttr(name);
    }
  }
  return copy;
}

mlir::ModuleOp Modules::get(size_t model, size_t target, size_t phase) {
  Key key(model, target, phase);
  if (auto found = parsed.find(key); found != parsed.end())
    return *found->second;
  if (auto found = texts.find(key); found != texts.end()) {
    if (found->second.empty())
      return {};
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(found->second, mlir::ParserConfig(context.get()));
    if (!module)
      failRun("a printed module does not parse");
    return *(parsed[key] = std::move(module));
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (phase == 0) {
    module = import(model);
  } else if (mlir::ModuleOp before = get(model, target, phase - 1)) {
    module = before.clone();
    DiagnosticCollector diagnostics(context.get(), [](const std::string &) {});
    mlir::PassManager passes(context.get());
    buildPhasePipeline(passes, kPhases[phase - 1], kTargets[target].get());
    if (mlir::failed(passes.run(*module)))
      module = nullptr;
    else if (kPhases[phase - 1] == Phase::Kernels && !module->getOps<mlir::func::FuncOp>().empty()) {
      uint8_t seed[] = {uint8_t(model), uint8_t(target)};
      module = copyPart(*module, Decisions(seed, sizeof(seed)));
    }
  }
  texts[key] = module ? printText(*module) : "";
  return *(parsed[key] = std::move(module));
}

/// Appends each pass of this project in the pipeline |text| to |passes|, as a pipeline of its own between |before| and
/// |after|: "a,func.func(b,c{d e})" gives "a", "func.func(b)" and "func.func(c{d e})" if these are passes of this
/// project. Passes nested in operations other than func.func are skipped.
static void splitPasses(llvm::StringRef text, const std::string &before, const std::string &after, std::vector<std::string> &passes) {
  size_t begin = 0, depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth += c == '(' || c == '{';
    depth -= c == ')' || c == '}';
    if (c != ',' || depth != 0)
      continue;
    llvm::StringRef pass = text.slice(begin, i).trim();
    begin = i + 1;
    if (pass.starts_with("func.func("))
      splitPasses(pass.drop_front(10).drop_back(), before + "func.func(", ")" + after, passes);
    else if (pass.starts_with("attune-") || pass.starts_with("xfmr-") || pass.starts_with("convert-xfmr-"))
      passes.push_back(before + pass.str() + after);
  }
}

/// Returns the passes that splitPasses finds in all phases for kTargets[|target|], each as a pipeline of its own.
static const std::vector<std::string> &getPasses(size_t target) {
  static std::vector<std::string> passes[std::size(kTargets)];
  if (!passes[target].empty())
    return passes[target];
  for (Phase phase : kPhases) {
    mlir::OpPassManager pipeline(mlir::ModuleOp::getOperationName());
    buildPhasePipeline(pipeline, phase, kTargets[target].get());
    std::string text;
    llvm::raw_string_ostream stream(text);
    pipeline.printAsTextualPipeline(stream);
    splitPasses(llvm::StringRef(text).split('(').second.drop_back(), "builtin.module(", ")", passes[target]);
  }
  return passes[target];
}

/// Returns true if the accumulator and the result of each `nvvm.mma.sync` in |module| have types that this operation
/// supports. Upstream's verifier of the operation infers a kind from these types and reads it without a check.
static bool hasKnownSums(mlir::ModuleOp module) {
  return !module
              ->walk([](mlir::NVVM::MmaOp op) {
                auto result = mlir::dyn_cast<mlir::LLVM::LLVMStructType>(op.getType());
                auto isKnown = [](mlir::Type type) { return mlir::NVVM::MmaOp::inferOperandMMAType(type, true).has_value(); };
                bool areKnown = llvm::all_of(op.getOperandC().getTypes(), isKnown) && result && llvm::all_of(result.getBody(), isKnown);
                return areKnown ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Returns true if an operation in |module|, such as tensor.dim, asks for the size of a dimension by a constant index
/// that is negative or not below the rank. That is undefined, and upstream's folds do not check the index.
static bool asksForNoDimension(mlir::ModuleOp module) {
  return module
      ->walk([](mlir::ShapedDimOpInterface op) {
        std::optional<int64_t> number = mlir::getConstantIntValue(op.getDimension());
        auto type = mlir::dyn_cast<mlir::ShapedType>(op.getShapedValue().getType());
        bool isThere = !number || !type || !type.hasRank() || (*number >= 0 && *number < type.getRank());
        return isThere ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Returns true if |module| has a view or a buffer with a constant negative size, or a view with a constant stride of
/// 0. A negative size is undefined, and upstream's folds write it into a type. With a stride of 0, upstream's folds
/// cannot tell which dimensions a rank-reducing view drops.
static bool hasUndefinedViews(mlir::ModuleOp module) {
  auto isNegative = [](mlir::OpFoldResult size) { return mlir::getConstantIntValue(size).value_or(0) < 0; };
  return module
      ->walk([&](mlir::Operation *op) {
        bool isUndefined = false;
        if (auto view = mlir::dyn_cast<mlir::OffsetSizeAndStrideOpInterface>(op))
          isUndefined = llvm::any_of(view.getMixedSizes(), isNegative) || llvm::any_of(view.getMixedStrides(), mlir::isZeroInteger);
        else if (mlir::isa<mlir::memref::AllocOp, mlir::memref::AllocaOp, mlir::tensor::EmptyOp>(op))
          isUndefined = llvm::any_of(op->getOperands(), isNegative);
        return isUndefined ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// Runs |passes| on |module|. Returns false if they reject it with a diagnostic. Aborts if they fail without one.
static bool runPasses(mlir::PassManager &passes, mlir::ModuleOp module) {
  if (getenv("ATTUNE_FUZZ_PRINT")) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    passes.printAsTextualPipeline(stream);
    fprintf(stderr, "// RUN: attune-opt --pass-pipeline='%s' %%s\n%s\n", text.c_str(), printText(module).c_str());
  }
  DiagnosticCollector diagnostics(module.getContext(), [](const std::string &) {});
  if (mlir::succeeded(passes.run(module)))
    return true;
  std::string message = diagnostics.error("").message();
  if (message.empty())
    failRun("failed without a diagnostic");
  if (getenv("ATTUNE_FUZZ_PRINT"))
    fprintf(stderr, "// refused: %s\n", message.c_str());
  return false;
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  registerAllTargets();
  registerCompilerPasses();
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

/// Replaces three of four inputs by eight random bytes, which seed all decisions. libFuzzer's own mutations change a
/// few bytes; they reach other modules and targets only where coverage guides them, and a build without instrumentation
/// measures no coverage.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed) {
  constexpr size_t kSeedSize = 8;
  Decisions decisions(reinterpret_cast<const uint8_t *>(&seed), sizeof(seed));
  if (capacity < kSeedSize || (size >= kSeedSize && decisions.once(4)))
    return LLVMFuzzerMutate(data, size, capacity);
  for (size_t i = 0; i < kSeedSize; ++i)
    data[i] = uint8_t(decisions.pick(256));
  return kSeedSize;
}

/// Returns a copy of |original| after one to three changes that the verifier accepts; null if |decisions| lead to none
/// in fifty attempts. Most changes are invalid. Modules on which code of upstream is known to crash are not returned.
static mlir::OwningOpRef<mlir::ModuleOp> mutate(mlir::ModuleOp original, Decisions &decisions) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    DiagnosticCollector diagnostics(original.getContext(), [](const std::string &) {});
    mlir::OwningOpRef<mlir::ModuleOp> module = original.clone();
    bool isValid = false;
    for (size_t left = 1 + (decisions.once(3) ? decisions.pick(3) : 0); left > 0; --left) {
      if (!ModuleMutator(*module, decisions).mutate())
        continue;
      isValid =
          hasKnownSums(*module) && mlir::succeeded(mlir::verify(*module)) && !asksForNoDimension(*module) && !hasUndefinedViews(*module);
      if (!isValid)
        break;
    }
    if (isValid)
      return module;
  }
  return {};
}

/// Runs on |module| either one pass of |target|, or the phases from kPhases[|phase|] on. The phases end at the first
/// that rejects the module; after each other phase, they end in half of the cases.
static void runFrom(size_t phase, size_t target, mlir::ModuleOp module, Decisions &decisions) {
  mlir::MLIRContext &context = *module.getContext();
  if (decisions.once(4)) {
    const std::vector<std::string> &passes = getPasses(target);
    mlir::PassManager manager(&context);
    if (mlir::failed(mlir::parsePassPipeline(llvm::StringRef(decisions.of(passes)).drop_front(15).drop_back(), manager)))
      failRun("a printed pipeline does not parse");
    runPasses(manager, module);
    return;
  }
  for (; phase < kPhaseCount; ++phase) {
    mlir::PassManager manager(&context);
    buildPhasePipeline(manager, kPhases[phase], kTargets[target].get());
    if (!runPasses(manager, module) || decisions.once(2))
      break;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The changes of an input share one module, since making and parsing it takes longer than changing it and running
  // passes.
  constexpr int kMutationsOfInput = 8;
  static Modules modules;
  static size_t mutations = 0;
  static const bool reports = (std::atexit([] { fprintf(stderr, "stat::number_of_mutations: %zu\n", mutations); }), true);
  (void)reports;
  modules.startRun();
  Decisions decisions(data, size);
  size_t model = decisions.once(2) ? decisions.pick(std::size(kModels)) : std::size(kModels) + decisions.pick(kRandomModules);
  size_t target = decisions.pick(std::size(kTargets)), phase = decisions.pick(kPhaseCount);
  mlir::ModuleOp original = modules.get(model, target, phase);
  if (!original)
    return 0;
  for (int i = 0; i < kMutationsOfInput; ++i)
    if (mlir::OwningOpRef<mlir::ModuleOp> module = mutate(original, decisions)) {
      ++mutations;
      runFrom(phase, target, *module, decisions);
    }
  return 0;
}
