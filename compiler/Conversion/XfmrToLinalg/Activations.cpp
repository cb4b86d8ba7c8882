//===- Activations.cpp - Activation functions as scalar arithmetic --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One definition of every activation, for epilogues of projections and for `xfmr.activation`, so that both have the
// same bits. The order of the arithmetic is part of the numerics: later passes neither reassociate nor contract it.
// math.erf, math.tanh and math.exp stay until attune-expand-math expands them into polynomials.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/Activations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::xfmr;

namespace {
/// A builder of arithmetic on values of one type, scalar or vector.
struct Emitter {
  OpBuilder &builder;
  Location loc;
  Type type;

  Value constant(double value) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attr = builder.getFloatAttr(element, value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, attr);
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }

  /// Returns x * 0.5 * (1 + erf(x / sqrt 2)).
  Value gelu(Value x) {
    Value erf = math::ErfOp::create(builder, loc, mul(x, constant(0.70710678118654752440)));
    return mul(mul(x, constant(0.5)), add(constant(1.0), erf));
  }
  /// Returns x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
  Value geluTanh(Value x) {
    Value cube = mul(mul(x, x), x);
    Value inner = mul(constant(0.79788456080286535588), add(x, mul(constant(0.044715), cube)));
    Value tanh = math::TanhOp::create(builder, loc, inner);
    return mul(mul(x, constant(0.5)), add(constant(1.0), tanh));
  }
  /// Returns y / (1 + exp(-x)). If exp overflows to infinity, the quotient is 0 or -0, to which the exact quotient
  /// tends.
  Value gated(Value y, Value x) {
    Value exp = math::ExpOp::create(builder, loc, arith::NegFOp::create(builder, loc, x));
    return div(y, add(constant(1.0), exp));
  }
  /// Returns max(x, 0), by maximumf and not maxnumf, so that a NaN stays NaN.
  Value relu(Value x) { return arith::MaximumFOp::create(builder, loc, x, constant(0.0)); }
  /// Returns x if it is positive, else 0.01 x: in both cases the larger of the two.
  Value leakyRelu(Value x) { return arith::MaximumFOp::create(builder, loc, x, mul(x, constant(0.01))); }
};
} // namespace

Value attune::emitActivation(OpBuilder &builder, Location loc, Activation activation, Value x) {
  Emitter emit{builder, loc, x.getType()};
  switch (activation) {
  case Activation::None:
    return x;
  case Activation::Gelu:
    return emit.gelu(x);
  case Activation::GeluTanh:
    return emit.geluTanh(x);
  case Activation::Relu:
    return emit.relu(x);
  case Activation::Silu:
    return emit.gated(x, x);
  case Activation::Tanh:
    return math::TanhOp::create(builder, loc, x);
  case Activation::QuickGelu:
    return emit.gated(x, emit.mul(x, emit.constant(1.702)));
  case Activation::Sigmoid:
    return emit.gated(emit.constant(1.0), x);
  case Activation::Relu6:
    return arith::MinimumFOp::create(builder, loc, emit.relu(x), emit.constant(6.0));
  case Activation::SquaredRelu: {
    Value positive = emit.relu(x);
    return emit.mul(positive, positive);
  }
  case Activation::LeakyRelu:
    return emit.leakyRelu(x);
  }
  llvm_unreachable("unknown activation");
}
