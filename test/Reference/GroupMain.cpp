//===- GroupMain.cpp - attune-test-groups ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-test-groups SEED COUNT FOLDER
//
// Writes a module with COUNT random chains of what becomes kernels beside attention (projections with their epilogues, feed-forwards,
// norms, softmax, activations, sums, rotations, embeddings) into FOLDER (model.mlir, weights.safetensors, in.safetensors), and what it must
// give in double, expected.safetensors. Widths and numbers of tokens are 1, primes, whole tiles and what is beside them.
//===----------------------------------------------------------------------===//

#include "test/Reference/CaseModule.h"
#include "test/Reference/Math.h"
#include "test/Reference/Random.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

using namespace attune;
using namespace attune::reference;

namespace {

std::string str(int64_t value) { return std::to_string(value); }
std::string rows(int64_t width) { return "tensor<?x" + str(width) + "xf32>"; }

/// What a function of the dialect is called there and in Math.h.
struct Function {
  const char *op, *math;
};
constexpr Function kFunctions[] = {{"none", nullptr}, {"gelu", "gelu"}, {"gelu_tanh", "gelu_new"},
                                   {"relu", "relu"},  {"silu", "silu"}, {"tanh", "tanh"}};

/// Chains of operations on the same number of tokens.
class GroupModule : public CaseModule {
public:
  explicit GroupModule(uint64_t seed)
      : r(seed), tokens(r.pick<int64_t>({1, 1, 2, 3, 5, 8, 11, 12, 13, 23, 31, 33, 64, 65, 100, 130, 257})) {}
  void add();

private:
  /// The tokens so far: their value in the IR and their numbers.
  struct Rows {
    std::string value;
    Array data;
    int64_t width() const { return data.dim(1); }
    std::string type() const { return rows(width()); }
  };

  int64_t size() {
    return r.pick<int64_t>(
        {1, 2, 3, 5, 8, 12, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 49, 63, 64, 65, 80, 96, 97, 100, 127, 128, 160, 257, 300});
  }
  std::string name(const char *stem) { return stem + str(names++); }
  Array values(std::vector<int64_t> shape, float size);
  Rows given(int64_t width, float size);
  /// A weight and its reference.
  Rows parameter(std::vector<int64_t> shape, float size);
  Function function() { return kFunctions[r.range(0, std::size(kFunctions) - 1)]; }
  /// Random numbers, or one of |known| if its width is right.
  Rows like(int64_t width, const Rows &known) { return known.width() == width && r.chance(50) ? known : given(width, 1); }

  Rows start();
  Rows step(const Rows &x);
  Rows linear(const Rows &x);
  Rows ffn(const Rows &x);
  Rows norm(const Rows &x);
  Rows rotary(const Rows &x);
  Rows elementwise(const Rows &x);
  /// The result |y| of "op operands : types".
  Rows result(const std::string &text, Array y) {
    Rows out{fresh(), std::move(y)};
    line(out.value + " = " + text);
    return out;
  }

  Random r;
  int64_t tokens, number = 0, names = 0;
};

} // namespace

Array GroupModule::values(std::vector<int64_t> shape, float size) {
  Array array(std::move(shape));
  for (double &x : array.data)
    x = static_cast<float>(size * r.uniform());
  return array;
}

static std::vector<float> floats(const Array &array) { return {array.data.begin(), array.data.end()}; }

GroupModule::Rows GroupModule::given(int64_t width, float size) {
  Array data = values({tokens, width}, size);
  return {input(name("in"), {"t", str(width)}, {tokens, width}, floats(data)), data};
}

GroupModule::Rows GroupModule::parameter(std::vector<int64_t> shape, float size) {
  Array data = values(shape, size);
  return {weight(name("w"), shape, floats(data)), data};
}

static Array activated(const Array &x, Function function) { return function.math ? activate(x, function.math) : x; }

static Array multiply(Array a, const Array &b) {
  for (size_t i = 0; i < a.data.size(); ++i)
    a.data[i] *= b.data[i];
  return a;
}

GroupModule::Rows GroupModule::linear(const Rows &x) {
  int64_t width = r.chance(30) ? x.width() : size();
  Rows w = parameter({width, x.width()}, 1.5f / std::sqrt(float(x.width())));
  Array b({width});
  Function f = function();
  std::string matrix = "tensor<" + str(width) + "x" + str(x.width()) + "xf32>", clauses, types;
  auto clause = [&](const char *word, const std::string &value, const std::string &type) {
    clauses += std::string(" ") + word + "(" + value + ")";
    types += std::string(", ") + word + " " + type;
  };
  if (r.chance(60)) {
    Rows bias = parameter({width}, 1);
    b = bias.data;
    clause("bias", bias.value, "tensor<" + str(width) + "xf32>");
  }
  Array y = activated(reference::linear(x.data, w.data, b), f);
  if (r.chance(20)) {
    Rows multiplier = like(width, x);
    y = multiply(y, multiplier.data);
    clause("multiplier", multiplier.value, rows(width));
  }
  if (r.chance(40)) {
    Rows residual = like(width, x);
    y = reference::add(y, residual.data);
    clause("residual", residual.value, rows(width));
  }
  return result("xfmr.linear " + x.value + ", " + w.value + clauses + " {activation = #xfmr.activation<" + f.op + ">} : " + x.type() +
                    ", " + matrix + types,
                y);
}

GroupModule::Rows GroupModule::ffn(const Rows &x) {
  int64_t width = x.width(), inner = size();
  float scale = 1.5f / std::sqrt(float(width));
  std::string in = "tensor<" + str(inner) + "x" + str(width) + "xf32>", out = "tensor<" + str(width) + "x" + str(inner) + "xf32>";
  std::string vector = "tensor<" + str(inner) + "xf32>", last = "tensor<" + str(width) + "xf32>";
  Rows up = parameter({inner, width}, scale), down = parameter({width, inner}, 1.5f / std::sqrt(float(inner)));
  Function f = function();
  bool hasGate = r.chance(40), hasBias = r.chance(60);
  Array upBias({inner}), downBias({width}), gateBias({inner});
  std::string gate, bias, residual, types;
  Rows gateMatrix;
  if (hasGate) {
    gateMatrix = parameter({inner, width}, scale);
    gate = " gate(" + gateMatrix.value;
    if (hasBias) {
      Rows vectorOfGate = parameter({inner}, 1);
      gateBias = vectorOfGate.data;
      gate += ", " + vectorOfGate.value;
    }
    gate += " : " + in + (hasBias ? ", " + vector : "") + ")";
  }
  if (hasBias) {
    Rows first = parameter({inner}, 1), second = parameter({width}, 1);
    upBias = first.data, downBias = second.data;
    bias = " bias(" + first.value + ", " + second.value + ")";
    types += ", bias " + vector + ", " + last;
  }
  Array h = reference::linear(x.data, up.data, upBias);
  h = hasGate ? multiply(activated(reference::linear(x.data, gateMatrix.data, gateBias), f), h) : activated(h, f);
  Array y = reference::linear(h, down.data, downBias);
  if (r.chance(50)) {
    Rows added = like(width, x);
    y = reference::add(y, added.data);
    residual = " residual(" + added.value + ")";
    types += ", residual " + rows(width);
  }
  return result("xfmr.ffn <" + std::string(f.op) + "> " + x.value + ", " + up.value + ", " + down.value + gate + bias + residual + " : " +
                    x.type() + ", " + in + ", " + out + types,
                y);
}

/// Each row divided by its root mean square, then scaled.
static Array rmsNorm(const Array &x, const Array &gain, double epsilon) {
  Array y(x.shape);
  for (int64_t t = 0; t < x.dim(0); ++t) {
    double sum = 0;
    for (int64_t i = 0; i < x.dim(1); ++i)
      sum += x.row(t)[i] * x.row(t)[i];
    for (int64_t i = 0; i < x.dim(1); ++i)
      y.row(t)[i] = x.row(t)[i] / std::sqrt(sum / x.dim(1) + epsilon) * gain.data[i];
  }
  return y;
}

GroupModule::Rows GroupModule::norm(const Rows &x) {
  int64_t width = x.width();
  // Not smaller: of rows whose elements are nearly equal it decides how much of their roundings is seen.
  const char *epsilon = width < 16 ? "1.0e-2" : "1.0e-3";
  Rows gain = parameter({width}, 2);
  Array sum = x.data;
  std::string vector = "tensor<" + str(width) + "xf32>", clause;
  if (r.chance(50)) {
    Rows residual = like(width, x);
    sum = reference::add(sum, residual.data);
    clause = " residual(" + residual.value + " : " + residual.type() + ")";
  }
  clause += std::string(" {epsilon = ") + epsilon + " : f64} : " + x.type() + ", " + vector;
  if (r.chance(40))
    return result("xfmr.rms_norm " + x.value + ", " + gain.value + clause, rmsNorm(sum, gain.data, std::atof(epsilon)));
  Rows bias = parameter({width}, 1);
  return result("xfmr.layer_norm " + x.value + ", " + gain.value + ", " + bias.value + clause + ", " + vector,
                layerNorm(sum, gain.data, bias.data, std::atof(epsilon)));
}

GroupModule::Rows GroupModule::rotary(const Rows &x) {
  std::vector<int64_t> counts;
  for (int64_t count = 1; count <= x.width() / 2; ++count)
    if (x.width() % count == 0)
      counts.push_back(count);
  if (counts.empty())
    return x;
  int64_t heads = counts[r.range(0, counts.size() - 1)], each = x.width() / heads,
          turned = r.chance(60) ? each / 2 * 2 : 2 * r.range(1, each / 2);
  int64_t half = turned / 2, positions = 40;
  bool interleaved = r.chance(40);
  Rows table = parameter({positions, turned}, 1);
  std::vector<int64_t> ids(tokens);
  for (int64_t &id : ids)
    id = r.range(0, positions - 1);
  std::string given = input(name("places"), {"t"}, {tokens}, ids), type = "tensor<?x" + str(heads) + "x" + str(each) + "xf32>";
  Array y = x.data;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < half; ++i) {
        int64_t a = h * each + (interleaved ? 2 * i : i), b = a + (interleaved ? 1 : half);
        double c = table.data.row(ids[t])[i], s = table.data.row(ids[t])[half + i];
        y.row(t)[a] = x.data.row(t)[a] * c - x.data.row(t)[b] * s;
        y.row(t)[b] = x.data.row(t)[b] * c + x.data.row(t)[a] * s;
      }
  std::string split = fresh(), result = fresh();
  line(split + " = xfmr.split_heads " + x.value + ", " + str(heads) + " : " + x.type());
  line(result + " = xfmr.rotary " + split + ", " + given + ", " + table.value + (interleaved ? " {interleaved}" : "") + " : " + type +
       ", tensor<" + str(positions) + "x" + str(turned) + "xf32>");
  return this->result("xfmr.merge_heads " + result + " : " + type, y);
}

GroupModule::Rows GroupModule::elementwise(const Rows &x) {
  if (r.chance(40)) {
    Array y = x.data;
    bool log = r.chance(40);
    for (int64_t t = 0; t < tokens; ++t) {
      double *row = y.row(t), sum = 0, largest = row[0];
      for (int64_t i = 0; i < x.width(); ++i)
        largest = std::max(largest, row[i]);
      for (int64_t i = 0; i < x.width(); ++i)
        sum += std::exp(row[i] - largest);
      for (int64_t i = 0; i < x.width(); ++i)
        row[i] = log ? row[i] - largest - std::log(sum) : std::exp(row[i] - largest) / sum;
    }
    return result(std::string("xfmr.softmax ") + (log ? "log " : "") + x.value + " : " + x.type(), y);
  }
  if (r.chance(50)) {
    Rows other = like(x.width(), x);
    return result("arith.addf " + x.value + ", " + other.value + " : " + x.type(), reference::add(x.data, other.data));
  }
  Function f = kFunctions[r.range(1, std::size(kFunctions) - 1)];
  return result(std::string("xfmr.activation <") + f.op + "> " + x.value + " : " + x.type(), activated(x.data, f));
}

GroupModule::Rows GroupModule::step(const Rows &x) {
  switch (r.range(0, 9)) {
  case 0:
  case 1:
  case 2:
    return linear(x);
  case 3:
    return ffn(x);
  case 4:
  case 5:
    return norm(x);
  case 6:
    return rotary(x);
  default:
    return elementwise(x);
  }
}

/// Tokens that are given, or looked up.
GroupModule::Rows GroupModule::start() {
  int64_t width = size();
  if (r.chance(75))
    return given(width, 2);
  int64_t count = r.range(1, 50);
  Rows table = parameter({count, width}, 2);
  std::vector<int64_t> ids(tokens);
  Array y({tokens, width});
  for (int64_t t = 0; t < tokens; ++t) {
    ids[t] = r.range(0, count - 1);
    std::copy(table.data.row(ids[t]), table.data.row(ids[t]) + width, y.row(t));
  }
  std::string given = input(name("ids"), {"t"}, {tokens}, ids);
  return result("xfmr.embedding " + given + ", " + table.value + " : tensor<" + str(count) + "x" + str(width) + "xf32>", y);
}

void GroupModule::add() {
  Rows x;
  if (r.chance(15)) { // functions far from zero
    x = elementwise(given(size(), 100));
  } else {
    x = start();
    for (int64_t steps = r.range(1, 3); steps > 0; --steps)
      x = step(x);
  }
  output("y" + str(number++), x.value, {"t", str(x.width())}, x.data.shape, x.data.data);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "expected SEED COUNT FOLDER\n");
    return 1;
  }
  GroupModule module(std::strtoull(argv[1], nullptr, 10));
  for (int i = 0, count = std::atoi(argv[2]); i < count; ++i)
    module.add();
  std::filesystem::create_directories(argv[3]);
  if (Status status = module.write(argv[3]); status.failed()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
}
