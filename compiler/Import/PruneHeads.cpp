//===- PruneHeads.cpp - Removing attention heads --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/PruneHeads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace attune;
using llvm::StringRef;

std::vector<int64_t> attune::remainingHeads(const HeadsByLayer &pruned, int64_t layer, int64_t heads) {
  auto found = pruned.find(layer);
  std::vector<int64_t> remaining;
  for (int64_t head = 0; head < heads; ++head)
    if (found == pruned.end() || !llvm::is_contained(found->second, head))
      remaining.push_back(head);
  return remaining;
}

/// Returns the end of a message that says what was expected of |pruned| for |layers| layers of |heads| heads; "" if
/// |pruned| is valid.
static std::string findProblem(const HeadsByLayer &pruned, int64_t layers, int64_t heads) {
  for (const auto &[layer, list] : pruned) {
    if (layer < 0 || layer >= layers)
      return "layers in 0.." + std::to_string(layers - 1) + ", got layer " + std::to_string(layer);
    for (int64_t head : list)
      if (head < 0 || head >= heads)
        return "heads in 0.." + std::to_string(heads - 1) + ", got head " + std::to_string(head) + " of layer " + std::to_string(layer);
    if (remainingHeads(pruned, layer, heads).empty())
      return "one head of layer " + std::to_string(layer) + " to remain";
  }
  return "";
}

HeadsByLayer attune::readPrunedHeads(ConfigReader &reader, int64_t layers, int64_t heads) {
  HeadsByLayer pruned;
  for (const auto &[name, list] : reader.integerLists("pruned_heads")) {
    int64_t layer;
    if (StringRef(name).getAsInteger(10, layer))
      reader.fail("pruned_heads", "numbers of layers as keys");
    else
      pruned[layer] = list;
  }
  if (std::string problem = findProblem(pruned, layers, heads); !problem.empty())
    reader.fail("pruned_heads", problem);
  return pruned;
}

void attune::rejectPrunedHeads(ConfigReader &reader) { reader.reject("pruned_heads", "transformers removes no heads of this family"); }

Result<HeadsByLayer> attune::parsePruneHeads(std::string_view text) {
  HeadsByLayer pruned;
  for (StringRef item : llvm::split(StringRef(text.data(), text.size()), ';')) {
    auto [layerText, list] = item.split(':');
    int64_t layer = 0, head = 0;
    bool wellFormed = !layerText.trim().getAsInteger(10, layer) && !list.empty();
    for (StringRef headText : llvm::split(list, ',')) {
      wellFormed &= !headText.trim().getAsInteger(10, head);
      pruned[layer].push_back(head);
    }
    if (!wellFormed)
      return Status::error("expected LAYER:HEAD,HEAD;..., as in '0:1;1:0,2', got '" + item.str() + "'");
  }
  return pruned;
}

/// Returns the indices of the features of the heads |kept|, which are indices among |heads| heads. All |heads| heads
/// together have |features| features.
static std::vector<int64_t> featuresOf(const std::vector<int64_t> &kept, int64_t heads, int64_t features) {
  int64_t size = features / heads;
  std::vector<int64_t> indices;
  for (int64_t head : kept)
    for (int64_t i = 0; i < size; ++i)
      indices.push_back(head * size + i);
  return indices;
}

/// Removes all heads of |attention| but those with the indices |indices| among its present heads.
static void keepHeads(TransformerSpec &spec, AttentionSpec &attention, const std::vector<int64_t> &indices) {
  for (LinearSpec *linear : {&attention.query, &attention.key, &attention.value}) {
    std::vector<int64_t> rows = featuresOf(indices, attention.heads, spec.shapeOf(linear->weight)[0]);
    linear->weight = spec.select(linear->weight, 0, rows);
    if (linear->bias != noWeight)
      linear->bias = spec.select(linear->bias, 0, rows);
  }
  int64_t headSize = spec.shapeOf(attention.query.weight)[0] / int64_t(indices.size()), columns = headSize * attention.heads;
  for (WeightId *factors : {&attention.queryNorm.factors, &attention.keyNorm.factors})
    if (*factors != noWeight)
      *factors = spec.select(*factors, 0, featuresOf(indices, attention.heads, spec.shapeOf(*factors)[0]));
  if (attention.sinks != noWeight)
    attention.sinks = spec.select(attention.sinks, 0, indices);
  bool shared = attention.relativeQuery == attention.relativeKey;
  for (WeightId *table : {&attention.relativeKey, &attention.relativeQuery})
    if (*table != noWeight && headSize != columns && spec.shapeOf(*table)[1] == columns)
      *table = spec.select(*table, 1, featuresOf(indices, attention.heads, columns));
  if (shared)
    attention.relativeQuery = attention.relativeKey;
  WeightId &output = attention.output.weight;
  output = spec.select(output, 1, featuresOf(indices, attention.heads, spec.shapeOf(output)[1]));
  attention.heads = attention.kvHeads = int64_t(indices.size());
}

Status attune::pruneHeads(TransformerSpec &spec, const HeadsByLayer &pruned) {
  StackSpec &stack = spec.encoder ? *spec.encoder : *spec.decoder;
  int64_t layers = int64_t(stack.layers.size());
  for (const auto &[number, list] : pruned) {
    if (std::string problem = findProblem({{number, {}}}, layers, 1); !problem.empty())
      return Status::error("expected " + problem);
    std::optional<AttentionSpec> &attention = stack.layers[number].attention;
    if (stack.distanceBias || stack.layers[number].distanceBias)
      return Status::error("expected layers whose heads have no biases by distances, which this model's have");
    if (!attention || attention->kvHeads != attention->heads || attention->output.weight == noWeight)
      return Status::error("expected layers with one head of keys per head of queries and an output projection, layer " +
                           std::to_string(number) + " has others");
    for (const HeadNormSpec *norm : {&attention->queryNorm, &attention->keyNorm})
      if (norm->norm.weight != noWeight && norm->extent == HeadNormSpec::Projection)
        return Status::error("expected layers whose heads are normalized one by one, layer " + std::to_string(number) +
                             " normalizes all heads together");
    int64_t original = attention->originalHeads ? attention->originalHeads : attention->heads;
    std::vector<int64_t> numbers = attention->headNumbers.empty() ? remainingHeads({}, number, original) : attention->headNumbers;
    std::vector<int64_t> indices, kept;
    for (auto [index, head] : llvm::enumerate(numbers))
      if (!llvm::is_contained(list, head)) {
        indices.push_back(int64_t(index));
        kept.push_back(head);
      }
    std::string problem = findProblem({{number, list}}, layers, original);
    if (problem.empty() && kept.empty())
      problem = "one head of layer " + std::to_string(number) + " to remain";
    if (!problem.empty())
      return Status::error("expected " + problem);
    if (kept.size() != numbers.size())
      keepHeads(spec, *attention, indices);
    attention->originalHeads = original;
    attention->headNumbers = kept;
  }
  return {};
}
