//===- ExplorePage.h - The page of attune explore ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A page of HTML with everything in it: page.html.in, page.css and page.js, and the data of a compilation as compressed
// base64, of which the browser reads the long parts when a view needs them. Names that come from a model are only in
// that data, and the script makes text of them, never markup.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_EXPLORE_EXPLOREPAGE_H
#define ATTUNE_COMPILER_EXPLORE_EXPLOREPAGE_H

#include "compiler/Explore/ExploredCompilation.h"
#include "compiler/Support/Json.h"

namespace attune {

/// The attention probabilities of a layer, a byte for each: 255 for 1. `[heads, rows, columns]`.
struct AttentionMap {
  std::string name;
  int64_t heads = 0, rows = 0, columns = 0;
  /// True if no query and no key was left out.
  bool whole = true;
  std::string probabilities;
};

/// The content of the page beside the compilation.
struct ExploreFacts {
  std::string title, entry;
  /// Lines of text about the model, by what they say.
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  /// Rows of `bench --profile` or `inspect`, one for each kernel, and the rates of the machine.
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array(), machine;
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  std::vector<std::string> tokens;
  std::vector<AttentionMap> attention;
};

/// Returns the text of the page.
std::string createExplorePage(const ExploredCompilation &compilation, const ExploreFacts &facts);

} // namespace attune

#endif // ATTUNE_COMPILER_EXPLORE_EXPLOREPAGE_H
