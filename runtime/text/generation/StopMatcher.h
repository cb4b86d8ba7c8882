//===- StopMatcher.h - Texts that end a generation ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the stop string that ends first in a text that comes in pieces; of several that end at the same byte, the
// longest. Also says how much of the text may be shown: bytes at its end that may be the beginning of a stop string
// wait. Each string is matched by the algorithm of Knuth, Morris and Pratt, so a byte costs amortized constant time for
// each string.
//
// The bytes that wait need no memory: they are the beginning of the stop string of which most bytes match.
//
//   stop string   "\nUser:"          text   "Hello!\nUs"     shown "Hello!", 3 bytes wait: the first 3 of the stop string
//                                    text   "Hello!\nUse me" shown all
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_GENERATION_STOPMATCHER_H
#define ATTUNE_RUNTIME_TEXT_GENERATION_STOPMATCHER_H

#include <cstddef>
#include <cstdint>

namespace attune::text {

/// The stop strings of a generation, with the tables of the algorithm.
class StopSet {
public:
  /// Returns the number of bytes of memory that open() needs for |count| strings.
  static size_t memoryBytes(const char *const *strings, size_t count);
  /// Builds the tables in |memory|, which has memoryBytes() bytes at a multiple of 8. |strings| are borrowed; none is
  /// empty.
  void open(const char *const *strings, size_t count, void *memory);

  size_t size() const { return count; }
  const char *string(size_t index) const { return strings[index]; }
  size_t bytes(size_t index) const { return sizes[index]; }
  /// Returns the largest number of bytes at the beginning of string |index| with which the text ends after |byte|.
  /// |matched| is this number before |byte|, and less than the size of the string.
  size_t advance(size_t index, size_t matched, uint8_t byte) const;

private:
  const char *const *strings = nullptr;
  size_t count = 0;
  size_t *sizes = nullptr;
  /// The failure function, borders[string][matched bytes]: the length of the longest proper prefix of the matched bytes
  /// that is also a suffix of them.
  uint32_t **borders = nullptr;
};

/// The state of the search in one text.
class StopMatcher {
public:
  /// |states| has room for one number for each string of |set|. Both are borrowed.
  void open(const StopSet &set, size_t *states);
  void reset();

  /// Adds |bytes| bytes of the text. Calls |show|(data, size) for the bytes that may be shown now, in order. Returns
  /// true if a stop string is complete: the text ends before it, and everything before it was shown. The next call must
  /// then be reset().
  template <typename Show>
  bool add(const char *data, size_t bytes, Show show) {
    size_t begin = seen, from = shown;
    const char *waited = waiting;
    bool stopped = scan(data, bytes);
    if (shown > from && begin > from)
      show(waited, (shown < begin ? shown : begin) - from);
    if (shown > begin)
      show(data, shown - begin);
    return stopped;
  }
  /// Ends the text: calls |show| for what waited.
  template <typename Show>
  void finish(Show show) {
    if (seen > shown)
      show(waiting, seen - shown);
    reset();
  }

private:
  /// Adds the piece and sets |shown| to the number of bytes of the text that may be shown. Returns true if a stop
  /// string is complete.
  bool scan(const char *data, size_t bytes);

  const StopSet *set = nullptr;
  size_t *states = nullptr;
  size_t seen = 0, shown = 0;    // bytes of the text: added, and shown or to be shown
  const char *waiting = nullptr; // the bytes from |shown| to |seen|
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_GENERATION_STOPMATCHER_H
