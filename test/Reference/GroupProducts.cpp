//===- GroupProducts.cpp - Projections and feed-forwards -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "test/Reference/GroupModule.h"

#include <cmath>

using namespace attune;
using namespace attune::reference;

static Array multiply(Array a, const Array &b) {
  for (size_t i = 0; i < a.data.size(); ++i)
    a.data[i] *= b.data[i];
  return a;
}

GroupModule::Rows GroupModule::linear(const Rows &x, int64_t width) {
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
