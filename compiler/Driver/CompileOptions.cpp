//===- CompileOptions.cpp - The options of a compilation ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace attune;

/// Formats |input| as --inputs takes it: "name:rank:dtype", or "name:1x?:dtype" if |input| has sizes. Omits the parts
/// that |input| does not have.
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

std::string attune::formatAdapter(const AdapterRequest &adapter) {
  // The shortest text that reads back as the same number.
  return adapter.folder + (adapter.scale == 1 ? "" : ":" + Json(adapter.scale).dump());
}

std::string attune::formatFlags(const CompileOptions &options, const Target &target) {
  std::string text;
  auto add = [&](const std::string &flag, const std::string &value) { text += (text.empty() ? "--" : " --") + flag + "=" + value; };
  if (!options.cpu.empty() || options.triple.empty())
    add("cpu", options.cpu.empty() ? "native" : options.cpu);
  if (!options.triple.empty())
    add("triple", options.triple);
  if (std::string flags = target.flags(); !flags.empty())
    text += (text.empty() ? "" : " ") + flags;
  if (!options.architecture.empty())
    add("architecture", options.architecture);
  for (const AdapterRequest &adapter : options.adapters)
    add("adapter", formatAdapter(adapter));
  if (options.padding == Padding::Skip)
    add("padding", "skip");
  if (target.precision() != mlir::xfmr::Precision::F32)
    add("dtype", mlir::xfmr::stringifyPrecision(target.precision()).str());
  if (!target.weightFormats().isNative())
    add("weights-format", target.weightFormats().str());
  if (target.cachePrecision() != mlir::xfmr::Precision::F32)
    add("cache-dtype", mlir::xfmr::stringifyPrecision(target.cachePrecision()).str());
  if (!options.calibrate.empty())
    add("calibrate", options.calibrate);
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
  if (options.ranks > 1)
    add("ranks", std::to_string(options.ranks));
  for (const auto &[dim, limit] : options.limits)
    add("limit", dim + "=" + std::to_string(limit));
  if (options.debugInfo)
    text += text.empty() ? "-g" : " -g";
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

/// Checks that the extension of the output fits the kind of file that --emit asks for, since linkers treat files by
/// their extension.
Status attune::checkFlags(const CompileOptions &options) {
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
