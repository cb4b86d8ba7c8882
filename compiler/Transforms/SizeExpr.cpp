//===- SizeExpr.cpp - Sizes as closed forms of dims -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/SizeExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;
using namespace llvm;

/// More alternatives than this are joined into one upper bound, so that products of maxima stay small.
static constexpr size_t kMaxAlternatives = 8;

SizeExpr::SizeExpr(int64_t constant) {
  alternatives.emplace_back();
  if (constant != 0)
    alternatives.back()[{}] = constant;
}

SizeExpr SizeExpr::symbol(StringRef name) {
  SizeExpr result;
  result.alternatives.front()[{Factor{name.str(), nullptr, 0}}] = 1;
  return result;
}

bool SizeExpr::isAtMost(const Polynomial &a, const Polynomial &b) {
  auto coefficient = [](const Polynomial &p, const Monomial &m) {
    auto it = p.find(m);
    return it == p.end() ? 0 : it->second;
  };
  return llvm::all_of(a, [&](auto &term) { return term.second <= coefficient(b, term.first); }) &&
         llvm::all_of(b, [&](auto &term) { return coefficient(a, term.first) <= term.second; });
}

bool SizeExpr::isAtMost(const SizeExpr &other) const {
  return llvm::all_of(alternatives, [&](const Polynomial &a) {
    return llvm::any_of(other.alternatives, [&](const Polynomial &b) { return isAtMost(a, b); });
  });
}

/// Adds an alternative, dropping those that cannot be the maximum.
void SizeExpr::insert(Polynomial polynomial) {
  if (llvm::any_of(alternatives, [&](const Polynomial &p) { return isAtMost(polynomial, p); }))
    return;
  llvm::erase_if(alternatives, [&](const Polynomial &p) { return isAtMost(p, polynomial); });
  alternatives.push_back(std::move(polynomial));
  if (alternatives.size() <= kMaxAlternatives)
    return;
  Polynomial join;
  for (const Polynomial &p : alternatives)
    for (auto &[monomial, coefficient] : p)
      join[monomial] = std::max(join[monomial], coefficient);
  alternatives.assign(1, std::move(join));
}

SizeExpr SizeExpr::max(const SizeExpr &a, const SizeExpr &b) {
  SizeExpr result = a;
  for (const Polynomial &p : b.alternatives)
    result.insert(p);
  return result;
}

SizeExpr SizeExpr::operator+(const SizeExpr &other) const {
  SizeExpr result;
  result.alternatives.clear();
  for (const Polynomial &a : alternatives)
    for (const Polynomial &b : other.alternatives) {
      Polynomial sum = a;
      for (auto &[monomial, coefficient] : b)
        if ((sum[monomial] += coefficient) == 0)
          sum.erase(monomial);
      result.insert(std::move(sum));
    }
  return result;
}

SizeExpr SizeExpr::operator*(const SizeExpr &other) const {
  SizeExpr result;
  result.alternatives.clear();
  for (const Polynomial &a : alternatives)
    for (const Polynomial &b : other.alternatives) {
      Polynomial product;
      for (auto &[left, leftCoefficient] : a)
        for (auto &[right, rightCoefficient] : b) {
          Monomial monomial = left;
          monomial.insert(monomial.end(), right.begin(), right.end());
          llvm::sort(monomial);
          product[monomial] += leftCoefficient * rightCoefficient;
        }
      result.insert(std::move(product));
    }
  return result;
}

SizeExpr SizeExpr::floorDiv(int64_t divisor) const {
  SizeExpr result;
  result.alternatives.clear();
  for (const Polynomial &p : alternatives) {
    // What divides exactly leaves the quotient: (d a + r) / d = a + r / d.
    Polynomial quotient, rest;
    for (auto &[monomial, coefficient] : p) {
      int64_t inside = monomial.empty() || coefficient % divisor == 0 ? coefficient % divisor : coefficient;
      if (inside != 0)
        rest[monomial] = inside;
      if (coefficient != inside)
        quotient[monomial] = (coefficient - inside) / divisor;
    }
    if (!rest.empty() && !rest.begin()->first.empty()) {
      auto dividend = std::make_shared<SizeExpr>();
      dividend->alternatives.assign(1, rest);
      quotient[{Factor{"((" + str(rest) + ")/" + std::to_string(divisor) + ")", std::move(dividend), divisor}}] += 1;
    }
    result.insert(std::move(quotient));
  }
  return result;
}

std::optional<int64_t> SizeExpr::getConstant() const {
  if (alternatives.size() != 1)
    return std::nullopt;
  const Polynomial &p = alternatives.front();
  if (p.empty())
    return 0;
  return p.size() == 1 && p.begin()->first.empty() ? std::optional<int64_t>(p.begin()->second) : std::nullopt;
}

std::string SizeExpr::str(const Polynomial &polynomial) {
  std::string text;
  for (auto &[monomial, coefficient] : polynomial) {
    if (!text.empty())
      text += " + ";
    std::string product = coefficient != 1 || monomial.empty() ? std::to_string(coefficient) : "";
    for (const Factor &factor : monomial)
      product += (product.empty() ? "" : "*") + factor.text;
    text += product;
  }
  return text.empty() ? "0" : text;
}

std::string SizeExpr::str() const {
  std::string text = str(alternatives.front());
  for (const Polynomial &p : ArrayRef(alternatives).drop_front()) {
    std::string other = str(p);
    text = "(" + text + " > " + other + " ? " + text + " : " + other + ")";
  }
  return text;
}

template <typename T, typename Constant, typename Leaf, typename Add, typename Mul, typename Max>
T SizeExpr::fold(Constant constant, Leaf leaf, Add add, Mul mul, Max max) const {
  std::optional<T> result;
  for (const Polynomial &p : alternatives) {
    std::optional<T> sum;
    for (auto &[monomial, coefficient] : p) {
      std::optional<T> product;
      for (const Factor &factor : monomial) {
        T value = leaf(factor);
        product = product ? mul(*product, value) : value;
      }
      if (!product || coefficient != 1)
        product = product ? mul(*product, constant(coefficient)) : constant(coefficient);
      sum = sum ? add(*sum, *product) : *product;
    }
    if (!sum)
      sum = constant(0);
    result = result ? max(*result, *sum) : *sum;
  }
  return *result;
}

bool SizeExpr::dependsOn(StringRef name) const {
  return fold<bool>([](int64_t) { return false; },
                    [&](const Factor &f) { return f.dividend ? f.dividend->dependsOn(name) : f.text == name; }, std::logical_or<bool>(),
                    std::logical_or<bool>(), std::logical_or<bool>());
}

int64_t SizeExpr::evaluate(llvm::function_ref<int64_t(StringRef)> symbols) const {
  return fold<int64_t>([](int64_t c) { return c; },
                       [&](const Factor &f) { return f.dividend ? f.dividend->evaluate(symbols) / f.divisor : symbols(f.text); },
                       std::plus<int64_t>(), std::multiplies<int64_t>(), [](int64_t a, int64_t b) { return std::max(a, b); });
}

SizeExpr SizeExpr::substitute(llvm::function_ref<SizeExpr(StringRef)> symbols) const {
  return fold<SizeExpr>([](int64_t c) { return SizeExpr(c); },
                        [&](const Factor &f) { return f.dividend ? f.dividend->substitute(symbols).floorDiv(f.divisor) : symbols(f.text); },
                        std::plus<SizeExpr>(), std::multiplies<SizeExpr>(), [](const SizeExpr &a, const SizeExpr &b) { return max(a, b); });
}

mlir::Value SizeExpr::emit(mlir::OpBuilder &builder, mlir::Location loc, llvm::function_ref<mlir::Value(StringRef)> symbols) const {
  using namespace mlir;
  auto constant = [&](int64_t c) -> Value { return arith::ConstantIndexOp::create(builder, loc, c); };
  auto leaf = [&](const Factor &f) -> Value {
    if (!f.dividend)
      return symbols(f.text);
    return arith::DivSIOp::create(builder, loc, f.dividend->emit(builder, loc, symbols), constant(f.divisor));
  };
  return fold<Value>(
      constant, leaf, [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); },
      [&](Value a, Value b) -> Value { return arith::MulIOp::create(builder, loc, a, b); },
      [&](Value a, Value b) -> Value { return arith::MaxSIOp::create(builder, loc, a, b); });
}
