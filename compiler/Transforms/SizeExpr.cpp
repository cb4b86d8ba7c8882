//===- SizeExpr.cpp - Sizes as closed forms of dims -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/SizeExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace llvm;

/// The largest number of alternatives, the polynomials of a maximum. More are joined into one polynomial that is an
/// upper bound of all, so that products of maxima stay small.
static constexpr size_t kMaxAlternatives = 8;

SizeExpr::SizeExpr(int64_t constant) {
  alternatives.emplace_back();
  if (constant != 0)
    alternatives.back()[{}] = constant;
}

SizeExpr SizeExpr::symbol(mlir::Attribute symbol) {
  std::string text;
  raw_string_ostream stream(text);
  if (auto argument = dyn_cast<mlir::xfmr::ArgumentAttr>(symbol)) {
    stream << '#' << argument.getIndex();
    if (argument.getDim())
      stream << '.' << *argument.getDim();
  } else {
    // Quotes distinguish the name "a*b" from the product of a and b, and "2" from the number.
    StringRef name = cast<mlir::StringAttr>(symbol).getValue();
    bool isIdentifier = !name.empty() && !isDigit(name.front()) && all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
    if (isIdentifier)
      stream << name;
    else
      stream << symbol;
  }
  SizeExpr result;
  result.alternatives.front()[{Factor{text, symbol, nullptr, 0}}] = 1;
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

/// Removes the terms of |polynomial| whose coefficient is 0, so that equal polynomials have equal terms.
template <typename Polynomial>
static void removeZeros(Polynomial &polynomial) {
  for (auto term = polynomial.begin(); term != polynomial.end();)
    term = term->second == 0 ? polynomial.erase(term) : std::next(term);
}

/// Adds an alternative, drops alternatives that cannot be the maximum, and joins the others if they are too many.
void SizeExpr::insert(Polynomial polynomial) {
  removeZeros(polynomial);
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
  removeZeros(join);
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
        sum[monomial] += coefficient;
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
    // Terms that |divisor|, here d, divides are taken out of the quotient: (d a + r) / d = a + r / d. Of the constant,
    // 0 to d - 1 stays inside, so that a negative constant is rounded down.
    Polynomial quotient, rest;
    for (auto &[monomial, coefficient] : p) {
      int64_t inside = coefficient % divisor == 0 ? 0 : monomial.empty() ? llvm::mod(coefficient, divisor) : coefficient;
      if (inside != 0)
        rest[monomial] = inside;
      if (coefficient != inside)
        quotient[monomial] = (coefficient - inside) / divisor;
    }
    if (!rest.empty() && !rest.begin()->first.empty()) {
      auto dividend = std::make_shared<SizeExpr>();
      dividend->alternatives.assign(1, rest);
      quotient[{Factor{"((" + str(rest) + ")/" + std::to_string(divisor) + ")", {}, std::move(dividend), divisor}}] += 1;
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

template <typename T, typename Constant, typename Leaf, typename Add, typename Mul>
T SizeExpr::foldPolynomial(const Polynomial &polynomial, Constant constant, Leaf leaf, Add add, Mul mul) {
  std::optional<T> sum;
  for (auto &[monomial, coefficient] : polynomial) {
    std::optional<T> product;
    for (const Factor &factor : monomial) {
      T value = leaf(factor);
      product = product ? mul(*product, value) : value;
    }
    if (!product || coefficient != 1)
      product = product ? mul(*product, constant(coefficient)) : constant(coefficient);
    sum = sum ? add(*sum, *product) : *product;
  }
  return sum ? *sum : constant(0);
}

template <typename T, typename Constant, typename Leaf, typename Add, typename Mul, typename Max>
T SizeExpr::fold(Constant constant, Leaf leaf, Add add, Mul mul, Max max) const {
  T result = foldPolynomial<T>(alternatives.front(), constant, leaf, add, mul);
  for (const Polynomial &p : ArrayRef(alternatives).drop_front())
    result = max(result, foldPolynomial<T>(p, constant, leaf, add, mul));
  return result;
}

bool SizeExpr::dependsOn(mlir::Attribute symbol) const {
  return fold<bool>([](int64_t) { return false; },
                    [&](const Factor &f) { return f.dividend ? f.dividend->dependsOn(symbol) : f.symbol == symbol; },
                    std::logical_or<bool>(), std::logical_or<bool>(), std::logical_or<bool>());
}

int64_t SizeExpr::evaluate(llvm::function_ref<int64_t(mlir::Attribute)> symbols) const {
  return fold<int64_t>([](int64_t c) { return c; },
                       [&](const Factor &f) { return f.dividend ? f.dividend->evaluate(symbols) / f.divisor : symbols(f.symbol); },
                       std::plus<int64_t>(), std::multiplies<int64_t>(), [](int64_t a, int64_t b) { return std::max(a, b); });
}

SizeExpr SizeExpr::substitute(llvm::function_ref<SizeExpr(mlir::Attribute)> symbols) const {
  return fold<SizeExpr>(
      [](int64_t c) { return SizeExpr(c); },
      [&](const Factor &f) { return f.dividend ? f.dividend->substitute(symbols).floorDiv(f.divisor) : symbols(f.symbol); },
      std::plus<SizeExpr>(), std::multiplies<SizeExpr>(), [](const SizeExpr &a, const SizeExpr &b) { return max(a, b); });
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

SizeExpr SizeExpr::fromAffine(mlir::AffineExpr expr, ArrayRef<mlir::Attribute> symbols) {
  if (auto constant = dyn_cast<mlir::AffineConstantExpr>(expr))
    return SizeExpr(constant.getValue());
  if (auto position = dyn_cast<mlir::AffineSymbolExpr>(expr))
    return symbol(symbols[position.getPosition()]);
  auto binary = cast<mlir::AffineBinaryOpExpr>(expr);
  SizeExpr left = fromAffine(binary.getLHS(), symbols), right = fromAffine(binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case mlir::AffineExprKind::Add:
    return left + right;
  case mlir::AffineExprKind::Mul:
    return left * right;
  case mlir::AffineExprKind::FloorDiv:
    return left.floorDiv(*right.getConstant());
  case mlir::AffineExprKind::CeilDiv:
    return left.ceilDiv(*right.getConstant());
  case mlir::AffineExprKind::Mod:
    return left + left.floorDiv(*right.getConstant()) * SizeExpr(-*right.getConstant());
  default:
    llvm_unreachable("formulas have no dimensions");
  }
}

SizeExpr SizeExpr::fromFormula(mlir::xfmr::FormulaAttr formula) {
  ArrayRef<mlir::AffineExpr> results = formula.getMap().getResults();
  SizeExpr largest = fromAffine(results.front(), formula.getSymbols());
  for (mlir::AffineExpr result : results.drop_front())
    largest = max(largest, fromAffine(result, formula.getSymbols()));
  return largest;
}

mlir::xfmr::FormulaAttr SizeExpr::toFormula(mlir::MLIRContext *context) const {
  SmallVector<mlir::Attribute> symbols;
  auto constant = [&](int64_t c) { return mlir::getAffineConstantExpr(c, context); };
  auto convert = [&](auto &self, const Polynomial &p) -> mlir::AffineExpr {
    auto leaf = [&](const Factor &f) -> mlir::AffineExpr {
      if (f.dividend)
        return self(self, f.dividend->alternatives.front()).floorDiv(f.divisor);
      auto *known = llvm::find(symbols, f.symbol);
      unsigned position = known - symbols.begin();
      if (known == symbols.end())
        symbols.push_back(f.symbol);
      return mlir::getAffineSymbolExpr(position, context);
    };
    return foldPolynomial<mlir::AffineExpr>(p, constant, leaf, std::plus<mlir::AffineExpr>(), std::multiplies<mlir::AffineExpr>());
  };
  auto results = llvm::map_to_vector(alternatives, [&](const Polynomial &p) { return convert(convert, p); });
  return mlir::xfmr::FormulaAttr::get(context, symbols, mlir::AffineMap::get(0, symbols.size(), results, context));
}

mlir::Value SizeExpr::emit(mlir::OpBuilder &builder, mlir::Location loc, llvm::function_ref<mlir::Value(mlir::Attribute)> symbols) const {
  using namespace mlir;
  auto constant = [&](int64_t c) -> Value { return arith::ConstantIndexOp::create(builder, loc, c); };
  auto leaf = [&](const Factor &f) -> Value {
    if (!f.dividend)
      return symbols(f.symbol);
    return arith::DivSIOp::create(builder, loc, f.dividend->emit(builder, loc, symbols), constant(f.divisor));
  };
  return fold<Value>(
      constant, leaf, [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); },
      [&](Value a, Value b) -> Value { return arith::MulIOp::create(builder, loc, a, b); },
      [&](Value a, Value b) -> Value { return arith::MaxSIOp::create(builder, loc, a, b); });
}
