//===- HalideProcesses.cpp - Processes that compile kernels ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halide runs in a separate process, since its LLVM and ours must not share a process. Halide emits bitcode, which our
// LLVM reads and optimizes with the rest of the model.
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/HalideProcesses.h"
#include "compiler/Support/CompilerFile.h"
#include "compiler/Target/Halide/HalideOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <map>

using namespace attune;

/// The seconds after which a process that still runs is killed.
static constexpr unsigned kSecondsToWait = 300;
/// The maximum number of processes that share the kernels of a model.
static constexpr size_t kProcesses = 4;
/// The size of Halide's halide_buffer_t and the offset of its member `host`, the address of the data, both in bytes.
/// Kernels read no other member, since sizes and strides are constants or scalar arguments.
static constexpr uint64_t kBufferBytes = 56, kHostOffset = 16;

Result<std::string> attune::findHalideTool() {
  llvm::StringRef folder = llvm::sys::path::parent_path(compilerFile());
  if (auto found = llvm::sys::findProgramByName("attune-halide-gen", {folder}))
    return *found;
  return Status::error("this build has no Halide: expected 'attune-halide-gen' beside the compiler, in '" + folder.str() + "'");
}

std::vector<std::string> attune::describeHalideKernels(mlir::ModuleOp module) {
  llvm::StringSet<> known;
  std::vector<std::string> descriptions;
  module.walk([&](halide::TileOp op) {
    if (known.insert(op.getKernel()).second)
      descriptions.push_back(op.getDescription().str());
  });
  return descriptions;
}

/// Joins |descriptions| to at most kProcesses texts of about the same length. The length of a text is an estimate of
/// its compile time.
static std::vector<std::string> shareOut(const std::vector<std::string> &descriptions) {
  std::vector<const std::string *> longestFirst;
  for (const std::string &description : descriptions)
    longestFirst.push_back(&description);
  llvm::stable_sort(longestFirst, [](const std::string *a, const std::string *b) { return a->size() > b->size(); });
  std::vector<std::string> parts(std::min(descriptions.size(), kProcesses));
  for (const std::string *description : longestFirst)
    *llvm::min_element(parts, [](const std::string &a, const std::string &b) { return a.size() < b.size(); }) += *description + "\n";
  return parts;
}

Status HalideProcesses::startProcess(const std::string &tool, const std::string &descriptions, const HalideOptions &options) {
  Result<MemoryFile> kernels = MemoryFile::create("attune-halide.hk", descriptions), bitcode = MemoryFile::create("attune-halide.bc"),
                     log = MemoryFile::create("attune-halide.log");
  for (const Result<MemoryFile> *file : {&kernels, &bitcode, &log})
    if (!*file)
      return file->status();
  SubprocessOptions program;
  program.program = tool;
  program.arguments = {kernels->path(),
                       "--emit=bitcode",
                       "--vector-bits=" + std::to_string(options.tiles.vectorBits),
                       "--schedule=" + options.schedule,
                       "--tile=" + std::to_string(options.tiles.rows) + "x" + std::to_string(options.tiles.columns),
                       "--prefetch-ahead=" + std::to_string(options.tiles.prefetchAhead),
                       "-o",
                       bitcode->path()};
  program.inherited = {kernels->descriptor(), bitcode->descriptor()};
  program.output = program.errors = log->descriptor();
  Result<Subprocess> process = Subprocess::start(program);
  if (!process)
    return process.status();
  processes.push_back({std::move(*process), std::move(*kernels), std::move(*bitcode), std::move(*log)});
  return {};
}

Status HalideProcesses::start(const std::string &tool, const std::vector<std::string> &descriptions, const HalideOptions &options) {
  for (const std::string &part : shareOut(descriptions))
    if (Status status = startProcess(tool, part, options); status.failed())
      return status;
  return {};
}

Result<std::vector<std::string>> HalideProcesses::finish() {
  std::vector<std::string> bitcode;
  for (Process &process : processes) {
    SubprocessEnd end = process.process.wait(kSecondsToWait);
    Result<std::string> bytes = (end.succeeded() ? process.bitcode : process.log).read();
    if (!bytes)
      return bytes.status();
    // If the program failed with a message, the descriptions are wrong, which is an error of the compiler. Without a
    // message, the program was killed or met a limit of the system.
    if (std::string line = llvm::StringRef(*bytes).trim().split('\n').first.str(); !end.succeeded()) {
      // This message is not the program's: the dynamic loader prints it if Halide's library is missing.
      if (llvm::StringRef(line).contains("error while loading shared libraries"))
        return Status::error("'attune-halide-gen' does not start: expected Halide to be installed (on Debian: libhalide14-0), got '" +
                             line + "'");
      return Status::error(line.empty() ? "--kernels=halide: attune-halide-gen: " + end.text() : "internal error: " + line);
    }
    bitcode.push_back(std::move(*bytes));
  }
  processes.clear();
  return bitcode;
}

/// Defines |caller|, a function of addresses and 32-bit integers. Its body calls |kernel| by Halide's calling
/// convention, with a halide_buffer_t on the stack in place of each address.
static void defineCaller(llvm::Function &caller, llvm::Function &kernel) {
  llvm::LLVMContext &context = caller.getContext();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", &caller));
  auto *buffer = llvm::ArrayType::get(builder.getInt8Ty(), kBufferBytes);
  llvm::SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : caller.args()) {
    if (!argument.getType()->isPointerTy()) {
      arguments.push_back(&argument);
      continue;
    }
    llvm::AllocaInst *memory = builder.CreateAlloca(buffer);
    memory->setAlignment(llvm::Align(8));
    builder.CreateAlignedStore(&argument, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, kHostOffset), llvm::Align(8));
    arguments.push_back(memory);
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
}

/// Makes prefetches load into the L2 cache. Halide emits prefetches of data that is read once (prefetchnta), but every
/// tile of rows reads a weight panel again.
static void keepPrefetched(llvm::Module &kernels) {
  for (llvm::Function &function : kernels)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction); call && call->getIntrinsicID() == llvm::Intrinsic::prefetch)
        call->setArgOperand(2, llvm::ConstantInt::get(call->getArgOperand(2)->getType(), 2));
}

Status attune::linkHalideKernels(llvm::Module &model, const std::string &bitcode) {
  auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "kernels"), model.getContext());
  if (!parsed)
    return Status::error("internal error: the kernels' bitcode cannot be read: " + llvm::toString(parsed.takeError()));
  llvm::Module &kernels = **parsed;
  kernels.setTargetTriple(model.getTargetTriple());
  kernels.setDataLayout(model.getDataLayout());
  // The module flags are settings of Halide's code generator, which do not apply to |model|.
  if (llvm::NamedMDNode *flags = kernels.getModuleFlagsMetadata())
    kernels.eraseNamedMetadata(flags);
  keepPrefetched(kernels);
  std::vector<std::string> names;
  for (llvm::Function &function : kernels)
    if (!function.isDeclaration() && !function.hasLocalLinkage())
      names.push_back(function.getName().str());
  std::map<std::string, llvm::Function *> callers;
  for (const std::string &name : names)
    if (llvm::Function *caller = model.getFunction(name)) {
      caller->setName("call_" + name);
      callers[name] = caller;
    }
  if (llvm::Linker::linkModules(model, std::move(*parsed)))
    return Status::error("internal error: the kernels' bitcode does not fit the model");
  for (const std::string &name : names) {
    llvm::Function *function = model.getFunction(name);
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    function->setComdat(nullptr);
    if (llvm::Function *caller = callers[name]) {
      if (caller->arg_size() != function->arg_size())
        return Status::error("internal error: kernel '" + name + "' takes " + std::to_string(function->arg_size()) +
                             " arguments, expected " + std::to_string(caller->arg_size()));
      defineCaller(*caller, *function);
      caller->setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  }
  return {};
}
