//===- Machine.h - Rendering a chat template ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHAT_MACHINE_H
#define ATTUNE_RUNTIME_TEXT_CHAT_MACHINE_H

#include "Program.h"
#include "Value.h"

#include "attune/chat.h"
#include "runtime/src/Error.h"

namespace attune::chat {

/// The arguments of a call.
struct Arguments {
  const Value *values = nullptr;
  uint32_t count = 0;
  const Value *keywords = nullptr;      ///< strings
  const Value *keywordValues = nullptr; ///< one for each of them
  uint32_t numKeywords = 0;
};

/// A block of memory with a limit. Allocations follow each other; |release| frees all after a mark.
class Memory {
public:
  Memory() = default;
  Memory(char *begin, size_t bytes) : begin(begin), limit(bytes) {}

  /// Allocates |bytes| at a multiple of 16 in the block; returns null if they do not fit.
  void *take(size_t bytes) {
    size_t start = (used + 15) & ~static_cast<size_t>(15);
    if (start > limit || bytes > limit - start)
      return nullptr;
    used = start + bytes;
    return begin + start;
  }
  /// Extends the allocation that ends at |end| by |bytes|; returns false if it is not the last one or they do not fit.
  bool extend(const char *end, size_t bytes) {
    if (end != begin + used || bytes > limit - used)
      return false;
    used += bytes;
    return true;
  }
  size_t mark() const { return used; }
  void release(size_t mark) { used = mark; }
  /// Sets the limit for all later allocations together to |bytes|.
  void setRoom(size_t bytes) {
    room = bytes;
    limit = used + bytes;
  }
  size_t getRoom() const { return room; }

private:
  char *begin = nullptr;
  size_t used = 0, limit = 0, room = 0;
};

/// The output of a rendering so far.
struct OutputText {
  char *data = nullptr;
  size_t bytes = 0, limit = 0;
};

/// The state of one rendering, and the operations that need memory or may fail.
class Machine {
public:
  Machine(const Program &program, Memory &memory, OutputText &output) : program(program), memory(memory), output(output) {}

  const Program &program;
  Memory &memory;
  OutputText &output;
  Table *variables = nullptr; ///< of the rendering
  const attune_chat_date *date = nullptr;
  attune_chat_span *spans = nullptr;
  size_t numSpans = 0, maxSpans = 0;
  uint64_t steps = 0; ///< steps that are left
  Value *stackTop = nullptr, *stackEnd = nullptr;
  uint32_t depth = 0;      ///< functions that run
  uint32_t generators = 0; ///< nested generators that are computing an item
  uint32_t captures = 0;   ///< captures that are open
  size_t rootBytes = 0;    ///< output before the outermost of them
  bool located = false;    ///< the message of a failure names its line

  /// Runs |function| with |frame|. Sets |result| to the value of ReturnValue; a function that ends with Return leaves
  /// it.
  attune_status run(uint32_t function, Frame &frame, Value &result);
  /// Creates a frame of |function| whose slots are Missing and whose enclosing frame is |outer|.
  attune_status makeFrame(uint32_t function, Frame *outer, Frame *&frame);

  /// Fails with INVALID_ARGUMENT and the message, of which at most 899 bytes are kept.
  __attribute__((format(printf, 2, 3))) attune_status error(const char *format, ...);
  attune_status outOfMemory();
  /// Fails with the message of an undefined value.
  attune_status undefinedError(const Value &value);
  /// Takes |count| from the steps that are left. Fails with LIMIT_EXCEEDED if there are fewer.
  attune_status charge(uint64_t count) {
    if (count > steps)
      return stepsExceeded();
    steps -= count;
    return ATTUNE_OK;
  }

  template <typename T>
  attune_status take(size_t count, T *&result) {
    result = count > SIZE_MAX / sizeof(T) / 2 ? nullptr : static_cast<T *>(memory.take(count * sizeof(T)));
    return result ? ATTUNE_OK : outOfMemory();
  }
  attune_status takeText(size_t bytes, char *&result);
  /// Creates an empty array with the capacity |capacity|.
  attune_status makeArray(size_t capacity, Array *&array);
  attune_status push(Array &array, const Value &value);
  attune_status makeTable(size_t capacity, Table *&table);
  /// Sets |key| of |table|; fails for keys that cannot be hashed.
  attune_status set(Table &table, const Value &key, const Value &value);
  attune_status makePair(const Value &first, const Value &second, Value &result);
  attune_status copyText(Text text, Value &result, bool escaped = false);

  attune_status write(Text text);
  /// Begins a capture of output; the interpreter keeps its marks.
  void beginCapture() {
    if (captures++ == 0)
      rootBytes = output.bytes;
  }
  size_t visibleBytes() const { return captures ? rootBytes : output.bytes; }

private:
  attune_status stepsExceeded();
};

/// A string that grows in the machine's memory.
class Builder {
public:
  explicit Builder(Machine &machine) : machine(machine) {}
  attune_status add(Text text);
  attune_status add(char c) { return add(Text(&c, 1)); }
  attune_status addCharacter(uint32_t character);
  Text text() const { return data ? Text(data, bytes) : Text(); }
  Value value(bool escaped = false) const { return Value::ofText(text(), escaped); }

private:
  Machine &machine;
  char *data = nullptr;
  size_t bytes = 0, capacity = 0;
};

//===--- Operators.cpp -----------------------------------------------------===//

/// Returns the name of the type for messages: "str", "int", "NoneType".
const char *typeName(Tag tag);
/// Returns the truth of |value| as Python's bool does.
bool isTrue(Machine &machine, const Value &value);
/// Sets |result| to a == b. Fails with LIMIT_EXCEEDED if values are nested too deep or no steps are left. |depth|, also
/// in the functions below, is the number of lists, tuples and dictionaries that enclose the operands.
attune_status equals(Machine &machine, const Value &a, const Value &b, bool &result, unsigned depth = 0);
/// Computes a < b, or a <= b if |orEqual|.
attune_status less(Machine &machine, const Value &a, const Value &b, bool orEqual, bool &result, unsigned depth = 0);
/// Computes |comparison|, a number of ChatFormat.h, of |a| and |b|.
attune_status compare(Machine &machine, uint32_t comparison, const Value &a, const Value &b, bool &result);
/// Computes `item in container`.
attune_status contains(Machine &machine, const Value &item, const Value &container, bool &result);
/// Finds |key| in |table|; sets |pair| to null if it is not there. Fails for keys that cannot be hashed.
attune_status find(Machine &machine, const Table &table, const Value &key, Pair *&pair);
/// Finds the string |key|; returns null if it is not there.
Pair *find(const Table &table, Text key);
/// Returns true for values that may be keys of dictionaries.
bool isHashable(const Value &key, unsigned depth = 0);

//===--- Arithmetic.cpp ----------------------------------------------------===//

/// Computes a + b.
attune_status add(Machine &machine, const Value &a, const Value &b, Value &result);
/// Computes |operation| of two values: everything but Add and Concat.
attune_status arithmetic(Machine &machine, Operation operation, const Value &a, const Value &b, Value &result);
/// Computes -value (|minus|) or +value.
attune_status negate(Machine &machine, const Value &value, bool minus, Value &result);

//===--- Print.cpp ---------------------------------------------------------===//

/// Appends str(value).
attune_status print(Machine &machine, const Value &value, Builder &builder);
/// Appends repr(value).
attune_status represent(Machine &machine, const Value &value, Builder &builder, unsigned depth = 0);
/// Returns str(value) as a string; strings are returned unchanged.
attune_status toText(Machine &machine, const Value &value, Value &result);
/// Sets |result| to str(value), escaped for HTML; escaped strings are returned unchanged.
attune_status escape(Machine &machine, const Value &value, Value &result);
/// Returns `format % values` of a string |format|. An escaped one escapes what it formats, and so does the result.
attune_status formatPercent(Machine &machine, const Value &format, const Value &values, Value &result);
/// Returns `text.format(...)`.
attune_status formatBraces(Machine &machine, Text format, const Arguments &arguments, Value &result);

//===--- Json.cpp ----------------------------------------------------------===//

/// Returns json.dumps of |value| with the arguments of the filter tojson.
attune_status toJson(Machine &machine, const Value &value, const Value &ensureAscii, const Value &indent, const Value &separators,
                     const Value &sortKeys, Value &result);

//===--- Numbers.cpp -------------------------------------------------------===//

/// A buffer for any number as text.
using NumberText = char[512];
/// Writes repr(number) to |text|, the shortest decimal that reads back as the same number.
void formatFloat(double number, NumberText &text);
/// Writes |number| in decimal to |text|.
void formatInt(int64_t number, NumberText &text);
/// Writes |number| with |digits| digits after the point, which is a point in every locale.
void formatFixed(double number, int digits, NumberText &text);
/// Parses a number as Python's float(text) does. Returns false for other texts and those of more than 1023 bytes.
bool parseFloat(Text text, double &number);
/// Parses a number as Python's int(text, base) does; |base| is 0 or from 2 to 36. Returns false for other texts and
/// those of more than 1023 bytes. For a number beyond 64 bits sets |tooBig| and returns true, but |number| has no
/// meaning.
bool parseInt(Text text, int64_t base, int64_t &number, bool &tooBig);
/// Rounds |number| to |digits| digits after the point, half to even.
double roundTo(double number, int64_t digits);

//===--- Access.cpp --------------------------------------------------------===//

/// Returns object.name, an undefined value if there is none. Fails if |object| is undefined.
attune_status getAttribute(Machine &machine, const Value &object, Text name, Value &result);
/// Returns object[key], an undefined value if there is none. Fails if |object| is undefined.
attune_status getItem(Machine &machine, const Value &object, const Value &key, Value &result);
/// Returns object[start:stop:step]; limits may be None.
attune_status getSlice(Machine &machine, const Value &object, const Value &start, const Value &stop, const Value &step, Value &result);
/// Returns the attribute at a path such as "a.b.0", as in the filters map, select, sort and others, or |object| without
/// a path. |fallback|, if it is neither Missing nor None, replaces each undefined value on the path.
attune_status getPath(Machine &machine, const Value &object, const Value &path, const Value &fallback, Value &result);

//===--- Iterators.cpp -----------------------------------------------------===//

/// The kinds of sequences that an iterator runs over.
enum class IteratorKind : uint8_t { Array, Characters, Keys, View, Range, Empty, ReversedArray, ReversedTable, ReversedRange, Generator };

/// Filters that compute their items on demand, and the conditions of loops.
enum class GeneratorKind : uint8_t { Map, MapPath, Select, Items, Unique, Batch, Slice, LoopFilter };

/// The state of a generator. Fields that its kind does not need are unused.
struct Generator {
  GeneratorKind kind;
  bool reject, byAttribute, started;
  Iterator *source;
  Value value;     ///< the subject; iteration over it begins when the first item is requested
  uint16_t target; ///< number of the filter or test; NoTarget = select by the truth of the item
  Value path, fallback;
  Arguments arguments; ///< of the filter or test
  bool caseSensitive;
  int64_t count, index;
  Value fill;
  Array *seen;
  uint32_t function;
  Frame *frame;
};
constexpr uint16_t NoTarget = 0xFFFF;

/// A position in a sequence of items. |kind| decides which member of the union is valid.
struct Iterator {
  IteratorKind kind;
  ViewKind view;
  uint32_t bytes;
  int64_t index;
  union {
    Array *array;
    Table *table;
    Range *range;
    const char *text;
    Generator *generator;
  };
};

/// Returns an iterator over |value|, as Python's iter does; fails for values that are not iterable.
attune_status iterate(Machine &machine, const Value &value, Iterator *&iterator);
/// Returns true if iterate() accepts |value|.
bool isIterable(const Value &value);
/// Sets |item| to the next item and |done| to false, or |done| to true after the last item.
attune_status next(Machine &machine, Iterator &iterator, Value &item, bool &done);
/// Returns all items as an array.
attune_status collect(Machine &machine, const Value &value, Array *&array);
/// Returns len(value) or -1 for values that have no length.
int64_t lengthOf(const Value &value);
/// Creates a generator of |kind| over the items of |value|; |result| is an iterator over it.
attune_status makeGenerator(Machine &machine, GeneratorKind kind, const Value &value, Generator *&generator, Value &result);
/// Sets |result| to the iterator of `reverse` and |isSequence| to true. If |value| has no length, only sets
/// |isSequence| to false.
attune_status reversed(Machine &machine, const Value &value, Value &result, bool &isSequence);
/// Sets |length| to the number of items of |loop|, for which it may have to collect them.
attune_status loopLength(Machine &machine, Loop &loop, int64_t &length);
/// Sets loop.after to the next item of |loop|, if there is one.
attune_status loopPeek(Machine &machine, Loop &loop);

//===--- Filters and tests -------------------------------------------------===//

/// Sets |filter| to the number of the filter |name|; returns false if there is none.
bool findFilter(Text name, uint16_t &filter);
/// Sets |test| to the number of the test |name|; returns false if there is none.
bool findTest(Text name, uint16_t &test);
/// Applies the filter number |filter| to |subject|.
attune_status applyFilter(Machine &machine, uint16_t filter, const Value &subject, const Arguments &arguments, Value &result);
/// Applies the test number |test| to |subject|.
attune_status applyTest(Machine &machine, uint16_t test, const Value &subject, const Arguments &arguments, bool &result);
/// Assigns |arguments| to the parameters |names|, which are separated by blanks; after a '/' at the beginning they take
/// no keywords. Parameters without an argument become Missing. |what| names the callee in messages. Fails for arguments
/// without a parameter and parameters with two arguments.
attune_status bind(Machine &machine, const char *what, const char *names, const Arguments &arguments, Value *values);
/// Sorts |count| items and their |keys| by the keys. The sort is stable, also in |reverse|.
attune_status sortBy(Machine &machine, Value *items, Value *keys, uint32_t count, bool reverse);

//===--- Methods and calls -------------------------------------------------===//

/// A method of a type.
struct MethodEntry {
  const char *name;
  /// Null for methods that are not supported.
  attune_status (*call)(Machine &machine, const Value &self, const Arguments &arguments, Value &result);
};
/// Returns the method |name| of values of |type|; null if there is none.
const MethodEntry *findMethod(Tag type, Text name);
/// Returns the method |name| of strings; null if there is none.
const MethodEntry *findStringMethod(Text name);
/// Calls |callee|: a function, method, macro or joiner. Fails for other values.
attune_status callValue(Machine &machine, const Value &callee, const Arguments &arguments, Value &result);
/// Returns the global function |name|, or Missing.
Value findGlobal(Text name);
/// Calls the global function number |function|.
attune_status callFunction(Machine &machine, uint8_t function, const Arguments &arguments, Value &result);
/// Calls |method| of its value.
attune_status callMethod(Machine &machine, const Method &method, const Arguments &arguments, Value &result);
/// Returns true if |date| is a day of the calendar with a time of the day.
bool isDate(const attune_chat_date &date);
/// Formats |date| as Python's strftime does. Requires isDate(|date|). Fails for unsupported conversions.
attune_status formatDate(Machine &machine, Text format, const attune_chat_date &date, Value &result);

/// Returns an integer argument; fails for other values. |what| names the argument in messages.
attune_status wantInteger(Machine &machine, const Value &value, const char *what, int64_t &result);
/// Returns a string argument; fails for other values.
attune_status wantText(Machine &machine, const Value &value, const char *what, Text &result);

} // namespace attune::chat

#endif // ATTUNE_RUNTIME_TEXT_CHAT_MACHINE_H
