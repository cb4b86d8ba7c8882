//===- CompiledCall.cpp - Objects of a model, executed --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/CompiledCall.h"
#include "compiler/Object/Emit.h"
#include "compiler/Tools/StepCall.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

Result<TemporaryFolder> TemporaryFolder::create() {
  llvm::SmallString<128> parent;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, parent);
  const std::string prefix = "attune-bisect.";
  removeLeftovers(std::string(parent), prefix, TemporaryKind::Folder);
  for (;;) {
    TemporaryName name(makeTemporaryName(std::string(parent) + "/" + prefix), TemporaryKind::Folder);
    if (std::error_code error = llvm::sys::fs::create_directory(name.path(), /*IgnoreExisting=*/false, llvm::sys::fs::owner_all))
      return Status::error("'" + std::string(name.path()) + "': " + error.message());
    int fd = ::open(name.path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
      return Status::error("'" + std::string(name.path()) + "': " + std::strerror(errno));
    // Another process that looks for leftovers may have removed the folder before it was locked.
    struct stat info;
    if (fd >= 0 && lockTemporary(fd) && ::fstat(fd, &info) == 0 && info.st_nlink != 0)
      return TemporaryFolder(std::move(name), fd);
    if (fd >= 0)
      ::close(fd);
  }
}

TemporaryFolder::~TemporaryFolder() {
  if (!path)
    return;
  llvm::sys::fs::remove_directories(path.path());
  ::close(lock);
}

Result<std::unique_ptr<CompiledCall>> CompiledCall::create(const LoadedModel &model, const CompileOptions &options,
                                                           const CompileListener &listener, int64_t threads) {
  Result<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.status();
  std::unique_ptr<CompiledCall> call(new CompiledCall(std::move(*folder), options, listener, threads));
  Result<HostMachine> machine = HostMachine::create(options.cpu, options.triple);
  if (!machine)
    return machine.status();
  call->compiled.machine = std::move(*machine);
  Result<TranslatedCode> code = model.compileTo(call->folder.file("model.so"));
  if (code) {
    call->compiled.beforePasses = std::move(code->beforePasses);
    call->compiled.afterPasses = std::move(code->afterPasses);
    return call;
  }
  call->problem = code.status();
  Result<std::string> text = model.compileToLLVM();
  if (!text)
    return text.status();
  call->compiled.afterPasses = std::move(*text);
  return call;
}

const ModelCode &CompiledCall::code(const PlainInputs &inputs) {
  compiled.execute = [this, &inputs](const std::string &object) { return execute(object, inputs); };
  return compiled;
}

/// Writes |bytes| to a new file |path|.
static Status writeBytes(const std::string &path, const std::string &bytes) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.status();
  if (Status status = file->write(bytes.data(), bytes.size()); status.failed())
    return status;
  return file->commit();
}

Result<std::vector<OwnedTensor>> CompiledCall::execute(const std::string &object, const PlainInputs &inputs) const {
  if (problem.failed())
    return problem;
  std::string path = folder.file("model.so");
  if (!object.empty()) {
    Result<std::string> linked = linkShared(object);
    if (!linked)
      return linked.status();
    path = folder.file("variant.so");
    if (Status status = writeBytes(path, *linked); status.failed())
      return status;
  }
  return executeShared(path, folder.file("model.weights"), inputs);
}

Result<std::vector<OwnedTensor>> CompiledCall::runAlone(mlir::ModuleOp ir, const PlainInputs &inputs) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  ir.print(stream);
  CompileOptions alone;
  alone.model = folder.file("operation.mlir");
  if (Status status = writeBytes(alone.model, text); status.failed())
    return status;
  alone.weights = options.model;
  alone.output = folder.file("operation.so");
  alone.emit = EmitKind::Shared;
  alone.cpu = options.cpu;
  alone.triple = options.triple;
  alone.target = options.target;
  CompileListener quiet = listener;
  quiet.warning = quiet.notice = nullptr;
  if (Status status = compileModel(alone, quiet); status.failed())
    return status;
  return executeShared(alone.output, folder.file("operation.weights"), inputs);
}

Result<std::vector<OwnedTensor>> CompiledCall::executeShared(const std::string &path, const std::string &weights,
                                                             const PlainInputs &inputs) const {
  Result<Artifact> artifact = Artifact::openShared(path, weights, "the compiled model");
  if (!artifact)
    return artifact.status();
  std::vector<TensorView> views;
  for (const OwnedTensor &tensor : inputs.tensors)
    views.push_back(viewOf(tensor));
  if (!inputs.steps.empty())
    return runSteps(*artifact, {views, inputs.steps, {}, threads});
  Result<EntryCall> call = EntryCall::prepare(*artifact, "forward", views, threads);
  if (!call)
    return call.status();
  if (Status status = call->run(); status.failed())
    return status;
  return call->outputs({});
}
