//===- Emit.cpp - From LLVM IR to object code -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/Emit.h"
#include "compiler/Object/FreezeLoopBases.h"
#include "compiler/Object/SplitLongBlocks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"

using namespace attune;

/// The functions of the C library that compiled code may call.
static constexpr const char *kAllowedSymbols[] = {"memcpy", "memmove", "memset"};

/// The LLVM pipeline: propagates constants into kernels (sizes and strides of buffers are arguments), rotates loops for
/// the code generator, cleans up each function once, and erases functions without callers. It does not vectorize or
/// unroll loops, which earlier phases have done, and inlines nothing, since functions are too large. LLVM's default
/// pipelines take much longer and produce the same hot loops. After this pipeline, optimizeModule runs FreezeLoopBases.
static constexpr const char *kPasses =
    "globalopt,ipsccp,function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),simplifycfg,"
    "instcombine<no-verify-fixpoint>,loop(indvars),gvn,instcombine<no-verify-fixpoint>,simplifycfg,adce),deadargelim,globaldce";

void attune::setTarget(llvm::Module &module, const HostMachine &target) {
  module.setTargetTriple(target.machine().getTargetTriple());
  module.setDataLayout(target.machine().createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu());
    if (!target.features().empty())
      function.addFnAttr("target-features", target.features());
    // No exception passes through compiled code, so it needs no unwind tables.
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (target.vectorBits() == 512) {
      // For some CPUs with AVX-512, LLVM prefers vectors of 256 bits, with which long kernels are slower.
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("min-legal-vector-width", "512");
    }
  }
}

void attune::optimizeModule(llvm::Module &module, const HostMachine &target, llvm::PassInstrumentationCallbacks *callbacks) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  for (llvm::LibFunc function : {llvm::LibFunc_memcpy, llvm::LibFunc_memmove, llvm::LibFunc_memset})
    library.setAvailable(function);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  llvm::PassBuilder builder(&target.machine(), llvm::PipelineTuningOptions(), std::nullopt, callbacks);
  if (callbacks)
    callbacks->addClassToPassName(FreezeLoopBases::name(), "freeze-loop-bases");
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, kPasses));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::createFunctionToLoopPassAdaptor(FreezeLoopBases())));
  passes.run(module, modules);
  splitLongBlocks(module);
}

Result<std::string> attune::emitCode(llvm::Module &module, const HostMachine &target, bool assembly) {
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems))
    return Status::error("internal error: invalid LLVM IR: " + llvm::StringRef(problem).split('\n').first.str());
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  auto kind = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (target.machine().addPassesToEmitFile(passes, stream, nullptr, kind))
    return Status::error("target '" + target.triple() + "' cannot emit " + (assembly ? "assembly" : "objects"));
  passes.run(module);
  return std::string(code.data(), code.size());
}

Status attune::checkObject(const std::string &object, llvm::ArrayRef<std::string> visible) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file)
    return Status::error("internal error: the emitted object cannot be read: " + llvm::toString(file.takeError()));
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!name || !flags) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(flags.takeError());
      return Status::error("internal error: the emitted object has an unreadable symbol");
    }
    bool undefined = *flags & llvm::object::SymbolRef::SF_Undefined, global = *flags & llvm::object::SymbolRef::SF_Global;
    if (undefined && !name->empty() && !llvm::is_contained(kAllowedSymbols, *name))
      return Status::error("internal error: the object needs '" + name->str() + "', expected memcpy, memmove and memset at most");
    if (global && !undefined && !llvm::is_contained(visible, *name)) {
      std::string expected = visible.empty() ? "no exported symbol" : "'" + llvm::join(visible, "', '") + "' only";
      return Status::error("internal error: the object shows '" + name->str() + "', expected " + expected);
    }
  }
  for (const llvm::object::SectionRef &section : (*file)->sections())
    if (llvm::Expected<llvm::StringRef> name = section.getName(); name && (name->starts_with(".init_array") || name->starts_with(".ctors")))
      return Status::error("internal error: the object has constructors, section '" + name->str() + "'");
  return {};
}
