//===- CompileFlags.cpp - Compile flags of the command line ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/CompileFlags.h"
#include "attune/ranks.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace attune;

void attune::addChoice(FlagTable &flags, const std::string &name, const std::string &choices, const std::string &help,
                       std::function<Status(const std::string &)> read) {
  flags.addCustom(name, choices, help, [choices, read = std::move(read)](const std::string &value) {
    llvm::SmallVector<llvm::StringRef> words;
    llvm::StringRef(choices).split(words, '|');
    if (!llvm::is_contained(words, value))
      return Status::error("expected " + llvm::join(words, ", ") + ", got '" + value + "'");
    return read(value);
  });
}

static Status readLimit(const std::string &text, std::map<std::string, int64_t> &limits) {
  auto [dim, value] = llvm::StringRef(text).split('=');
  Result<int64_t> number = parseInteger(value.str());
  if (!llvm::is_contained({"batch", "length", "source_length", "past"}, dim))
    return Status::error("expected batch, length, source_length or past before '=', got '" + text + "'");
  if (!number || *number < 1)
    return Status::error("expected a positive integer after '=', got '" + text + "'");
  limits[dim.str()] = *number;
  return {};
}

/// Reads the value of --weights-format.
static Status readWeightsFormat(const std::string &text, CompileOptions &options) {
  llvm::StringRef first = llvm::StringRef(text).split(',').first;
  options.target.choosesFormat = first == "auto";
  std::string error;
  std::optional<mlir::xfmr::WeightFormats> formats =
      mlir::xfmr::WeightFormats::parse(options.target.choosesFormat ? "native" + text.substr(first.size()) : text, error);
  if (text.empty() || !formats)
    return Status::error(text.empty() ? "expected a format such as int4:32, got ''" : error);
  options.target.weightFormats = std::move(*formats);
  return {};
}

void attune::addAdapterFlag(FlagTable &table, std::vector<AdapterRequest> &adapters) {
  table.addCustom("adapter", "DIR[:SCALE]", "a LoRA adapter to merge, as PEFT writes it; repeatable",
                  [&adapters](const std::string &value) {
                    AdapterRequest adapter = parseAdapter(value);
                    if (adapter.folder.empty() || !std::isfinite(adapter.scale))
                      return Status::error("expected a folder and perhaps ':' and a number, got '" + value + "'");
                    adapters.push_back(std::move(adapter));
                    return Status();
                  });
}

void attune::addRanksFlag(FlagTable &table, CompileOptions &options) {
  table.addCustom("ranks", "N", "divide the model among N processes, with a weights file for each (1)",
                  [&options](const std::string &value) {
                    Result<int64_t> ranks = parseInteger(value);
                    if (!ranks || *ranks < 1 || *ranks > ATTUNE_MAX_RANKS)
                      return Status::error("expected 1 to " + std::to_string(ATTUNE_MAX_RANKS) + ", got '" + value + "'");
                    options.ranks = *ranks;
                    return Status();
                  });
}

void attune::addCompileFlags(FlagTable &table, CompileOptions &options, llvm::ArrayRef<llvm::StringRef> omitted) {
  auto wanted = [&](llvm::StringRef name) { return !llvm::is_contained(omitted, name); };
  table.addString("architecture", "CLASS", options.architecture, "the class to compile, e.g. BertModel (that of config.json)");
  addAdapterFlag(table, options.adapters);
  table.addString("target", "cpu|cuda", options.target.name, "what the code runs on (cpu)");
  table.addString("cpu", "NAME", options.cpu,
                  "native, x86-64-v3, x86-64-v4 or an LLVM name, with ,+feature,-feature behind it (native; for another triple its least)");
  table.addString("triple", "T", options.triple, "target triple: x86_64, aarch64 or riscv64 (this machine's)");
  table.addString("gpu", "LIST", options.target.gpu, "GPUs that get code of their own, for --target=cuda (sm_80,sm_90a)");
  if (wanted("dtype"))
    addChoice(table, "dtype", "f32|bf16|f16|int8", "type of the matrix products (f32); f16 for --target=cuda, int8 for cpu",
              [&options](const std::string &value) {
                options.target.precision = *mlir::xfmr::symbolizePrecision(value);
                return Status();
              });
  table.addCustom("weights-format", "SPEC", "native, auto, bf16, f16, int8:G, int4:G, and then NAME=FORMAT for some weights (native)",
                  [&options](const std::string &value) { return readWeightsFormat(value, options); });
  table.addCustom("cache-dtype", "TYPE", "type of caches: f32, bf16, f16 or int8 (f32)", [&options](const std::string &value) {
    std::optional<mlir::xfmr::Precision> known = mlir::xfmr::symbolizePrecision(value);
    if (!known)
      return Status::error("expected f32, bf16, f16 or int8, got '" + value + "'");
    options.target.cachePrecision = *known;
    return Status();
  });
  table.addString("calibrate", "FILE", options.calibrate,
                  "choose quantized weights by sample texts or rows of ids, a line each, for a --weights-format");
  table.addString("kernels", "mlir|halide", options.target.kernels, "what makes the kernels (mlir)");
  if (wanted("set"))
    table.addCustom("set", "KEY=VALUE", "schedule=none: Halide's kernels unscheduled, as a reference",
                    [&options](const std::string &value) {
                      size_t end = value.find('=');
                      if (end == std::string::npos)
                        return Status::error("expected KEY=VALUE, got '" + value + "'");
                      options.target.settings[value.substr(0, end)] = value.substr(end + 1);
                      return Status();
                    });
  if (wanted("padding"))
    addChoice(table, "padding", "compute|skip", "what happens to masked tokens (compute)", [&options](const std::string &value) {
      options.padding = value == "skip" ? Padding::Skip : Padding::Compute;
      return Status();
    });
  if (wanted("inputs"))
    table.addCustom("inputs", "LIST", "names, with rank where it matters: head_mask:2", [&options](const std::string &value) {
      Result<std::vector<InputRequest>> list = parseInputList(value);
      if (!list)
        return list.status();
      options.inputs = std::move(*list);
      return Status();
    });
  if (wanted("outputs"))
    table.addList("outputs", "LIST", options.outputs, "names or groups, e.g. hidden_states");
  table.addCustom("limit", "DIM=N", "largest batch, length, ...; repeatable",
                  [&options](const std::string &value) { return readLimit(value, options.limits); });
  table.addString("prune-heads", "LIST", options.pruneHeads, "heads to remove, '0:1;1:0,2'");
  table.addString("name", "ID", options.name, "C identifier of the model (the output's stem)");
  table.addString("weights", "FILE|DIR", options.weights, "tensors of a .mlir model");
}
