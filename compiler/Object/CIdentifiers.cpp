//===- CIdentifiers.cpp - Names of a model as identifiers of C ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/CIdentifiers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace attune;

/// The names that no parameter may have, each between spaces: the keywords of C23, C++23 and GNU C, macros that
/// compilers predefine (`linux`), and the names that the function `…_workspace_bytes` of the header uses itself
/// (`workers`, `uint64_t`). Keywords that begin with an underscore are missing: toParameter adds a prefix to all names
/// that begin like them.
static constexpr llvm::StringLiteral kReservedNames =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t "
    "class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto "
    "i386 if inline int int64_t linux long mutable namespace new noexcept not not_eq NULL nullptr operator or "
    "or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof "
    "static static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename typeof typeof_unqual uint64_t union unix unsigned using virtual void volatile wchar_t while "
    "workers xor xor_eq ";

/// Returns |text| with an underscore for every byte that is no ASCII letter or digit.
static std::string replacePunctuation(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isAlnum(c) ? c : '_';
  return result;
}

/// Returns the name of a C parameter for |name|. The results for two names may be equal.
static std::string toParameter(llvm::StringRef name) {
  std::string parameter = replacePunctuation(name);
  // Identifiers that begin with two underscores or with an underscore and a capital letter are reserved to the
  // compiler.
  bool isCompilers = parameter.size() > 1 && parameter[0] == '_' && (parameter[1] == '_' || llvm::isUpper(parameter[1]));
  if (parameter.empty() || llvm::isDigit(parameter[0]) || isCompilers)
    return "dim_" + parameter;
  return kReservedNames.contains(" " + parameter + " ") ? parameter + "_" : parameter;
}

/// Returns |choose|(name) for each of |names|, in the same order. Where another name already has that result, appends
/// `_2`, `_3` and so on. A name that |choose| does not change has precedence: it keeps its result wherever it is in
/// |names|.
static std::vector<std::string> createDifferent(llvm::ArrayRef<llvm::StringRef> names, std::string (*choose)(llvm::StringRef)) {
  std::vector<std::string> result(names.size());
  llvm::StringSet<> taken;
  for (auto [name, text] : llvm::zip_equal(names, result))
    if (choose(name) == name && taken.insert(name).second)
      text = name.str();
  for (auto [name, text] : llvm::zip_equal(names, result)) {
    if (!text.empty())
      continue;
    std::string first = choose(name);
    text = first;
    for (int number = 2; !taken.insert(text).second; ++number)
      text = first + "_" + std::to_string(number);
  }
  return result;
}

std::vector<std::string> attune::createParameterNames(llvm::ArrayRef<llvm::StringRef> names) { return createDifferent(names, toParameter); }

std::vector<std::string> attune::createEnumeratorSuffixes(llvm::ArrayRef<llvm::StringRef> names) {
  return createDifferent(names, [](llvm::StringRef name) { return name == "count" ? "count_" : replacePunctuation(name); });
}
