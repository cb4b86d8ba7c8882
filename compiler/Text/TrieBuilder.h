//===- TrieBuilder.h - Building double-array tries ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TRIEBUILDER_H
#define ATTUNE_COMPILER_TEXT_TRIEBUILDER_H

#include "runtime/text/TextTables.h"

#include <map>
#include <string>
#include <vector>

namespace attune::text {

/// Returns the trie of the keys of |strings| with their values, in the format that TrieUnit describes. The number of
/// units is a power of two.
std::vector<TrieUnit> buildTrie(const std::map<std::string, uint32_t> &strings);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TRIEBUILDER_H
