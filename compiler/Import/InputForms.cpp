//===- InputForms.cpp - The shapes and types that inputs may have ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/InputForms.h"

using namespace attune;
using namespace mlir;

/// Returns the forms of masks of |rank| dimensions: the last ones of `[batch, heads, queries, keys]`, of which |heads|,
/// |queries| and |keys| are the sizes or names of dims. In each dimension but keys the size may be 1, for a mask that
/// is broadcast. The first form is broadcast to all heads and, for rank 4, to all queries.
static std::vector<InputForm> broadcastForms(const std::string &heads, const std::string &queries, const std::string &keys, int64_t rank) {
  std::vector<std::string> each[] = {{"batch", "1"}, {"1"}, {"1", queries}, {keys}};
  if (heads != "1")
    each[1].push_back(heads);
  if (rank < 4)
    std::swap(each[2][0], each[2][1]);
  std::vector<std::vector<std::string>> shapes = {{}};
  for (int64_t dim = 4 - rank; dim < 4; ++dim) {
    std::vector<std::vector<std::string>> longer;
    for (const std::string &size : each[dim])
      for (std::vector<std::string> shape : shapes) {
        shape.push_back(size);
        longer.push_back(std::move(shape));
      }
    shapes = std::move(longer);
  }
  std::vector<InputForm> forms;
  for (DType dtype : {DType::F32, DType::I64})
    for (const std::vector<std::string> &shape : shapes)
      forms.push_back({dtype, shape});
  return forms;
}

/// Returns the forms of a mask of |keys|, the default first: one value for each key and, unless |forAllQueries|, also
/// for each of |queries|, or for each query and head. |queries| and |keys| are names of dims.
static std::vector<InputForm> maskForms(const StackSpec &stack, const InputSpec &input, const std::string &queries, const std::string &keys,
                                        bool forAllQueries = false) {
  const std::vector<std::string> padded = {"batch", keys}, pairs = {"batch", queries, keys};
  // A mask that hides queries, too, has one value for each token.
  if (stack.masksQueries)
    return {{DType::I64, padded}};
  // An encoder mask that cross attention uses, too, is the same for all queries; so is a mask whose visible keys are
  // counted.
  bool countsKeys = stack.distanceBias && stack.distanceBias->counting != DistanceBiasSpec::AllKeys;
  if (forAllQueries || countsKeys)
    return {{DType::I64, padded}, {DType::F32, padded}};
  std::string heads = "1";
  if (!stack.layers.empty())
    heads = std::to_string((stack.layers[0].attention ? stack.layers[0].attention : stack.layers[0].cross)->heads);
  std::vector<InputForm> forms;
  if (input.additive)
    forms.push_back({DType::F32, {"batch", "1", "1", keys}});
  else if (input.broadcast)
    forms.push_back({DType::I64, {"batch", "1", queries, keys}});
  if (!input.broadcast)
    forms.insert(forms.end(), {{DType::I64, padded}, {DType::I64, pairs}, {DType::F32, padded}, {DType::F32, pairs}});
  for (int64_t rank : {4, 3, 2, 1})
    if (rank == 4 || input.broadcast)
      llvm::append_range(forms, broadcastForms(heads, queries, keys, rank));
  // Puts the forms with the type of the default form first, so that a request of a rank alone selects this type.
  if (!input.broadcast)
    return forms;
  std::vector<InputForm> sorted;
  for (bool isDefault : {true, false})
    for (const InputForm &form : forms)
      if ((form.dtype == forms.front().dtype) == isDefault)
        sorted.push_back(form);
  return sorted;
}

/// Returns the form of the keys or values that a layer caches, of self-attention (parts 0 and 1) or of cross attention
/// (2 and 3).
static InputForm pastForm(const TransformerSpec &spec, const InputSpec &input) {
  const StackSpec &stack = spec.stack(input.stack);
  int64_t parts = stack.cachedParts(), part = input.member % parts;
  const LayerSpec &layer = stack.layers[input.member / parts];
  const AttentionSpec &attention = part < 2 ? *layer.attention : *layer.cross;
  std::string size = std::to_string(part % 2 == 0 ? spec.keySize(attention) : spec.valueSize(attention));
  return {DType::F32, {"batch", std::to_string(attention.kvHeads), part < 2 ? "past" : "source_length", size}};
}

/// Returns the forms of |input| for a model |spec| without choices.
static std::vector<InputForm> plainForms(const TransformerSpec &spec, const InputSpec &input, bool afterPast) {
  const StackSpec &stack = spec.stack(input.stack);
  const std::string length = spec.lengthDim(input.stack), hidden = std::to_string(stack.hidden);
  const WeightId words = stack.embeddings.words;
  switch (input.role) {
  case InputRole::TokenIds:
  case InputRole::TokenTypes:
  case InputRole::TaskTypes:
  case InputRole::Positions:
    return {{DType::I64, {"batch", length}}};
  case InputRole::Boxes:
    return {{DType::I64, {"batch", length, "4"}}};
  case InputRole::TokenVectors:
    return {{DType::F32, {"batch", length, words == noWeight ? hidden : std::to_string(spec.shapeOf(words)[1])}}};
  case InputRole::Image: {
    const PatchSpec &patches = *stack.embeddings.patches;
    return {{DType::F32, {"batch", std::to_string(patches.channels), std::to_string(patches.height), std::to_string(patches.width)}}};
  }
  case InputRole::AttentionMask:
    return maskForms(stack, input, length, afterPast && input.stack == StackRole::Decoder ? "total_length" : length,
                     spec.hasTwoStacks() && input.stack == StackRole::Encoder);
  case InputRole::EncoderResult:
    return {{DType::F32, {"batch", length, hidden}}};
  case InputRole::TargetToken:
  case InputRole::PromptLength:
    return {{DType::I64, {"batch"}}};
  case InputRole::HeadMask:
  case InputRole::CrossHeadMask: {
    const auto attention = input.role == InputRole::HeadMask ? &LayerSpec::attention : &LayerSpec::cross;
    std::string heads = std::to_string(stack.layers.empty() ? 0 : (stack.layers.front().*attention)->heads);
    return {{DType::F32, {heads}}, {DType::F32, {std::to_string(stack.layers.size()), heads}}};
  }
  case InputRole::Memory:
  case InputRole::MemoryValues:
    return {{DType::F32, {"batch", "source_length", std::to_string(stack.memoryHidden)}}};
  case InputRole::MemoryMask:
    return maskForms(stack, input, length, "source_length");
  case InputRole::PastKeyValues:
    return {pastForm(spec, input)};
  }
  return {};
}

/// Returns |forms| with a dimension of choices after the batch. Leaves out masks that are not one value for each token.
/// Forms that do not begin with the batch stay as they are.
static std::vector<InputForm> formsOfChoices(const InputSpec &input, std::vector<InputForm> forms) {
  llvm::erase_if(forms, [&](const InputForm &form) { return isMask(input) && form.dims.size() != 2; });
  for (InputForm &form : forms)
    if (form.dims.front() == "batch")
      form.dims.insert(form.dims.begin() + 1, "choices");
  return forms;
}

std::vector<InputForm> attune::formsOf(const TransformerSpec &spec, const InputSpec &input, bool afterPast) {
  std::vector<InputForm> forms = plainForms(spec, input, afterPast);
  return spec.choices ? formsOfChoices(input, std::move(forms)) : forms;
}
