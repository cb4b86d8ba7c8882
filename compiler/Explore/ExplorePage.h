//===- ExplorePage.h - The page of attune explore ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `attune explore` writes one HTML file that needs no other file. It consists of page.html.in, page.css, page.js and
// the data of a compilation, compressed and in base64. Long texts are separate items of the data; the browser decodes
// an item only when a view needs it. Names that come from a model are only in the data, and the script inserts them as
// text, never as markup.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_EXPLORE_EXPLOREPAGE_H
#define ATTUNE_COMPILER_EXPLORE_EXPLOREPAGE_H

#include "compiler/Explore/ExploredCompilation.h"
#include "compiler/Support/Json.h"

namespace attune {

/// The attention probabilities of a layer for one sequence, `[heads, rows, columns]` in row-major order: one row for
/// each query, one column for each key. Each probability is a byte, 255 for a probability of 1.
struct AttentionMap {
  std::string name;
  int64_t heads = 0, rows = 0, columns = 0;
  /// True if the map has all queries and keys; false if it has only the first ones of a long sequence.
  bool whole = true;
  std::string probabilities;
};

/// The content of the page that does not come from the compilation.
struct ExploreFacts {
  std::string title, entry;
  /// Facts about the model: an object that has a text for each label, such as "cpu".
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  /// |kernels| has one row for each kernel, with the fields that `bench --profile` prints or, if the kernels were not
  /// measured, those that `inspect` prints. |machine| has the rates of the machine, `gflops` and `read_bytes_per_s`,
  /// and the number of `threads`; it is null if the kernels were not measured.
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array(), machine;
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  std::vector<std::string> tokens;
  std::vector<AttentionMap> attention;
};

/// Returns the page of |compilation| and |facts| as HTML.
std::string createExplorePage(const ExploredCompilation &compilation, const ExploreFacts &facts);

} // namespace attune

#endif // ATTUNE_COMPILER_EXPLORE_EXPLOREPAGE_H
