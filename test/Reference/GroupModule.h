//===- GroupModule.h - Random chains of operations --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sequences of all operations that become kernels, except attention: projections with their epilogues, feed-forwards,
// norms, softmax, activations, sums, rotary embeddings, embeddings. Among the widths and numbers of tokens are 1,
// primes, multiples of tile sizes, and one more or less than these. Each operation is written as IR and computed in
// double.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_REFERENCE_GROUPMODULE_H
#define ATTUNE_TEST_REFERENCE_GROUPMODULE_H

#include "test/Reference/CaseModule.h"
#include "test/Reference/Math.h"
#include "test/Reference/Random.h"

namespace attune::reference {

inline std::string str(int64_t value) { return std::to_string(value); }
inline std::string rows(int64_t width) { return "tensor<?x" + str(width) + "xf32>"; }

/// The names of a function in the dialect and in Math.h; |math| is null for the identity.
struct Function {
  const char *op, *math;
};
inline constexpr Function kFunctions[] = {{"none", nullptr}, {"gelu", "gelu"}, {"gelu_tanh", "gelu_new"},
                                          {"relu", "relu"},  {"silu", "silu"}, {"tanh", "tanh"}};

/// A module with chains of random operations, all on the same number of tokens, and their expected results.
class GroupModule : public CaseModule {
public:
  explicit GroupModule(uint64_t seed)
      : r(seed), tokens(r.pick<int64_t>({1, 1, 2, 3, 5, 8, 11, 12, 13, 23, 31, 33, 64, 65, 100, 130, 257})) {}
  /// Adds a chain of up to three operations on an input or an embedding.
  void add();
  /// Adds a projection with so many input features that a block of rows and a weight panel do not fit into a cache.
  void addDeep();

private:
  /// A tensor of the module: the name of its value in the IR, and its elements.
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
  /// Declares a weight of random elements from -|size| to |size| and returns it.
  Rows parameter(std::vector<int64_t> shape, float size);
  Function function() { return kFunctions[r.range(0, std::size(kFunctions) - 1)]; }
  /// Returns |known| in half of the cases if it has |width| features, else a new input of random rows.
  Rows like(int64_t width, const Rows &known) { return known.width() == width && r.chance(50) ? known : given(width, 1); }

  Rows start();
  Rows step(const Rows &x);
  Rows linear(const Rows &x) { return linear(x, r.chance(30) ? x.width() : size()); }
  Rows linear(const Rows &x, int64_t width);
  Rows ffn(const Rows &x);
  Rows norm(const Rows &x);
  Rows rotary(const Rows &x);
  Rows elementwise(const Rows &x);
  /// Adds the operation |text|, "op operands : types", and returns its result, whose elements are |y|.
  Rows result(const std::string &text, Array y) {
    Rows out{fresh(), std::move(y)};
    line(out.value + " = " + text);
    return out;
  }

  Random r;
  int64_t tokens, number = 0, names = 0;
};

/// Returns |x| with |function| applied to each element.
inline Array activated(const Array &x, Function function) { return function.math ? activate(x, function.math) : x; }

} // namespace attune::reference

#endif // ATTUNE_TEST_REFERENCE_GROUPMODULE_H
