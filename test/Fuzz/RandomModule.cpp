//===- RandomModule.cpp - Small modules made of random decisions ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "test/Fuzz/RandomModule.h"

#include <vector>

using namespace attune;

namespace {

std::string number(int64_t value) { return std::to_string(value); }

class ModuleWriter {
public:
  ModuleWriter(const uint8_t *data, size_t size) : data(data), end(data + size) {}

  std::string write();

private:
  /// Returns a number from 0 to |count| - 1 that the next byte of the input decides; 0 after the end of the input.
  int64_t pick(int64_t count) { return data == end ? 0 : *data++ % count; }
  bool flip() { return pick(2); }
  /// Returns a size from 1 to 65. Some are multiples of tile sizes, others are not.
  int64_t pickSize() {
    static const int64_t sizes[] = {8, 1, 16, 5, 32, 33, 7, 48, 64, 12, 31, 3, 40, 2, 65, 17};
    return sizes[pick(16)];
  }
  /// Returns |value|, or, in one of 64 cases, |value| + 1, which makes most modules invalid.
  int64_t nearly(int64_t value) { return pick(64) == 63 ? value + 1 : value; }

  std::string fresh() { return "%v" + number(++values); }
  static std::string tensor(const std::string &shape) { return "tensor<" + shape + "xf32>"; }
  static std::string rows(int64_t width) { return tensor("?x" + number(width)); }
  static std::string heads(int64_t count, int64_t size) { return tensor("?x" + number(count) + "x" + number(size)); }
  /// Declares a weight of |type| and adds a reference to it; returns the name of the reference's value. |source| is the
  /// source attribute of the weight; if empty, the weight is the tensor of the same name.
  std::string weight(const std::string &type, const std::string &source = "");
  std::string matrix(int64_t out, int64_t in, std::string &type) { return weight(type = tensor(number(nearly(out)) + "x" + number(in))); }
  std::string vector(int64_t size, std::string &type) { return weight(type = tensor(number(nearly(size)))); }
  std::string pickActivation() {
    static const char *names[] = {"gelu",       "gelu_tanh", "relu",  "silu",         "tanh",      "none",
                                  "quick_gelu", "sigmoid",   "relu6", "squared_relu", "leaky_relu"};
    return names[pick(11)];
  }
  void line(const std::string &text) { body += "    " + text + "\n"; }

  void writeLayer();
  void writeLinear();
  void writeFfn();
  void writeNorm();
  void writeAttention();
  /// Returns the clauses of an attention with |heads| query heads that precede the attributes: mask, head mask and
  /// distance bias. Writes the operations that compute their operands.
  std::string scoreOperands(int64_t heads);
  std::string scoreAttributes();

  const uint8_t *data, *end;
  std::string weights, body;
  int64_t values = 0;
  /// The name of the value of the token tensor after the operations so far, and its number of features.
  std::string current;
  int64_t width = 0;
};

} // namespace

std::string ModuleWriter::weight(const std::string &type, const std::string &source) {
  std::string name = "w" + number(++values), value = fresh();
  weights +=
      "  xfmr.weight @" + name + " : " + type + " = " + (source.empty() ? "#xfmr.tensor<\"" + name + "\" : " + type + ">" : source) + "\n";
  line(value + " = xfmr.weight_ref @" + name + " : " + type);
  return value;
}

void ModuleWriter::writeLinear() {
  int64_t out = flip() ? width : pickSize();
  std::string weightType, biasType, value = fresh(), w = matrix(out, width, weightType), clauses, types;
  if (flip()) {
    clauses += " bias(" + vector(out, biasType) + ")";
    types += ", bias " + biasType;
  }
  if (out == width && flip()) {
    clauses += " residual(" + current + ")";
    types += ", residual " + rows(width);
  }
  line(value + " = xfmr.linear " + current + ", " + w + clauses + " {activation = #xfmr.activation<" + pickActivation() +
       ">} : " + rows(width) + ", " + weightType + types);
  current = value, width = out;
}

void ModuleWriter::writeFfn() {
  int64_t inner = pickSize();
  std::string upType, downType, gateType, value = fresh(), up = matrix(inner, width, upType), down = matrix(width, inner, downType), gate;
  if (flip())
    gate = " gate(" + matrix(inner, width, gateType) + " : " + gateType + ")";
  line(value + " = xfmr.ffn <" + pickActivation() + "> " + current + ", " + up + ", " + down + gate + " : " + rows(width) + ", " + upType +
       ", " + downType);
  current = value;
}

void ModuleWriter::writeNorm() {
  static const char *epsilons[] = {"1.0e-5", "1.0e-12", "0.0", "-1.0", "1.0e30"};
  std::string type, biasType, value = fresh(), w = vector(width, type),
                              attributes = std::string(" {epsilon = ") + epsilons[pick(5)] + " : f64} : ";
  if (flip())
    line(value + " = xfmr.rms_norm " + current + ", " + w + attributes + rows(width) + ", " + type);
  else {
    std::string bias = vector(width, biasType);
    line(value + " = xfmr.layer_norm " + current + ", " + w + ", " + bias + attributes + rows(width) + ", " + type + ", " + biasType);
  }
  current = value;
}

std::string ModuleWriter::scoreOperands(int64_t heads) {
  std::string clauses;
  if (flip())
    clauses += pick(2) ? " mask(%mask : tensor<?x?xi64>)" : " mask(%bias : tensor<?x?xf32>)";
  if (pick(4) == 1) {
    std::string type = tensor(number(nearly(heads)));
    clauses += " head_mask(" + weight(type) + " : " + type + ")";
  }
  if (pick(3) == 1) {
    std::string bias = fresh(), table, type = tensor((pick(2) ? "32x" : "9x") + number(heads));
    table = weight(type);
    line(bias + " = xfmr.relative_position_bias " + table + ", %length {" + (flip() ? "bidirectional, " : "") +
         "max_distance = " + number(pick(4) * 40 + 8) + " : i64} : " + type);
    clauses += " distance_bias(" + bias + " : " + tensor(number(heads) + "x?") + ")";
  }
  return clauses;
}

std::string ModuleWriter::scoreAttributes() {
  std::string text = "{scale = 0.25 : f64";
  if (flip())
    text += ", causal";
  if (pick(4) == 1)
    text += ", window_left = " + number(pick(9) - 1) + " : i64";
  if (pick(4) == 1)
    text += ", window_right = " + number(pick(9)) + " : i64";
  if (pick(4) == 1)
    text += std::string(", softcap = ") + (pick(8) == 7 ? "0.0" : "30.0") + " : f64";
  if (pick(6) == 1)
    text += ", mask_fill = -1.0e10 : f64";
  static const char *rules[] = {"uniform", "zero", "least_masked", "least_masked_past"};
  if (flip())
    text += std::string(", masked_rows = #xfmr.masked_rows<") + rules[pick(4)] + ">";
  return text + "}";
}

void ModuleWriter::writeAttention() {
  int64_t keyHeads = pick(3) + 1, groups = pick(3) + 1, size = pickSize(), valueSize = flip() ? size : pickSize(),
          queryHeads = nearly(keyHeads * groups);
  auto project = [&](int64_t count, int64_t each) {
    std::string type, value = fresh(), split = fresh(), w = matrix(count * each, width, type);
    line(value + " = xfmr.linear " + current + ", " + w + " : " + rows(width) + ", " + type);
    line(split + " = xfmr.split_heads " + value + ", " + number(count) + " : " + rows(count * each));
    return split;
  };
  std::string q = project(queryHeads, size), k = project(keyHeads, size), v = project(keyHeads, valueSize);
  if (size % 2 == 0 && flip()) {
    std::string type = tensor("64x" + number(size)),
                table = weight(type, "#xfmr.computed<\"rotary\", {base = 1.0e4 : f64} : " + type + ">");
    for (auto [name, count] : {std::pair(&q, queryHeads), std::pair(&k, keyHeads)}) {
      std::string turned = fresh();
      line(turned + " = xfmr.rotary " + *name + ", %places, " + table + " : " + heads(count, size) + ", " + type);
      *name = turned;
    }
  }
  std::string clauses = scoreOperands(queryHeads), result = fresh(), merged = fresh();
  line(result + " = xfmr.attention " + q + ", " + k + ", " + v + " offsets(%offsets, %offsets) lengths(%length, %length)" + clauses + " " +
       scoreAttributes() + " : " + heads(queryHeads, size) + ", " + heads(keyHeads, size) + ", " + heads(keyHeads, valueSize) + " -> " +
       heads(queryHeads, valueSize));
  line(merged + " = xfmr.merge_heads " + result + " : " + heads(queryHeads, valueSize));
  current = merged, width = queryHeads * valueSize;
}

void ModuleWriter::writeLayer() {
  std::string value, before = current;
  int64_t widthBefore = width;
  switch (pick(8)) {
  case 0:
  case 1:
    writeLinear();
    break;
  case 2:
    writeFfn();
    break;
  case 3:
    writeNorm();
    break;
  case 4:
  case 5:
    writeAttention();
    break;
  case 6:
    value = fresh();
    line(value + " = xfmr.activation <" + pickActivation() + "> " + current + " : " + rows(width));
    current = value;
    break;
  case 7:
    value = fresh();
    line(value + (flip() ? " = xfmr.softmax log " : " = xfmr.softmax ") + current + " : " + rows(width));
    current = value;
    break;
  }
  if (width == widthBefore && flip()) {
    std::string sum = fresh();
    line(sum + " = arith.addf " + current + ", " + before + " : " + rows(width));
    current = sum;
  }
}

std::string ModuleWriter::write() {
  int64_t features = width = pickSize(), layers = pick(4) + 1;
  current = "%rows";
  for (int64_t layer = 0; layer < layers; ++layer)
    writeLayer();
  std::string input = tensor("?x?x" + number(features)), output = tensor("?x?x" + number(width));
  return "module attributes {xfmr.model = #xfmr.model<family = \"fuzz\", architecture = \"Random\", limits = {length = 64 : i64}>} {\n" +
         weights + "  func.func @forward(%x: " + input + " {xfmr.input = #xfmr.input<\"x\", [batch, length, " + number(features) +
         "]>}, %mask: tensor<?x?xi64> {xfmr.input = #xfmr.input<\"mask\", [batch, length]>}, "
         "%bias: tensor<?x?xf32> {xfmr.input = #xfmr.input<\"bias\", [batch, length]>}, "
         "%ids: tensor<?x?xi64> {xfmr.input = #xfmr.input<\"ids\", [batch, length], max_value = 64>}) -> (" +
         output + " {xfmr.output = #xfmr.output<\"y\", [batch, length, " + number(width) +
         "]>}) attributes {xfmr.entry = #xfmr.entry<\"forward\">} {\n"
         "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n"
         "    %batch = tensor.dim %x, %c0 : " +
         input + "\n    %length = tensor.dim %x, %c1 : " + input +
         "\n"
         "    %offsets = xfmr.sequence_offsets %batch, %length\n"
         "    %places = tensor.collapse_shape %ids [[0, 1]] : tensor<?x?xi64> into tensor<?xi64>\n"
         "    %rows = tensor.collapse_shape %x [[0, 1], [2]] : " +
         input + " into " + rows(features) + "\n" + body + "    %y = tensor.expand_shape " + current +
         " [[0, 1], [2]] output_shape [%batch, %length, " + number(width) + "] : " + rows(width) + " into " + output +
         "\n    return %y : " + output + "\n  }\n}\n";
}

std::string attune::makeRandomModule(const uint8_t *data, size_t size) { return ModuleWriter(data, size).write(); }
