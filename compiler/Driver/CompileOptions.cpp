//===- CompileOptions.cpp - What a compilation is asked for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CompileOptions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace attune;

/// "name:rank:dtype" as --inputs takes it.
static std::string formatInput(const InputRequest &input) {
  std::string text = input.name;
  if (!input.sizes.empty())
    text += ":" + llvm::join(llvm::map_range(input.sizes, [](int64_t size) { return size == 1 ? "1" : "?"; }), "x");
  else if (input.rank)
    text += ":" + std::to_string(*input.rank);
  if (input.dtype)
    text += *input.dtype == DType::I64 ? ":i64" : ":f32";
  return text;
}

std::string attune::formatFlags(const CompileOptions &options) {
  std::string text;
  auto add = [&](const std::string &flag, const std::string &value) { text += (text.empty() ? "--" : " --") + flag + "=" + value; };
  if (!options.cpu.empty() || options.triple.empty())
    add("cpu", options.cpu.empty() ? "native" : options.cpu);
  if (!options.triple.empty())
    add("triple", options.triple);
  if (options.target == TargetKind::Cuda) {
    add("target", "cuda");
    add("gpu", formatGpuList(getGpus(options)));
  }
  if (options.padding == Padding::Skip)
    add("padding", "skip");
  if (options.dtype != mlir::xfmr::Precision::F32)
    add("dtype", mlir::xfmr::stringifyPrecision(options.dtype).str());
  if (options.kernels != KernelBackend::Mlir)
    add("kernels", "halide");
  if (options.schedule != "auto")
    add("set", "schedule=" + options.schedule);
  if (!options.inputs.empty())
    add("inputs", llvm::join(llvm::map_range(options.inputs, formatInput), ","));
  if (!options.outputs.empty())
    add("outputs", llvm::join(options.outputs, ","));
  else if (!options.extraOutputs.empty())
    add("extra-outputs", llvm::join(options.extraOutputs, ","));
  if (!options.entries.empty())
    add("entries", llvm::join(options.entries, ","));
  if (!options.pruneHeads.empty())
    add("prune-heads", options.pruneHeads);
  for (const auto &[dim, limit] : options.limits)
    add("limit", dim + "=" + std::to_string(limit));
  return text;
}

std::string attune::toIdentifier(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isAlnum(c) ? c : '_';
  if (result.empty() || llvm::isDigit(result[0]))
    result.insert(0, "_");
  return result;
}

Result<std::string> attune::getModelName(const CompileOptions &options) {
  if (options.name.empty())
    return toIdentifier(options.output.empty() || options.output == "-" ? "model" : llvm::sys::path::stem(options.output));
  if (toIdentifier(options.name) != options.name)
    return Status::error("--name: expected a C identifier, got '" + options.name + "'");
  return options.name;
}

std::vector<GpuArchitecture> attune::getGpus(const CompileOptions &options) {
  return options.gpus.empty() ? getDefaultGpus() : options.gpus;
}

bool attune::emulates(const CompileOptions &options) {
  return llvm::any_of(options.gpus, [](const GpuArchitecture &gpu) { return gpu.isEmulator; });
}

/// Checks that linkers, which go by the extension, are not given something else under it.
static Status checkExtension(const CompileOptions &options) {
  if (options.compileTo && *options.compileTo != Phase::Object)
    return {};
  llvm::StringRef extension = llvm::sys::path::extension(options.output);
  if (extension == ".a")
    return Status::error("-o: expected another extension, '" + options.output +
                         "' names an archive; write an object and put it into one, ar rcs OUT.a OUT.o");
  if (extension == ".so" && options.emit != EmitKind::Shared)
    return Status::error("-o: '" + options.output + "' names a shared object, expected --emit=shared beside it or the extension .o");
  return {};
}

Status attune::checkFlags(const CompileOptions &options) {
  if (Status status = checkExtension(options); status.failed())
    return status;
  if (options.target == TargetKind::Cpu) {
    if (options.emit == EmitKind::Ptx)
      return Status::error("--emit: 'ptx' is only for --target=cuda");
    if (options.dtype == mlir::xfmr::Precision::F16)
      return Status::error("--dtype=f16: only with --target=cuda, expected f32, bf16 or int8");
    return options.gpus.empty() ? Status() : Status::error("--gpu: only with --target=cuda");
  }
  if (emulates(options) && options.emit == EmitKind::Ptx)
    return Status::error("--emit: 'ptx' is for GPUs, not for --gpu=emulator");
  if (options.kernels != KernelBackend::Mlir)
    return Status::error("--kernels=halide: only with --target=cpu");
  if (options.dtype == mlir::xfmr::Precision::Int8)
    return Status::error("--dtype=" + mlir::xfmr::stringifyPrecision(options.dtype).str() +
                         ": not implemented for --target=cuda, expected f32, bf16 or f16");
  return {};
}
