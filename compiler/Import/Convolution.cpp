//===- Convolution.cpp - A convolution over neighboring tokens ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The convolution is a projection of rows that join each token with its neighbors, and so uses the kernels of
// projections. 0 stands for zeros in place of a neighbor beyond the sequence:
//
//     tokens of a sequence    a b c d
//     rows of three           0ab  abc  bcd  cd0
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Convolution.h"
#include "compiler/Import/LayerBody.h"

using namespace attune;
using namespace mlir;

Value attune::emitConvolution(EntryScope &scope, const ConvolutionSpec &spec, TokenBatch &tokens, Value input, Value layer) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at(spec.path);
  Value rows = tokens.withNeighbors(loc, input, spec.taps);
  Value sums = xfmr::LinearOp::create(builder, loc, rows, scope.weight(spec.projection.weight), scope.weight(spec.projection.bias), Value(),
                                      xfmr::Activation::None);
  if (spec.activation != xfmr::Activation::None)
    sums = xfmr::ActivationOp::create(builder, loc, sums.getType(), spec.activation, sums);
  Value normed = createNorm(builder, loc, spec.norm, sums, layer, scope.weight(spec.norm.weight), scope.weight(spec.norm.bias));
  return tokens.zeroHidden(loc, normed);
}
