//===- WeightFormat.cpp - Formats of weights ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/WeightFormat.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::xfmr;

/// In a format with one group per row, rows are padded to a multiple of this number of columns.
static constexpr int64_t kRowMultiple = 32;

/// The sizes of a group, in columns, that the name of a format may have; 0 stands for one group per row.
static constexpr int64_t kGroups[] = {0, 16, 32, 64, 128};

std::optional<WeightFormat> WeightFormat::parse(StringRef text) {
  WeightFormat format;
  if (text == "bf16" || text == "f16") {
    format.kind = text == "bf16" ? Kind::BF16 : Kind::F16;
    return format;
  }
  SmallVector<StringRef> words;
  text.split(words, ':');
  if (words.size() < 2 || !(words[0] == "int4" || words[0] == "int8"))
    return std::nullopt;
  format.bits = words[0] == "int4" ? 4 : 8;
  if (words[1].getAsInteger(10, format.group) || !llvm::is_contained(kGroups, format.group))
    return std::nullopt;
  ArrayRef<StringRef> rest = ArrayRef(words).drop_front(2);
  if (!rest.empty() && rest.front() == "asym") {
    format.minima = true;
    rest = rest.drop_front();
  }
  if (!rest.empty() && rest.front() == "f32") {
    format.wideScales = true;
    rest = rest.drop_front();
  }
  // Each format has one name: this rejects other spellings, such as numbers with leading zeros.
  return rest.empty() && format.str() == text ? std::optional(format) : std::nullopt;
}

std::string WeightFormat::str() const {
  if (isFloat())
    return kind == Kind::BF16 ? "bf16" : "f16";
  return "int" + std::to_string(bits) + ":" + std::to_string(group) + (minima ? ":asym" : "") + (wideScales ? ":f32" : "");
}

int64_t WeightFormat::groupColumns(int64_t columns) const {
  return group != 0 ? group : llvm::alignTo(std::max<int64_t>(columns, 1), kRowMultiple);
}

int64_t WeightFormat::groups(int64_t columns) const { return llvm::divideCeil(columns, groupColumns(columns)); }
