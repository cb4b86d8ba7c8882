//===- HalideKernels.cpp - Code of kernels made by Halide ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halide runs in a process of its own, since its LLVM and ours must not share one, and gives bitcode, which ours reads and optimises with
// the rest of the model.
//===----------------------------------------------------------------------===//

#include "compiler/Driver/HalideKernels.h"
#include "compiler/Target/Halide/HalideOps.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace attune;

/// What the tool may take for all kernels of a model before it is stopped.
static constexpr unsigned kSecondsToWait = 300;
/// Of Halide's halide_buffer_t: with shapes fixed in the code, only the address is read.
static constexpr uint64_t kBufferBytes = 56, kHostOffset = 16;

Result<std::string> attune::findHalideTool() {
  static int here;
  std::string compiler = llvm::sys::fs::getMainExecutable("attune", &here);
  llvm::StringRef folder = llvm::sys::path::parent_path(compiler);
  if (auto found = llvm::sys::findProgramByName("attune-halide-gen", {folder}))
    return *found;
  return Status::error("this build has no Halide: expected 'attune-halide-gen' beside the compiler, in '" + folder.str() + "'");
}

std::string attune::describeHalideKernels(mlir::ModuleOp module) {
  llvm::StringSet<> known;
  std::string text;
  module.walk([&](halide::TileOp op) {
    if (known.insert(op.getKernel()).second)
      text += op.getDescription().str() + "\n";
  });
  return text;
}

/// A file that exists as long as this does.
static Result<std::string> createTemporary(llvm::StringRef extension) {
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("attune-halide", extension, path))
    return Status::error("cannot create a temporary file");
  return path.str().str();
}

static std::string readAll(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

Result<std::string> attune::compileHalideKernels(const std::string &tool, const std::string &descriptions, int64_t vectorBits,
                                                 const CpuStrategy &strategy, const std::string &schedule) {
  std::vector<std::string> files;
  llvm::scope_exit cleanup([&] {
    for (const std::string &file : files)
      llvm::sys::fs::remove(file);
  });
  for (llvm::StringRef extension : {"hk", "bc", "log"}) {
    Result<std::string> file = createTemporary(extension);
    if (!file)
      return file.status();
    files.push_back(*file);
  }
  std::error_code error;
  llvm::raw_fd_ostream stream(files[0], error);
  stream << descriptions;
  stream.close();
  bool failed = error || stream.has_error();
  stream.clear_error();
  if (failed)
    return Status::error("cannot write '" + files[0] + "'");
  std::string bits = "--vector-bits=" + std::to_string(vectorBits), how = "--schedule=" + schedule,
              tile = "--tile=" + std::to_string(strategy.registerRows) + "x" + std::to_string(strategy.panelWidth);
  llvm::StringRef arguments[] = {tool, files[0], "--emit=bitcode", bits, how, tile, "-o", files[1]};
  std::string message;
  int status =
      llvm::sys::ExecuteAndWait(tool, arguments, std::nullopt, {llvm::StringRef(""), llvm::StringRef(files[2]), llvm::StringRef(files[2])},
                                kSecondsToWait, 0, &message);
  if (status != 0) {
    std::string line = llvm::StringRef(readAll(files[2])).trim().split('\n').first.str();
    return Status::error("internal error: " + (!line.empty()      ? line
                                               : !message.empty() ? tool + ": " + message
                                                                  : tool + " failed with status " + std::to_string(status)));
  }
  return readAll(files[1]);
}

/// Gives |caller|, which takes addresses and numbers, a body that calls |kernel| the way Halide wants to be called.
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

/// Halide's prefetches ask for lines to be thrown away after one use, but a panel is read by every tile of rows: into the second-level cache.
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
  // Settings of Halide's own code generator.
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
