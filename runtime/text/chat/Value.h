//===- Value.h - Values of chat templates ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While a template runs, values are immutable, except namespaces, cyclers, joiners and the state of loops and
// iterators: the sandbox of templates forbids changes of lists and dictionaries. Strings are UTF-8. Positions that a
// template sees count characters, as in Python; offsets in this code count bytes unless a comment says otherwise.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHAT_VALUE_H
#define ATTUNE_RUNTIME_TEXT_CHAT_VALUE_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace attune::chat {

/// A reference to a string that is stored elsewhere: |bytes| bytes of UTF-8, not necessarily NUL-terminated.
struct Text {
  const char *data = "";
  size_t bytes = 0;

  Text() = default;
  Text(const char *data, size_t bytes) : data(data), bytes(bytes) {}
  Text(const char *literal) : data(literal), bytes(strlen(literal)) {}
  bool operator==(const Text &other) const { return bytes == other.bytes && (bytes == 0 || memcmp(data, other.data, bytes) == 0); }
  bool operator!=(const Text &other) const { return !(*this == other); }
  Text from(size_t offset) const { return {data + offset, bytes - offset}; }
};

/// The type of a value.
enum class Tag : uint8_t {
  Missing, ///< no value: a variable that is not set, an argument that is not given
  Undefined,
  None,
  Bool,
  Int,
  Float,
  String,
  List,
  Tuple,
  Dict,
  Namespace,
  Range,
  View,     ///< items, keys or values of a dictionary
  Iterator, ///< yields each item once
  Loop,
  Macro,
  Method,
  Function,
  Cycler,
  Joiner,
  Capture ///< the beginning of captured output; on the stack only
};

/// The reason why a value is undefined. It selects the error message (Machine::undefinedError): for Name, Attribute and
/// Unsafe, the text of the value is the name that is not found or not allowed; for Message, it is the message itself.
enum class Missed : uint8_t { Name, Attribute, Element, Message, Unsafe };

/// The three views of a dictionary.
enum class ViewKind : uint8_t { Items, Keys, Values };

struct Value;
struct Iterator;
struct Loop;
struct Macro;
struct Method;

/// The items of a list or tuple, or the state of a cycler (position, then the items) or of a joiner (separator, then
/// whether it was called).
struct Array {
  Value *items;
  uint32_t count, capacity;
};

struct Pair;
/// The pairs of a dictionary or namespace, in the order of insertion.
struct Table {
  Pair *pairs;
  uint32_t count, capacity;
};

/// The value of range(start, stop, step), with |count| items.
struct Range {
  int64_t start, stop, step, count;

  /// Returns item |index|, which must be from 0 to count - 1. The item has at most 64 bits, but index * step may have
  /// more; the unsigned arithmetic wraps and gives the right sum.
  int64_t at(int64_t index) const {
    return static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(index) * static_cast<uint64_t>(step));
  }
};

/// A value of a template.
struct Value {
  Tag tag = Tag::Missing;
  uint8_t flag = 0;   ///< String: 1 = escaped text (Markup). Undefined: Missed. View: ViewKind. Function: FunctionName
  uint16_t other = 0; ///< Undefined: the Tag of the object that lacks |text|; Missing if there is none
  uint32_t bytes = 0; ///< String, Undefined: length of |text|
  union {
    int64_t integer; ///< Int, Bool, Capture
    double number;
    const char *text;
    Array *array;
    Table *table;
    Range *range;
    Iterator *iterator;
    Loop *loop;
    Macro *macro;
    Method *method;
  };

  Value() : integer(0) {}
  static Value none() { return ofTag(Tag::None); }
  static Value boolean(bool value) { return ofInteger(Tag::Bool, value); }
  static Value ofInt(int64_t value) { return ofInteger(Tag::Int, value); }
  static Value ofFloat(double number) {
    Value value = ofTag(Tag::Float);
    value.number = number;
    return value;
  }
  static Value ofText(Text text, bool escaped = false) {
    Value value = ofTag(Tag::String);
    value.flag = escaped;
    value.bytes = static_cast<uint32_t>(text.bytes);
    value.text = text.data;
    return value;
  }
  static Value undefined(Missed why, Text text, Tag object = Tag::Missing) {
    Value value = ofTag(Tag::Undefined);
    value.flag = static_cast<uint8_t>(why);
    value.other = static_cast<uint16_t>(object);
    value.bytes = static_cast<uint32_t>(text.bytes);
    value.text = text.data;
    return value;
  }
  static Value ofArray(Tag tag, Array *array) {
    Value value = ofTag(tag);
    value.array = array;
    return value;
  }
  static Value ofTable(Tag tag, Table *table) {
    Value value = ofTag(tag);
    value.table = table;
    return value;
  }
  static Value ofTag(Tag tag) {
    Value value;
    value.tag = tag;
    return value;
  }
  static Value ofInteger(Tag tag, int64_t integer) {
    Value value = ofTag(tag);
    value.integer = integer;
    return value;
  }

  bool is(Tag other) const { return tag == other; }
  bool isMissing() const { return tag == Tag::Missing; }
  bool isUndefined() const { return tag == Tag::Undefined; }
  bool isString() const { return tag == Tag::String; }
  bool isEscaped() const { return tag == Tag::String && flag; }
  /// Returns true for integers and for booleans, which count as integers.
  bool isInteger() const { return tag == Tag::Int || tag == Tag::Bool; }
  bool isNumber() const { return isInteger() || tag == Tag::Float; }
  bool isArray() const { return tag == Tag::List || tag == Tag::Tuple; }
  /// Returns the text of a string or undefined value.
  Text str() const { return {text, bytes}; }
  double asDouble() const { return tag == Tag::Float ? number : static_cast<double>(integer); }
};
static_assert(sizeof(Value) == 16);

/// A key and its value in a Table.
struct Pair {
  Value key, value;
};

/// The slots of one run of a function, and the frame of the function that encloses it in the template; |outer| is null
/// for the body of the template.
struct Frame {
  Frame *outer;
  Value *slots;
  uint32_t numSlots;
};

/// A macro: the index of its function in Program::functions, and the frame in which it was defined.
struct Macro {
  uint32_t function;
  Frame *outer;
};

/// A method bound to the value |self|.
struct Method {
  Value self;
  const struct MethodEntry *entry;
};

/// The variable `loop`. |iterator| runs over |source|.
struct Loop {
  Value source;
  Iterator *iterator;
  int64_t index;                ///< -1 before the first item
  int64_t length;               ///< -1 = not known yet
  Value before, current, after; ///< items; Missing = none, |after| also if it was not requested yet
  Value changed;                ///< the arguments of the last call of loop.changed, a tuple; Missing before the first
};

} // namespace attune::chat

#endif // ATTUNE_RUNTIME_TEXT_CHAT_VALUE_H
