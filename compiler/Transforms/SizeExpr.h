//===- SizeExpr.h - Sizes as closed forms of dims ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes as expressions of symbols. Neither symbols nor sizes are negative. A size is the maximum of polynomials; a
// factor of a monomial is a symbol or a quotient by a constant. These expressions are closed under +, *, max and
// division by a constant. A size that is made by these operations is monotonic in every symbol, so that bounds of the
// symbols give a bound of the size. Only a size with `mod` is not monotonic: no pass writes `mod`, but fromFormula
// accepts it in formulas written by hand. A constant may be subtracted from a size that is at least this constant.
// Quotients are rounded towards 0, as in C.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_SIZEEXPR_H
#define ATTUNE_COMPILER_TRANSFORMS_SIZEEXPR_H

#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attune {

/// A size as an expression of symbols: the maximum of polynomials. A result that would have more than 8 polynomials is
/// an upper bound with fewer.
class SizeExpr {
public:
  SizeExpr(int64_t constant = 0);
  /// Returns the size that |symbol| stands for. A symbol is a name (StringAttr) or an xfmr::ArgumentAttr.
  static SizeExpr symbol(mlir::Attribute symbol);
  static SizeExpr fromFormula(mlir::xfmr::FormulaAttr formula);
  static SizeExpr max(const SizeExpr &a, const SizeExpr &b);

  SizeExpr operator+(const SizeExpr &other) const;
  SizeExpr operator*(const SizeExpr &other) const;
  SizeExpr floorDiv(int64_t divisor) const;
  SizeExpr ceilDiv(int64_t divisor) const { return (*this + SizeExpr(divisor - 1)).floorDiv(divisor); }
  SizeExpr alignTo(int64_t alignment) const { return ceilDiv(alignment) * SizeExpr(alignment); }

  /// Returns the value of a size that depends on no symbol; nullopt for others.
  std::optional<int64_t> getConstant() const;
  /// Returns true if the coefficients prove that this size is never more than |other|.
  bool isAtMost(const SizeExpr &other) const;
  /// Returns true if |symbol| occurs in the size.
  bool dependsOn(mlir::Attribute symbol) const;
  bool operator==(const SizeExpr &other) const { return str() == other.str(); }

  /// Returns the value of the size if each symbol has the value |symbols|(symbol).
  int64_t evaluate(llvm::function_ref<int64_t(mlir::Attribute)> symbols) const;
  /// Returns the size with |symbols|(symbol) in the place of each symbol.
  SizeExpr substitute(llvm::function_ref<SizeExpr(mlir::Attribute)> symbols) const;
  /// Returns the size as a formula, with a result for each polynomial. Equal sizes have equal formulas; `==` compares
  /// expressions, not values.
  mlir::xfmr::FormulaAttr toFormula(mlir::MLIRContext *context) const;
  /// Returns the size as a C expression over 64-bit integers. Expects symbols that are identifiers; other names are in
  /// quotes.
  std::string str() const;
  /// Creates arith ops on index values that compute the size; |symbols| returns the value of a symbol.
  mlir::Value emit(mlir::OpBuilder &builder, mlir::Location loc, llvm::function_ref<mlir::Value(mlir::Attribute)> symbols) const;

private:
  /// A symbol, or `dividend / divisor` rounded towards 0.
  struct Factor {
    std::string text; // C text, also the key
    mlir::Attribute symbol;
    std::shared_ptr<const SizeExpr> dividend;
    int64_t divisor = 0;
    bool operator<(const Factor &other) const { return text < other.text; }
  };
  using Monomial = std::vector<Factor>; // sorted
  struct HigherDegreeFirst {
    bool operator()(const Monomial &a, const Monomial &b) const { return a.size() != b.size() ? a.size() > b.size() : a < b; }
  };
  using Polynomial = std::map<Monomial, int64_t, HigherDegreeFirst>; // without zero coefficients

  static bool isAtMost(const Polynomial &a, const Polynomial &b);
  static SizeExpr fromAffine(mlir::AffineExpr expr, llvm::ArrayRef<mlir::Attribute> symbols);
  static std::string str(const Polynomial &polynomial);
  /// Evaluates |polynomial| with values of type T, such as integers, affine expressions or SSA values: |leaf| evaluates
  /// factors, |constant| coefficients, and |add| and |mul| combine them.
  template <typename T, typename Constant, typename Leaf, typename Add, typename Mul>
  static T foldPolynomial(const Polynomial &polynomial, Constant constant, Leaf leaf, Add add, Mul mul);
  /// Evaluates each alternative by foldPolynomial and joins the values by |max|.
  template <typename T, typename Constant, typename Leaf, typename Add, typename Mul, typename Max>
  T fold(Constant constant, Leaf leaf, Add add, Mul mul, Max max) const;
  void insert(Polynomial polynomial);

  std::vector<Polynomial> alternatives; // never empty; none is at most another
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_SIZEEXPR_H
