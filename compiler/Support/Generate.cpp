//===- Generate.cpp - Deterministic weights and inputs --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled with contraction off: a fused multiply-add would change the last bit of some values.
//===----------------------------------------------------------------------===//
#include "compiler/Support/Generate.h"
#include "compiler/Support/Strings.h"

#include <cmath>
#include <initializer_list>
#include <string>

using namespace attune;

static uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (unsigned char byte : text)
    hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

void attune::generateValues(std::string_view name, int64_t seed, GeneratorRule rule, int64_t begin, int64_t count, float *out) {
  constexpr uint64_t golden = 0x9E3779B97F4A7C15u;
  uint64_t state = fnv1a(std::to_string(seed) + "/" + std::string(name)) + uint64_t(begin) * golden;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t z = state += golden;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z = z ^ (z >> 31);
    double uniform = static_cast<double>(z >> 11) * 0x1p-53;
    double scaled = rule.halfWidth * (2.0 * uniform - 1.0);
    out[i] = static_cast<float>(rule.offset + scaled);
  }
}

/// Returns true if |name| is "PATH.weight" and PATH is one of |paths| or ends in "." and one of them.
static bool isWeightOf(std::string_view name, std::initializer_list<std::string_view> paths) {
  constexpr std::string_view suffix = ".weight";
  if (!endsWith(name, suffix))
    return false;
  name.remove_suffix(suffix.size());
  for (std::string_view path : paths) {
    if (name == path)
      return true;
    if (name.size() > path.size() && name.substr(name.size() - path.size()) == path && name[name.size() - path.size() - 1] == '.')
      return true;
  }
  return false;
}

static bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

GeneratorRule attune::generatorRule(std::string_view name, const std::vector<int64_t> &shape) {
  if (endsWith(name, "bias"))
    return {0.0, 0.2};
  if (shape.size() <= 1) // gain of a normalization
    return {1.0, 0.4};
  bool embedding = contains(name, "embed") || contains(name, "wte") || contains(name, "wpe") || contains(name, "shared");
  if (embedding && !contains(name, "projection"))
    return {0.0, 3.0 / std::sqrt(static_cast<double>(shape.back()))};

  // GPT-2 stores these weights as [in, out]; other weights, unless stacked, are [out, in…]. Names of GPT-2's weights
  // have at least two parts before "weight", as "h.0.mlp.c_fc.weight"; a weight named "c_fc.weight" is [out, in].
  bool inputMajor = isWeightOf(name, {"c_attn", "c_proj", "c_fc", "q_attn"}) && name.find('.') != name.rfind('.');
  bool experts = endsWith(name, "experts.gate_up_proj") || endsWith(name, "experts.down_proj"); // stacked: [experts, in, out]
  bool stacked = endsWith(name, "block_sparse_moe.input_linear.weight") ||
                 endsWith(name, "block_sparse_moe.output_linear.weight"); // [experts, out, in]
  int64_t fanIn = 1;
  if (inputMajor)
    fanIn = shape[0];
  else if (experts)
    fanIn = shape[1];
  else if (stacked && shape.size() == 3)
    fanIn = shape[2];
  else
    for (size_t i = 1; i < shape.size(); ++i)
      fanIn *= shape[i];

  double gain = 1.0;
  if (isWeightOf(name, {"query", "key", "q", "k", "q_proj", "k_proj", "q_lin", "k_lin", "w_q", "w_k", "c_attn"}))
    gain = 1.5; // attention scores that pick a few keys instead of averaging all
  else if (isWeightOf(name, {"output.dense", "out_proj", "o_proj", "c_proj", "out_lin", "lin2", "fc2", "down_proj", "SelfAttention.o",
                             "EncDecAttention.o", "wo", "sublayer.linear", "sublayer.2"}))
    gain = 2.0; // writes into the residual stream
  return {0.0, gain * std::sqrt(3.0 / static_cast<double>(fanIn))};
}
