//===- ExplorePage.h - The page of attune explore ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `attune explore` writes one HTML file that needs no other: page.html.in, page.css and page.js, and the data of a
// compilation, compressed and in base64. Long texts are separate items of the data, which the browser decodes when a
// view needs them. Names that come from a model are only in the data, and the script makes text of them, never markup.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_EXPLORE_EXPLOREPAGE_H
#define ATTUNE_COMPILER_EXPLORE_EXPLOREPAGE_H

#include "compiler/Explore/ExploredCompilation.h"
#include "compiler/Support/Json.h"

namespace attune {

/// The attention probabilities of a layer, `[heads, rows, columns]` in row-major order: one row for each query, one
/// column for each key. Each probability is a byte, 255 for a probability of 1.
struct AttentionMap {
  std::string name;
  int64_t heads = 0, rows = 0, columns = 0;
  /// True if the map has all queries and keys; long sequences are cut off.
  bool whole = true;
  std::string probabilities;
};

/// The content of the page that does not come from the compilation.
struct ExploreFacts {
  std::string title, entry;
  /// Facts about the model: a text for each label, such as "cpu".
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  /// One row for each kernel, with the fields that `bench --profile` or `inspect` prints, and the rates of the machine
  /// (`gflops`, `read_bytes_per_s`), which are absent if the kernels were not measured.
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array(), machine;
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  std::vector<std::string> tokens;
  std::vector<AttentionMap> attention;
};

/// Returns the HTML of the page.
std::string createExplorePage(const ExploredCompilation &compilation, const ExploreFacts &facts);

} // namespace attune

#endif // ATTUNE_COMPILER_EXPLORE_EXPLOREPAGE_H
