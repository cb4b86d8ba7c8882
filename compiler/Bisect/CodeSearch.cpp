//===- CodeSearch.cpp - Which part of LLVM makes numbers wrong? -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/CodeSearch.h"
#include "compiler/Object/Emit.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Support/SourceMgr.h"

using namespace attune;

/// Returns the function that a pass runs on, or whose loop it runs on; null for the module and for a component of the
/// call graph.
static llvm::Function *findFunction(const llvm::Any &unit) {
  // LLVM passes the unit as a pointer to const, but the pass that runs on it may change it.
  if (const auto *function = llvm::any_cast<const llvm::Function *>(&unit))
    return const_cast<llvm::Function *>(*function);
  if (const auto *loop = llvm::any_cast<const llvm::Loop *>(&unit))
    return (*loop)->getHeader()->getParent();
  return nullptr;
}

static Result<std::unique_ptr<llvm::Module>> parse(const std::string &ir, llvm::LLVMContext &context) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, problem, context);
  if (!module)
    return Status::error("LLVM IR, line " + std::to_string(problem.getLineNo()) + ": " + problem.getMessage().str());
  return module;
}

static std::string print(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

Result<std::string> CodeSearch::optimize(size_t limit, std::vector<Run> *runs) const {
  llvm::LLVMContext context;
  Result<std::unique_ptr<llvm::Module>> module = parse(code.beforePasses, context);
  if (!module)
    return module.status();
  if (hooks.begin)
    hooks.begin();
  llvm::PassInstrumentationCallbacks callbacks;
  size_t count = 0;
  callbacks.registerShouldRunOptionalPassCallback([&](llvm::StringRef pass, llvm::Any unit) {
    if (count == limit)
      return false;
    ++count;
    if (runs) {
      llvm::Function *function = findFunction(unit);
      runs->push_back({callbacks.getPassNameForClassName(pass).str(), function ? function->getName().str() : ""});
    }
    return true;
  });
  if (hooks.afterPass)
    callbacks.registerAfterPassCallback([&](llvm::StringRef pass, llvm::Any unit, const llvm::PreservedAnalyses &) {
      if (llvm::Function *function = findFunction(unit))
        hooks.afterPass(callbacks.getPassNameForClassName(pass), *function);
    });
  optimizeModule(**module, *code.machine, &callbacks);
  return print(**module);
}

Result<std::string> CodeSearch::optimized() const { return hooks ? optimize(SIZE_MAX, nullptr) : Result<std::string>(code.afterPasses); }

Result<std::string> CodeSearch::object() const {
  if (!hooks)
    return std::string();
  Result<std::string> ir = optimized();
  return ir ? generate(*ir) : ir;
}

Result<std::string> CodeSearch::generate(const std::string &ir, size_t end) const {
  llvm::LLVMContext context;
  Result<std::unique_ptr<llvm::Module>> module = parse(ir, context);
  if (!module)
    return module.status();
  size_t number = 0;
  for (llvm::Function &function : **module) {
    if (function.isDeclaration() || number++ < end)
      continue;
    function.removeFnAttr(llvm::Attribute::AlwaysInline);
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
  if (hooks.begin)
    hooks.begin();
  if (hooks.beforeCode)
    hooks.beforeCode(**module);
  return emitCode(**module, *code.machine, /*assembly=*/false);
}

/// Erases the globals and functions of |module| that have no users, except |kept|. Returns true if it erased any.
static bool eraseUnused(llvm::Module &module, const llvm::Function &kept) {
  std::vector<llvm::GlobalValue *> unused;
  for (llvm::GlobalObject &object : module.global_objects()) {
    object.removeDeadConstantUsers();
    if (object.use_empty() && &object != &kept)
      unused.push_back(&object);
  }
  for (llvm::GlobalValue *value : unused)
    value->eraseFromParent();
  return !unused.empty();
}

/// Returns the function |name| of |ir| with the globals that it refers to and declarations of the functions that it
/// refers to; all of |ir| if |name| is "" or no function of |ir|.
static Result<std::string> extractFunction(const std::string &ir, const std::string &name) {
  llvm::LLVMContext context;
  Result<std::unique_ptr<llvm::Module>> module = parse(ir, context);
  if (!module)
    return module.status();
  const llvm::Function *kept = (*module)->getFunction(name);
  if (!kept)
    return ir;
  for (llvm::GlobalAlias &alias : llvm::make_early_inc_range((*module)->aliases())) {
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
  for (llvm::Function &function : **module)
    if (&function != kept)
      function.deleteBody();
  while (eraseUnused(**module, *kept))
    ;
  return print(**module);
}

/// Returns, by binary search, a number n for which |judge|(n) is wrong and |judge|(n - 1) is right. |judge|(n) judges
/// the code for which only the first n of |count| runs of passes are made, or only the first n of |count| functions are
/// optimized. Returns nullopt unless |judge|(0) is right and |judge|(|count|) is wrong, or if a judgment that the
/// search needs is unknown.
static std::optional<size_t> searchCount(size_t count, const std::function<Judgment(size_t)> &judge) {
  if (judge(0).kind != Judgment::Right || judge(count).kind != Judgment::Wrong)
    return std::nullopt;
  size_t left = 0, right = count;
  while (right - left > 1) {
    size_t middle = left + (right - left) / 2;
    Judgment::Kind kind = judge(middle).kind;
    if (kind == Judgment::Unknown)
      return std::nullopt;
    (kind == Judgment::Right ? left : right) = middle;
  }
  return right;
}

/// Returns the judgment "unknown" for code that could not be generated because of |status|.
static Judgment unknown(const Status &status) {
  Judgment judgment;
  judgment.reason = status.message();
  return judgment;
}

Result<std::optional<CodePart>> CodeSearch::searchPasses(const std::function<Judgment(const std::string &)> &judge) const {
  std::vector<Run> runs;
  if (Result<std::string> all = optimize(SIZE_MAX, &runs); !all)
    return all.status();
  std::optional<size_t> found = searchCount(runs.size(), [&](size_t limit) {
    Result<std::string> ir = optimize(limit, nullptr);
    return ir ? judge(*ir) : unknown(ir.status());
  });
  if (!found)
    return std::optional<CodePart>();
  const Run &run = runs[*found - 1];
  auto take = [&](size_t limit) {
    Result<std::string> ir = optimize(limit, nullptr);
    return ir ? extractFunction(*ir, run.function) : ir;
  };
  Result<std::string> before = take(*found - 1), after = take(*found);
  if (!before || !after)
    return before ? after.status() : before.status();
  return std::optional<CodePart>(CodePart{run.pass, run.function, std::move(*before), std::move(*after)});
}

Result<std::optional<CodePart>> CodeSearch::searchFunctions(const std::function<Judgment(const std::string &)> &judge) const {
  Result<std::string> ir = optimized();
  if (!ir)
    return ir.status();
  llvm::LLVMContext context;
  Result<std::unique_ptr<llvm::Module>> module = parse(*ir, context);
  if (!module)
    return module.status();
  std::vector<std::string> names;
  for (const llvm::Function &function : **module)
    if (!function.isDeclaration())
      names.push_back(function.getName().str());
  std::optional<size_t> found = searchCount(names.size(), [&](size_t end) {
    Result<std::string> object = generate(*ir, end);
    return object ? judge(*object) : unknown(object.status());
  });
  if (!found)
    return std::optional<CodePart>();
  Result<std::string> extracted = extractFunction(*ir, names[*found - 1]);
  if (!extracted)
    return extracted.status();
  return std::optional<CodePart>(CodePart{"", names[*found - 1], std::move(*extracted), ""});
}
