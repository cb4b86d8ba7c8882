//===- AdaptedTensors.cpp - Tensors with adapters merged ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/AdaptedTensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace attune;

using TensorChanges = std::map<std::string, TensorChange, std::less<>>;

/// Adds elements |column| … |column| + |count| - 1 of row |row| of |term| to the |count| values |sums|.
static void addRow(const LowRankTerm &term, int64_t row, int64_t column, int64_t count, double *sums) {
  for (int64_t k = 0; k < term.rank; ++k) {
    const double factor = term.scale * term.left[row * term.rank + k];
    const float *right = term.right.data() + k * term.columns + column;
    for (int64_t i = 0; i < count; ++i)
      sums[i] += factor * right[i];
  }
}

/// Returns the term with the largest magnitude at element |row|, |column|; null if a factor of a term is infinite or
/// NaN there.
static const LowRankTerm *findOverflow(const std::vector<LowRankTerm> &terms, int64_t row, int64_t column) {
  const LowRankTerm *largest = nullptr;
  double most = -1;
  for (const LowRankTerm &term : terms) {
    double sum = 0;
    for (int64_t k = 0; k < term.rank; ++k) {
      const double left = term.left[row * term.rank + k], right = term.right[k * term.columns + column];
      if (!std::isfinite(left) || !std::isfinite(right))
        return nullptr;
      sum += term.scale * left * right;
    }
    const double size = std::isnan(sum) ? std::numeric_limits<double>::infinity() : std::fabs(sum);
    if (size > most) {
      largest = &term;
      most = size;
    }
  }
  return largest;
}

/// Adds |terms| to |out|, the |count| elements from |begin| on of a row-major tensor. If finite factors make a finite
/// element infinite or NaN, stops at that element and returns the term with the largest magnitude there; else returns
/// null.
static const LowRankTerm *addTerms(const std::vector<LowRankTerm> &terms, int64_t begin, int64_t count, float *out) {
  const int64_t columns = terms.front().columns;
  std::vector<double> sums(std::min(columns, count));
  for (int64_t done = 0; done < count;) {
    int64_t row = (begin + done) / columns, column = (begin + done) % columns;
    int64_t length = std::min(columns - column, count - done);
    std::fill_n(sums.begin(), length, 0.0);
    for (const LowRankTerm &term : terms)
      addRow(term, row, column, length, sums.data());
    for (int64_t i = 0; i < length; ++i) {
      const float sum = static_cast<float>(out[done + i] + sums[i]);
      if (!std::isfinite(sum) && std::isfinite(out[done + i]))
        if (const LowRankTerm *term = findOverflow(terms, row, column + i))
          return term;
      out[done + i] = sum;
    }
    done += length;
  }
  return nullptr;
}

namespace {

class AdaptedTensors : public TensorProvider {
public:
  AdaptedTensors(std::unique_ptr<TensorProvider> base, TensorChanges changes, std::shared_ptr<void> owner)
      : base(std::move(base)), changes(std::move(changes)), owner(std::move(owner)) {
    for (const auto &[name, change] : this->changes)
      if (change.replacement)
        replaced.emplace(name, TensorSpec{name, change.replacement->dtype, change.replacement->shape});
  }

  const TensorSpec *find(std::string_view name) const override {
    auto found = replaced.find(name);
    return found == replaced.end() ? base->find(name) : &found->second;
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> known = base->names();
    std::set<std::string> all(known.begin(), known.end());
    for (const auto &entry : replaced)
      all.insert(entry.first);
    return {all.begin(), all.end()};
  }

  std::string fileOf(std::string_view name) const override {
    std::string file = unmergedFileOf(name);
    // A message about infinite or NaN values must name all files from which such a value may come.
    if (auto found = changes.find(name); found != changes.end())
      for (const LowRankTerm &term : found->second.terms)
        file += " with the adapter " + term.origin;
    return file;
  }

  Status read(std::string_view name, int64_t begin, int64_t count, float *out) const override {
    auto found = changes.find(name);
    const TensorView *own = found != changes.end() && found->second.replacement ? &*found->second.replacement : nullptr;
    if (!own) {
      if (Status status = base->read(name, begin, count, out); status.failed())
        return status;
    } else if (begin < 0 || count < 0 || begin > own->elements || count > own->elements - begin) {
      return Status::error(found->second.file + ": tensor '" + own->name + "': expected a range within " + std::to_string(own->elements) +
                           " elements");
    } else {
      convertToF32(*own, begin, count, out);
    }
    if (found != changes.end() && !found->second.terms.empty())
      if (const LowRankTerm *term = addTerms(found->second.terms, begin, count, out))
        return Status::error(unmergedFileOf(name) + ": tensor '" + std::string(name) + "': expected finite values after the adapter " +
                             term->origin + " is merged, got an infinite one");
    return {};
  }

private:
  /// Returns the file of the tensor to which terms are added.
  std::string unmergedFileOf(std::string_view name) const {
    auto found = changes.find(name);
    return found != changes.end() && found->second.replacement ? found->second.file : base->fileOf(name);
  }

  std::unique_ptr<TensorProvider> base;
  TensorChanges changes;
  std::shared_ptr<void> owner;
  std::map<std::string, TensorSpec, std::less<>> replaced;
};

} // namespace

std::unique_ptr<TensorProvider> attune::adaptTensors(std::unique_ptr<TensorProvider> base, TensorChanges changes,
                                                     std::shared_ptr<void> owner) {
  return std::make_unique<AdaptedTensors>(std::move(base), std::move(changes), std::move(owner));
}
