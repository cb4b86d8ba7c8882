//===- ImportModel.cpp - A model folder as a module of the xfmr dialect ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/ImportModel.h"

#include "compiler/Import/EntryBuilder.h"
#include "compiler/Import/SentenceEmbedding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

#include <array>

using namespace attune;
using namespace mlir;

static const std::string &nameOf(const InputRequest &request) { return request.name; }

/// Lowers the bound |most| to |limit| if |limit| is less. In both, 0 means that there is no bound.
static void lower(int64_t &most, int64_t limit) { most = most == 0 ? limit : limit == 0 ? most : std::min(most, limit); }

/// Returns the largest value of each dimension of inputs, by name: the limit in |options| if there is one, else that of
/// the configuration; 0 means no limit. |caches| is true if the model has entries with caches, |afterPast| if keys of
/// earlier tokens are inputs of `forward`. Fails if a limit in |options| is for an unknown dimension, is less than 1 or
/// is more than that of the configuration.
static Result<std::map<std::string, int64_t>> resolveLimits(const TransformerSpec &spec, const ImportOptions &options, bool caches,
                                                            bool afterPast) {
  std::map<std::string, int64_t> limits = {{"batch", 0}, {"length", 0}};
  for (StackRole role : {StackRole::Encoder, StackRole::Decoder})
    if (role == StackRole::Encoder ? bool(spec.encoder) : bool(spec.decoder))
      lower(limits[spec.lengthDim(role)], spec.stack(role).maxLength);
  if (llvm::any_of(spec.inputs, [](const InputSpec &input) { return input.role == InputRole::Memory; }))
    limits["source_length"];
  if (caches || afterPast)
    limits["past"] = spec.decoder->maxLength;
  if (afterPast)
    limits["total_length"] = spec.decoder->maxLength;
  std::string known;
  for (const auto &[dim, most] : limits)
    known += (known.empty() ? "" : ", ") + dim;
  for (const auto &[dim, limit] : options.limits) {
    auto found = limits.find(dim);
    if (found == limits.end())
      return Status::error("limit '" + dim + "': expected one of the model's dimensions " + known);
    int64_t &most = found->second;
    if (limit < 1 || (most && limit > most))
      return Status::error("limit '" + dim + "': expected " +
                           (most ? "1.." + std::to_string(most) + ", the positions of the model" : "at least 1") + ", got " +
                           std::to_string(limit));
    most = limit;
  }
  return limits;
}

/// Returns true if a decoder without an encoder has cross attention, but no input gives it encoder states: neither a
/// requested one nor, if |options| requests no inputs, a standard one.
static bool lacksMemory(const TransformerSpec &spec, const ImportOptions &options) {
  auto isMemory = [&](const InputSpec &input) {
    bool requested = options.inputs.empty() ? input.standard : llvm::is_contained(llvm::map_range(options.inputs, nameOf), input.name);
    return input.role == InputRole::Memory && requested;
  };
  const StackSpec &stack = spec.stack(spec.mainStack());
  bool own = llvm::any_of(stack.layers, [](const LayerSpec &layer) { return layer.attention && layer.cross; });
  return own && !spec.encoder && llvm::none_of(spec.inputs, isMemory);
}

static bool hasPast(const std::vector<EntryInput> &inputs) {
  return llvm::any_of(inputs, [](const EntryInput &input) { return input.spec->role == InputRole::PastKeyValues; });
}

/// Checks that |inputs| suffice for |outputs| of a model with two stacks. A head that selects the last end token
/// (LastEos) needs the encoder's ids. Main outputs of the encoder need its tokens or its result as an input. Outputs of
/// the encoder's layers need its tokens, and exclude its result as an input.
static Status checkGivenResult(const TransformerSpec &spec, const std::vector<EntryInput> &inputs,
                               const std::vector<EntryOutput> &outputs) {
  if (!spec.hasTwoStacks())
    return {};
  auto looksForEnds = [](const HeadStep &step) { return step.kind == HeadStep::LastEos; };
  auto find = [&](InputRole role, StackRole stack) {
    return llvm::find_if(inputs, [=](const EntryInput &input) { return input.spec->role == role && input.spec->stack == stack; });
  };
  auto given = find(InputRole::EncoderResult, StackRole::Encoder);
  bool runs = given != inputs.end() || find(InputRole::TokenIds, StackRole::Encoder) != inputs.end() ||
              find(InputRole::TokenVectors, StackRole::Encoder) != inputs.end();
  for (const EntryOutput &output : outputs) {
    bool isMain = output.kind == EntryOutput::Main;
    StackRole stack = isMain ? spec.outputs[*output.index].stack.value_or(StackRole::Decoder) : output.stack;
    if (isMain && llvm::any_of(spec.outputs[*output.index].steps, looksForEnds) &&
        find(InputRole::TokenIds, StackRole::Encoder) == inputs.end())
      return Status::error("output '" + output.name + "': expected the input 'input_ids', whose ends it is about");
    if (stack != StackRole::Encoder)
      continue;
    if (!runs)
      return Status::error("output '" + output.name + "': expected none of the encoder, which has no inputs");
    if (!isMain && given != inputs.end())
      return Status::error("output '" + output.name + "': expected none of the encoder's layers, as '" + given->spec->name + "' is given");
  }
  return {};
}

/// Checks that the model can have those of the entries `prefill`, `extend` and `decode` that |options| requests: the
/// decoder must continue sequences (checkContinues) and, if |options| requests the output `logits`, the class must have
/// it.
static Status checkAsked(const TransformerSpec &spec, const ImportOptions &options) {
  if (llvm::none_of(std::array{"prefill", "extend", "decode"}, [&](StringRef name) { return llvm::is_contained(options.entries, name); }))
    return {};
  if (Status status = checkContinues(spec); status.failed())
    return status;
  if (!llvm::is_contained(options.outputs, "logits") ||
      llvm::any_of(spec.outputs, [](const OutputSpec &output) { return output.name == "logits"; }))
    return {};
  std::string names;
  for (const OutputSpec &output : spec.outputs)
    names += (names.empty() ? "" : ", ") + output.name;
  return Status::error("'" + spec.architecture +
                       "' has no language-model head, whose output 'logits' generation needs; its outputs: " + names);
}

/// Sets the attribute `#xfmr.model` of |module|. Dimensions without a limit (0 in |limits|) do not occur in it.
static void setModuleAttributes(ModuleOp module, const TransformerSpec &spec, const std::map<std::string, int64_t> &limits) {
  Builder builder(module.getContext());
  NamedAttrList extents;
  for (const auto &[dim, limit] : limits)
    if (limit)
      extents.set(dim, builder.getI64IntegerAttr(limit));
  SmallVector<StringRef> labels(spec.labels.begin(), spec.labels.end());
  auto model = xfmr::ModelAttr::get(builder.getContext(), builder.getStringAttr(spec.family), builder.getStringAttr(spec.architecture),
                                    extents.empty() ? DictionaryAttr() : extents.getDictionary(builder.getContext()),
                                    labels.empty() ? ArrayAttr() : builder.getStrArrayAttr(labels), DictionaryAttr());
  xfmr::setModel(module, model);
}

/// Emits the entry `embed` of |spec| into |module|. The entry skips padding (Padding::Skip).
static Status emitEmbedding(const TransformerSpec &spec, WeightTable &weights, ModelLayers &layers, ModuleOp module) {
  Result<TransformerSpec> embedding = makeEmbeddingSpec(spec);
  if (!embedding)
    return embedding.status();
  ImportOptions options;
  options.padding = Padding::Skip;
  Result<std::vector<EntryInput>> inputs = resolveInputs(*embedding, options);
  if (!inputs)
    return inputs.status();
  Result<std::vector<EntryOutput>> outputs = resolveOutputs(*embedding, options);
  if (!outputs)
    return outputs.status();
  EntryBuilder(*embedding, *inputs, *outputs, options.padding, weights, layers, module).emit(embedEntry);
  return {};
}

Result<OwningOpRef<ModuleOp>> attune::importModel(MLIRContext &context, const TransformerSpec &spec, const TensorProvider &tensors,
                                                  const ImportOptions &options) {
  if (Status status = checkAsked(spec, options); status.failed())
    return status;
  // As in transformers, a decoder without encoder states computes no cross attention.
  if (lacksMemory(spec, options)) {
    TransformerSpec alone = spec;
    for (LayerSpec &layer : alone.decoder->layers)
      layer.cross.reset();
    llvm::erase_if(alone.inputs, [](const InputSpec &input) { return input.role == InputRole::CrossHeadMask; });
    declarePast(alone);
    return importModel(context, alone, tensors, options);
  }
  Result<std::vector<EntryInput>> inputs = resolveInputs(spec, options);
  if (!inputs)
    return inputs.status();
  Result<std::vector<EntryOutput>> outputs = resolveOutputs(spec, options);
  if (!outputs)
    return outputs.status();
  if (Status status = checkGivenResult(spec, *inputs, *outputs); status.failed())
    return status;
  auto isAsked = [&](StringRef name) { return llvm::is_contained(options.entries, name); };
  Result<std::vector<CachingEntry>> planned =
      planCacheEntries(spec, *inputs, *outputs, /*positionsGiven=*/!options.inputs.empty(), options.padding);
  // A model that cannot have entries with caches is an error only if |options| requests one of them.
  if (!planned && llvm::any_of(std::array{"prefill", "extend", "decode"}, isAsked))
    return planned.status();
  const std::vector<CachingEntry> cacheEntries = planned ? std::move(*planned) : std::vector<CachingEntry>();
  Result<std::map<std::string, int64_t>> limits = resolveLimits(spec, options, !cacheEntries.empty(), hasPast(*inputs));
  if (!limits)
    return limits.status();

  context.loadDialect<xfmr::XfmrDialect, func::FuncDialect, arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(NameLoc::get(StringAttr::get(&context, spec.architecture)));
  setModuleAttributes(*module, spec, *limits);
  WeightTable weights(spec, tensors, *module);
  ModelLayers layers(spec, weights);
  bool all = !isAsked("forward") && !isAsked(embedEntry) &&
             llvm::none_of(cacheEntries, [&](const CachingEntry &entry) { return isAsked(entry.name); });
  if (all || isAsked("forward"))
    EntryBuilder(spec, *inputs, *outputs, options.padding, weights, layers, *module).emit("forward");
  for (const CachingEntry &entry : cacheEntries) {
    if (!all && !isAsked(entry.name))
      continue;
    Padding padding = entry.kind == CachingEntry::Encode                                    ? options.padding
                      : entry.kind == CachingEntry::Prefill && !spec.decoder->countsPadding ? Padding::Skip
                                                                                            : Padding::Compute;
    EntryBuilder(spec, entry.inputs, entry.outputs, padding, weights, layers, *module).emit(entry);
  }
  if (isAsked(embedEntry) || (all && spec.embedding))
    if (Status status = emitEmbedding(spec, weights, layers, *module); status.failed())
      return status;
  if (weights.status().failed())
    return weights.status();
  // Importers build only valid IR. If they do not, the verifier has printed the details before this message.
  if (failed(verify(*module)))
    return Status::error("the imported module is invalid (this is a bug of the importer)");
  return module;
}
