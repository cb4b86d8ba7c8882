//===- TablesTest.cpp - Tables of positions and slopes ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "test/Weights/Expect.h"
#include "test/Weights/RandomSources.h"

#include <numeric>

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

void attune::testTables(MLIRContext &context) {
  Builder builder(&context);
  FakeTensors tensors;
  SourceReader reader(tensors);
  auto fill = [&](StringRef kind, ArrayRef<NamedAttribute> params, ArrayRef<int64_t> shape) {
    std::vector<float> out(std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()));
    auto source =
        ComputedSourceAttr::get(&context, kind, builder.getDictionaryAttr(params), RankedTensorType::get(shape, builder.getF32Type()));
    expect(!reader.read(source, SourceBox::dense(SmallVector<int64_t>(shape.size(), 0), shape, out.data())).failed(), kind.str());
    return out;
  };
  auto number = [&](StringRef name, double value) { return builder.getNamedAttr(name, builder.getF64FloatAttr(value)); };
  auto text = [&](StringRef name, StringRef value) { return builder.getNamedAttr(name, builder.getStringAttr(value)); };
  auto near = [&](float got, double want, StringRef what) { expect(std::abs(got - want) <= 6e-8 * std::abs(want), what.str()); };

  // Of five columns, three are sines and two cosines.
  std::vector<float> half = fill("sinusoidal", text("layout", "half"), {4, 5}),
                     pairs = fill("sinusoidal", text("layout", "interleaved"), {4, 5});
  near(half[3 * 5 + 1], std::sin(3 / std::pow(1e4, 2 / 5.0)), "half, sine");
  near(half[3 * 5 + 4], std::cos(3 / std::pow(1e4, 2 / 5.0)), "half, cosine");
  near(pairs[3 * 5 + 4], std::sin(3 / std::pow(1e4, 4 / 5.0)), "interleaved, the odd sine");
  near(pairs[3 * 5 + 3], std::cos(3 / std::pow(1e4, 2 / 5.0)), "interleaved, cosine");
  std::vector<float> constant = fill("sinusoidal", text("layout", "constant"), {2, 3});
  near(constant[4], std::cos(1.0), "constant, cosine");
  near(constant[5], -std::sin(1.0), "constant, sine");

  std::vector<float> plain = fill("rotary", number("base", 1e4), {8, 6});
  near(plain[7 * 6 + 2], std::cos(7 * std::pow(1e4, -4 / 6.0)), "rotary, cosine");
  near(plain[7 * 6 + 4], std::sin(7 * std::pow(1e4, -2 / 6.0)), "rotary, sine");
  std::vector<float> linear = fill("rotary", {number("base", 1e4), text("scaling", "linear"), number("factor", 4)}, {8, 6});
  near(linear[7 * 6 + 4], std::sin(7 * std::pow(1e4, -2 / 6.0) / 4), "rotary, linear scaling");
  // Frequencies 1, 0.1 and 0.01 have waves of 6, 63 and 628 positions. At an original length of 64, the first is kept,
  // the last divided by |factor|, and the second mixed from both.
  std::vector<float> llama = fill("rotary",
                                  {number("base", 1e3), text("scaling", "llama3"), number("factor", 8), number("low_freq_factor", 1),
                                   number("high_freq_factor", 4), number("original_length", 64)},
                                  {8, 6});
  double keep = (64 * 0.1 / (2 * M_PI) - 1) / 3;
  near(llama[7 * 6 + 3], std::sin(7.0), "rotary, a high frequency is kept");
  near(llama[7 * 6 + 4], std::sin(7 * ((1 - keep) * 0.1 / 8 + keep * 0.1)), "rotary, frequencies between are mixed");
  near(llama[7 * 6 + 5], std::sin(7 * 0.01 / 8), "rotary, a low frequency is stretched");

  auto factors = builder.getNamedAttr("factors", builder.getF64ArrayAttr({1, 4, 2}));
  std::vector<float> longRope =
      fill("rotary", {number("base", 1e3), text("scaling", "longrope"), factors, number("attention_factor", 1.25)}, {8, 6});
  near(longRope[7 * 6 + 1], 1.25 * std::cos(7 * 0.1 / 4), "rotary, a factor of each frequency");
  near(longRope[7 * 6 + 5], 1.25 * std::sin(7 * 0.01 / 2), "rotary, a factor of each frequency");

  std::vector<float> slopes = fill("alibi_slopes", {}, {6});
  const double wanted[] = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  for (int head = 0; head < 6; ++head)
    near(slopes[head], wanted[head], "slope");
}
