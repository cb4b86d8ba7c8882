//===- GroupModule.cpp - Random chains of operations -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "test/Reference/GroupModule.h"

#include <algorithm>

using namespace attune;
using namespace attune::reference;

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

/// Returns the first token tensor of a chain: an input, or, in a quarter of the cases, an embedding of ids.
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
  if (r.chance(15)) { // an elementwise operation on elements from -100 to 100
    x = elementwise(given(size(), 100));
  } else {
    x = start();
    for (int64_t steps = r.range(1, 3); steps > 0; --steps)
      x = step(x);
  }
  output("y" + str(number++), x.value, {"t", str(x.width())}, x.data.shape, x.data.data);
}

void GroupModule::addDeep() {
  Rows y = linear(given(r.range(2500, 3300), 1), r.pick<int64_t>({1, 32, 70, 96, 130}));
  output("y" + str(number++), y.value, {"t", str(y.width())}, y.data.shape, y.data.data);
}
