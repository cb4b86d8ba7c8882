//===- AttentionModule.cpp - Cases of attention as IR and tensors ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Reference/AttentionModule.h"

#include <algorithm>

namespace attune::reference {

static std::string str(int64_t value) { return std::to_string(value); }

std::string AttentionModule::heads(const std::string &name, const std::string &tokens, int64_t count, int64_t size,
                                   const std::vector<float> &values) {
  std::string width = str(count * size), value = fresh();
  std::string given = input(name, {tokens, width}, {static_cast<int64_t>(values.size()) / (count * size), count * size}, values);
  line(value + " = xfmr.split_heads " + given + ", " + str(count) + " : tensor<?x" + width + "xf32>");
  return value;
}

/// Returns the index of the first token of each sequence, followed by the number of all tokens.
static std::vector<int64_t> offsetsOf(const std::vector<int64_t> &lengths) {
  std::vector<int64_t> offsets{0};
  for (int64_t length : lengths)
    offsets.push_back(offsets.back() + length);
  return offsets;
}

// Return the names of the dims of the padded lengths of queries and keys. If a single sequence has all the tokens and
// no padding, its padded length is the number of tokens and shares the name of that dim: a dim of its own would be one
// more factor in the product of the entry's limits, which must not exceed 2^40.
static std::string queryDim(const AttentionCase &c) { return c.batch() == 1 && c.maxQueries == c.queries[0] ? "tq" : "lq"; }
static std::string keyDim(const AttentionCase &c) { return c.batch() == 1 && !c.cached && c.maxKeys == c.keyTokens[0] ? "tk" : "lk"; }

AttentionModule::Operands AttentionModule::plainKeys(const AttentionCase &c) {
  Operands o;
  o.keys = heads(n("k"), "tk", c.kvHeads, c.headDim, c.key);
  o.values = heads(n("v"), "tk", c.kvHeads, c.valueDim, c.value);
  o.keyType = "tensor<?x" + str(c.kvHeads) + "x" + str(c.headDim) + "xf32>";
  o.valueType = "tensor<?x" + str(c.kvHeads) + "x" + str(c.valueDim) + "xf32>";
  o.offsets = ", " + input(n("ko"), {"o"}, {c.batch() + 1}, offsetsOf(c.keyTokens));
  std::string lengths = input(n("lens"), {"b"}, {c.batch()}, c.keys);
  if (c.keyLengths)
    o.options = " key_lengths(" + lengths + ")";
  return o;
}

/// Returns the operands of attention on caches. Two updates fill the caches: first with the past tokens of each
/// sequence, padded to the longest past by NaN, and then with its new tokens.
AttentionModule::Operands AttentionModule::cachedKeys(const AttentionCase &c) {
  Operands o;
  std::string g = str(c.kvHeads), d = str(c.headDim), e = str(c.valueDim), b = "b";
  std::vector<int64_t> past(c.batch());
  for (int64_t i = 0; i < c.batch(); ++i)
    past[i] = c.keys[i] - c.queries[i];
  int64_t longest = *std::max_element(past.begin(), past.end());
  auto split = [&](const std::vector<float> &all, int64_t size, std::vector<float> &dense, std::vector<float> &fresh) {
    dense.assign(c.batch() * c.kvHeads * longest * size, std::numeric_limits<float>::quiet_NaN());
    int64_t first = 0;
    for (int64_t s = 0; s < c.batch(); first += c.keys[s++])
      for (int64_t j = 0; j < c.keys[s]; ++j)
        for (int64_t h = 0; h < c.kvHeads; ++h) {
          const float *from = &all[((first + j) * c.kvHeads + h) * size];
          if (j < past[s])
            std::copy(from, from + size, &dense[((s * c.kvHeads + h) * longest + j) * size]);
          else
            fresh.insert(fresh.end(), from, from + size);
        }
  };
  std::vector<float> denseKeys, newKeys, denseValues, newValues;
  split(c.key, c.headDim, denseKeys, newKeys);
  split(c.value, c.valueDim, denseValues, newValues);
  std::string keys = heads(n("k"), "tq", c.kvHeads, c.headDim, newKeys), values = heads(n("v"), "tq", c.kvHeads, c.valueDim, newValues);
  std::string pastKeys = input(n("pk"), {b, g, "past", d}, {c.batch(), c.kvHeads, longest, c.headDim}, denseKeys);
  std::string pastValues = input(n("pv"), {b, g, "past", e}, {c.batch(), c.kvHeads, longest, c.valueDim}, denseValues);
  std::string lengths = input(n("lens"), {b}, {c.batch()}, c.keys), behind = input(n("behind"), {b}, {c.batch()}, past);
  std::string zeros = input(n("zeros"), {b}, {c.batch()}, std::vector<int64_t>(c.batch(), 0));
  int64_t panels = (c.maxKeys + 63) / 64 + 1;
  std::string panelsOf = input(n("panels"), {"panels"}, {panels}, std::vector<int64_t>(panels, 0));
  std::string slots = fresh(), count = fresh(), capacity = fresh(), zero = fresh(), width = fresh(), kc = fresh(), vc = fresh();
  o.keyType = "tensor<?x" + g + "x?x" + d + "x64xf32>";
  o.valueType = "tensor<?x" + g + "x?x" + e + "xf32>";
  std::string denseType = "tensor<?x" + g + "x?x" + d + "xf32>, " + o.valueType;
  line(zero + " = arith.constant 0 : index");
  line(width + " = arith.constant 64 : index");
  line(slots + " = tensor.dim " + lengths + ", " + zero + " : tensor<?xi64>");
  line(count + " = tensor.dim " + panelsOf + ", " + zero + " : tensor<?xi64>");
  line(capacity + " = arith.muli " + count + ", " + width + " : index");
  line(kc + " = tensor.empty(" + slots + ", " + count + ") : " + o.keyType);
  line(vc + " = tensor.empty(" + slots + ", " + capacity + ") : " + o.valueType);
  std::string first = fresh(), second = fresh(), caches = ", " + o.keyType + ", " + o.valueType;
  line(first + ":2 = xfmr.kv_cache_update " + pastKeys + ", " + pastValues + " into " + kc + ", " + vc + " at(" + zeros +
       ") : " + denseType + caches);
  line(second + ":2 = xfmr.kv_cache_update " + keys + ", " + values + " into " + first + "#0, " + first + "#1 at(" + behind +
       ") offsets(%" + n("qo") + ") : tensor<?x" + g + "x" + d + "xf32>, tensor<?x" + g + "x" + e + "xf32>" + caches);
  o.keys = second + "#0";
  o.values = second + "#1";
  o.options = " key_lengths(" + lengths + ")";
  return o;
}

std::string AttentionModule::maskOperand(const AttentionCase &c) {
  if (c.mask.kind == MaskKind::None)
    return "";
  std::vector<std::string> dims;
  std::string roles[] = {"b", "h", queryDim(c), keyDim(c)};
  for (size_t i = 0, rank = c.mask.shape.size(); i < rank; ++i) {
    const std::string &role = roles[i == 0 ? 0 : i + 4 - rank];
    dims.push_back(!c.mask.dynamic[i] ? str(c.mask.shape[i]) : c.mask.shape[i] == 1 ? std::string("one") : role);
  }
  if (c.mask.kind == MaskKind::Float)
    return " mask(" + input(n("mask"), dims, c.mask.shape, c.mask.values) + " : " + type(dims, "f32") + ")";
  std::string mask = input(n("mask"), dims, c.mask.shape, std::vector<int64_t>(c.mask.values.begin(), c.mask.values.end()));
  if (c.mask.kind == MaskKind::Integer)
    return " mask(" + mask + " : " + type(dims, "i64") + ")";
  // Entries have no i1 inputs: the mask is an integer, compared with zero.
  std::string zero = fresh(), boolean = fresh();
  line(zero + " = arith.subi " + mask + ", " + mask + " : " + type(dims, "i64"));
  line(boolean + " = arith.cmpi ne, " + mask + ", " + zero + " : " + type(dims, "i64"));
  return " mask(" + boolean + " : " + type(dims, "i1") + ")";
}

static std::string real(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.17e", value);
  return std::string(text) + " : f64";
}

std::string AttentionModule::attributes(const AttentionCase &c) {
  static const char *rules[] = {"uniform", "zero", "least_masked", "least_masked_past"};
  static const char *stages[] = {"product", "capped", "masked", "softmax"};
  std::string text = "{scale = " + real(c.scale);
  text += c.causal ? ", causal" : "";
  text += c.start ? ", alignment = #xfmr.alignment<start>" : "";
  text += c.windowLeft ? ", window_left = " + str(*c.windowLeft) + " : i64" : "";
  text += c.windowRight ? ", window_right = " + str(*c.windowRight) + " : i64" : "";
  text += c.softcap ? ", softcap = " + real(*c.softcap) : "";
  text += c.maskFill ? ", mask_fill = " + real(*c.maskFill) : "";
  text += std::string(", masked_rows = #xfmr.masked_rows<") + rules[static_cast<int>(c.maskedRows)] + ">";
  text += std::string(", score_stage = #xfmr.score_stage<") + stages[static_cast<int>(c.stage)] + ">}";
  return text;
}

void AttentionModule::add(const AttentionCase &c) {
  std::string d = str(c.headDim), e = str(c.valueDim), h = str(c.heads);
  std::string query = heads(n("q"), "tq", c.heads, c.headDim, c.query);
  std::string offsets = input(n("qo"), {"o"}, {c.batch() + 1}, offsetsOf(c.queries));
  // The padded lengths are the sizes of a tensor that is not read.
  std::string shape =
      input(n("shape"), {queryDim(c), keyDim(c)}, {c.maxQueries, c.maxKeys}, std::vector<int64_t>(c.maxQueries * c.maxKeys, 0));
  std::string zero = fresh(), one = fresh(), queries = fresh(), keys = fresh(), y = fresh();
  line(zero + " = arith.constant 0 : index");
  line(one + " = arith.constant 1 : index");
  line(queries + " = tensor.dim " + shape + ", " + zero + " : tensor<?x?xi64>");
  line(keys + " = tensor.dim " + shape + ", " + one + " : tensor<?x?xi64>");
  Operands o = c.cached ? cachedKeys(c) : plainKeys(c);
  std::string options = o.options + maskOperand(c);
  if (!c.headMask.empty())
    options += " head_mask(" + input(n("heads"), {h}, {c.heads}, c.headMask) + " : tensor<" + h + "xf32>)";
  if (c.biasHeads)
    options += " distance_bias(" + input(n("bias"), {str(c.biasHeads), str(c.distances)}, {c.biasHeads, c.distances}, c.distanceBias) +
               " : tensor<" + str(c.biasHeads) + "x" + str(c.distances) + "xf32>)";
  auto relative = [&](const RelativeTable &table, const char *operand, const char *name) {
    if (!table.distances)
      return;
    int64_t columns = (table.ofHeads ? c.heads : 1) * c.headDim;
    std::string value = weight(n(name), {table.distances, columns}, table.values);
    options += std::string(" ") + operand + "(" + value + " : tensor<" + str(table.distances) + "x" + str(columns) + "xf32>)";
  };
  relative(c.relativeKey, "relative_key", "rk");
  relative(c.relativeQuery, "relative_query", "rq");
  if (!c.sinks.empty())
    options += " sinks(" + input(n("sinks"), {h}, {c.heads}, c.sinks) + " : tensor<" + h + "xf32>)";
  std::string resultType = "tensor<?x" + h + "x" + e + "xf32>", mapType = "tensor<?x" + h + "x?x?xf32>";
  line(y + (c.probabilities ? ":2" : "") + " = xfmr.attention " + query + ", " + o.keys + ", " + o.values + " offsets(" + offsets +
       o.offsets + ") lengths(" + queries + ", " + keys + ")" + options + " " + attributes(c) + " : tensor<?x" + h + "x" + d + "xf32>, " +
       o.keyType + ", " + o.valueType + " -> " + resultType + (c.probabilities ? ", " + mapType : ""));
  AttentionResult want = attend(c);
  std::string merged = fresh();
  line(merged + " = xfmr.merge_heads " + y + (c.probabilities ? "#0" : "") + " : " + resultType);
  int64_t width = c.heads * c.valueDim;
  output(n("y"), merged, {"tq", str(width)}, {static_cast<int64_t>(want.result.size()) / width, width}, want.result);
  if (c.probabilities)
    output(n("p"), y + "#1", {"b", h, queryDim(c), keyDim(c)}, {c.batch(), c.heads, c.maxQueries, c.maxKeys}, want.probabilities);
  ++number;
}

} // namespace attune::reference
