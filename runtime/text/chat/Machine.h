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
  const Value *keywords = nullptr;      ///< strings, all different
  const Value *keywordValues = nullptr; ///< one for each keyword
  uint32_t numKeywords = 0;
};

/// A block of memory with a limit. Allocations follow each other; release(mark) frees those made after mark().
class Memory {
public:
  Memory() = default;
  Memory(char *begin, size_t bytes) : begin(begin), limit(bytes) {}

  /// Allocates |bytes| bytes at an offset in the block that is a multiple of 16; returns null if they do not fit.
  void *take(size_t bytes) {
    size_t start = (used + 15) & ~static_cast<size_t>(15);
    if (start > limit || bytes > limit - start)
      return nullptr;
    used = start + bytes;
    return begin + start;
  }
  /// Extends the allocation that ends at |end| by |bytes| bytes. Returns false if this is not the last allocation, or
  /// if the bytes do not fit.
  bool extend(const char *end, size_t bytes) {
    if (end != begin + used || bytes > limit - used)
      return false;
    used += bytes;
    return true;
  }
  size_t mark() const { return used; }
  void release(size_t mark) { used = mark; }
  /// Lets all later allocations together take at most |bytes| bytes, which must fit into the block.
  void setRoom(size_t bytes) {
    room = bytes;
    limit = used + bytes;
  }
  size_t getRoom() const { return room; }

private:
  char *begin = nullptr;
  size_t used = 0, limit = 0, room = 0;
};

/// The output of a rendering so far. Of the |limit| bytes at |data|, the last is for a NUL.
struct OutputText {
  char *data = nullptr;
  size_t bytes = 0, limit = 0;
};

/// The state of one rendering, and the operations of a rendering that need memory or may fail.
class Machine {
public:
  Machine(const Program &program, Memory &memory, OutputText &output) : program(program), memory(memory), output(output) {}

  const Program &program;
  Memory &memory;
  OutputText &output;
  Table *variables = nullptr;             ///< of the rendering
  const attune_chat_date *date = nullptr; ///< null if the host set none
  attune_chat_span *spans = nullptr;      ///< the parts that the assistant wrote, in bytes of the output
  size_t numSpans = 0, maxSpans = 0;
  uint64_t steps = 0; ///< steps that are left
  Value *stackTop = nullptr, *stackEnd = nullptr;
  uint32_t depth = 0;      ///< number of calls of run that have not returned
  uint32_t generators = 0; ///< nested generators that are computing an item
  uint32_t captures = 0;   ///< number of open captures
  size_t rootBytes = 0;    ///< bytes of output before the outermost open capture
  bool located = false;    ///< a call failed, and the message names its line of the template, if known

  /// Runs |function| with |frame|. Sets |result| to the value of ReturnValue; leaves |result| if the function ends with
  /// Return.
  attune_status run(uint32_t function, Frame &frame, Value &result);
  /// Creates a frame of |function| whose slots are Missing and whose enclosing frame is |outer|.
  attune_status makeFrame(uint32_t function, Frame *outer, Frame *&frame);

  /// Fails with INVALID_ARGUMENT and the message that printf makes of the arguments, of which at most 899 bytes are
  /// kept.
  __attribute__((format(printf, 2, 3))) attune_status error(const char *format, ...);
  attune_status outOfMemory();
  /// Fails with INVALID_ARGUMENT and the message of |value|, which is undefined.
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
  /// Creates an empty array with room for |capacity| items.
  attune_status makeArray(size_t capacity, Array *&array);
  attune_status push(Array &array, const Value &value);
  attune_status makeTable(size_t capacity, Table *&table);
  /// Sets |key| of |table| to |value|; fails for keys that cannot be hashed.
  attune_status set(Table &table, const Value &key, const Value &value);
  attune_status makePair(const Value &first, const Value &second, Value &result);
  attune_status copyText(Text text, Value &result, bool escaped = false);

  attune_status write(Text text);
  /// Begins a capture of output. The caller keeps output.bytes, at which the captured text begins, and ends the
  /// capture: it decrements |captures| and takes the text off the output.
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

/// Returns the name of a type for messages, mostly Python's: "str", "int", "NoneType".
const char *typeName(Tag tag);
/// Returns the truth of |value| as Python's bool does.
bool isTrue(Machine &machine, const Value &value);
/// Sets |result| to a == b. Fails with LIMIT_EXCEEDED if values are nested more than 200 deep or no steps are left.
/// |depth|, here and in the functions below, is the number of lists, tuples and dictionaries that enclose the operands.
attune_status equals(Machine &machine, const Value &a, const Value &b, bool &result, unsigned depth = 0);
/// Sets |result| to a < b, or to a <= b if |orEqual|. Fails for values that Python cannot order.
attune_status less(Machine &machine, const Value &a, const Value &b, bool orEqual, bool &result, unsigned depth = 0);
/// Sets |result| to the result of |comparison| (ATTUNE_CHAT_EQ …, ChatFormat.h) for |a| and |b|.
attune_status compare(Machine &machine, uint32_t comparison, const Value &a, const Value &b, bool &result);
/// Sets |result| to `item in container`.
attune_status contains(Machine &machine, const Value &item, const Value &container, bool &result);
/// Sets |pair| to the pair of |table| with the key |key|, null if there is none. Fails for keys that cannot be hashed.
attune_status find(Machine &machine, const Table &table, const Value &key, Pair *&pair);
/// Returns the pair of |table| with the string |key| as its key, null if there is none.
Pair *find(const Table &table, Text key);
/// Returns true for values that may be keys of dictionaries.
bool isHashable(const Value &key, unsigned depth = 0);

//===--- Arithmetic.cpp ----------------------------------------------------===//

/// Sets |result| to a + b.
attune_status add(Machine &machine, const Value &a, const Value &b, Value &result);
/// Sets |result| to |operation| of two values: Subtract, Multiply, Divide, FloorDivide, Remainder or Power.
attune_status arithmetic(Machine &machine, Operation operation, const Value &a, const Value &b, Value &result);
/// Sets |result| to -value if |minus|, else to +value.
attune_status negate(Machine &machine, const Value &value, bool minus, Value &result);

//===--- Print.cpp ---------------------------------------------------------===//

/// Appends str(value) to |builder|; nothing for an undefined value.
attune_status print(Machine &machine, const Value &value, Builder &builder);
/// Appends repr(value) to |builder|. Fails for values whose text would differ from run to run, such as methods.
attune_status represent(Machine &machine, const Value &value, Builder &builder, unsigned depth = 0);
/// Sets |result| to str(value); to |value| itself if it is a string, escaped or not.
attune_status toText(Machine &machine, const Value &value, Value &result);
/// Sets |result| to str(value), escaped for HTML; to |value| itself if it is an escaped string.
attune_status escape(Machine &machine, const Value &value, Value &result);
/// Sets |result| to `format % values`, where |format| is a string. If |format| is escaped, the formatted values are
/// escaped, and |result| is an escaped string.
attune_status formatPercent(Machine &machine, const Value &format, const Value &values, Value &result);
/// Sets |result| to the result of Python's str.format for |format| and |arguments|, a string that is not escaped.
attune_status formatBraces(Machine &machine, Text format, const Arguments &arguments, Value &result);

//===--- Json.cpp ----------------------------------------------------------===//

/// Sets |result| to json.dumps of |value|. The other values are the arguments of the filter tojson, Missing if not
/// given.
attune_status toJson(Machine &machine, const Value &value, const Value &ensureAscii, const Value &indent, const Value &separators,
                     const Value &sortKeys, Value &result);

//===--- Numbers.cpp -------------------------------------------------------===//

/// A buffer for the text that the next three functions write, and for a NUL after it.
using NumberText = char[512];
/// Writes repr(number) to |text|: the shortest decimal that reads back as the same number.
void formatFloat(double number, NumberText &text);
/// Writes |number| in decimal to |text|.
void formatInt(int64_t number, NumberText &text);
/// Writes |number| to |text| with |digits| digits, at most 100, after the decimal separator, a point in every locale.
void formatFixed(double number, int digits, NumberText &text);
/// Parses a number as Python's float(text) does. Returns false for other texts, and for those of more than 1023 bytes
/// without the white space around them.
bool parseFloat(Text text, double &number);
/// Parses a number as Python's int(text, base) does; |base| is 0 or from 2 to 36. Returns false for other texts, and
/// for those that are too long for parseFloat. For a number beyond 64 bits sets |tooBig| to true and returns true, but
/// |number| has no meaning.
bool parseInt(Text text, int64_t base, int64_t &number, bool &tooBig);
/// Returns |number| rounded to |digits| digits after the point, or to 10 ** -digits if |digits| < 0, half to even.
double roundTo(double number, int64_t digits);

//===--- Access.cpp --------------------------------------------------------===//

/// Sets |result| to object.name, or to an undefined value if there is none. Fails if |object| is undefined, except for
/// a name such as `__class__`, which gives an undefined value for every object.
attune_status getAttribute(Machine &machine, const Value &object, Text name, Value &result);
/// Sets |result| to object[key], or to an undefined value if there is none. Fails if |object| is undefined.
attune_status getItem(Machine &machine, const Value &object, const Value &key, Value &result);
/// Sets |result| to object[start:stop:step], where each of the three may be None. Fails unless |object| is a string,
/// list, tuple or range.
attune_status getSlice(Machine &machine, const Value &object, const Value &start, const Value &stop, const Value &step, Value &result);
/// Sets |result| to the item of |object| at a path such as "a.b.0", as the filters map, selectattr, sort and others
/// take it; to |object| if |path| is Missing or None. |fallback|, if it is neither Missing nor None, replaces each
/// undefined value on the path.
attune_status getPath(Machine &machine, const Value &object, const Value &path, const Value &fallback, Value &result);

//===--- Iterators.cpp -----------------------------------------------------===//

/// The kinds of sequences that an iterator runs over.
enum class IteratorKind : uint8_t { Array, Characters, Keys, View, Range, Empty, ReversedArray, ReversedTable, ReversedRange, Generator };

/// The kinds of generators: filters that compute their items on demand, and the conditions of loops.
enum class GeneratorKind : uint8_t { Map, MapPath, Select, Items, Unique, Batch, Slice, LoopFilter };

/// The state of a generator. Fields that its kind does not need are unused.
struct Generator {
  GeneratorKind kind;
  bool reject, byAttribute, started;
  Iterator *source; ///< over the subject, once |started|; not of Slice
  Value value;      ///< the subject; its iteration begins when the first item is requested, but at once for LoopFilter
  uint16_t target;  ///< Map, Select: number of the filter or test; NoTarget = select by the truth of the item
  Value path, fallback;
  Arguments arguments; ///< of the filter or test
  bool caseSensitive;
  int64_t count, index; ///< Batch: items of a list. Slice: number of lists, index of the next list
  Value fill;
  Array *seen;       ///< Unique: keys of the items so far. Slice: all items of the subject
  uint32_t function; ///< LoopFilter: the condition
  Frame *frame;      ///< LoopFilter: the frame of the function that has the loop
};
constexpr uint16_t NoTarget = 0xFFFF;

/// A position in a sequence of items. |kind| decides which member of the union is valid.
struct Iterator {
  IteratorKind kind;
  ViewKind view;  ///< View, ReversedTable. Characters: Keys if the string is escaped, else Items
  uint32_t bytes; ///< Characters: length of |text|
  int64_t index;  ///< of the next item; Characters: in bytes; Generator: -1 after the last item
  union {
    Array *array;
    Table *table;
    Range *range;
    const char *text;
    Generator *generator;
  };
};

/// Sets |iterator| to an iterator over |value|, as Python's iter does: to the iterator of |value| itself if |value| is
/// one. Fails for values that are not iterable.
attune_status iterate(Machine &machine, const Value &value, Iterator *&iterator);
/// Returns true if iterate() accepts |value|.
bool isIterable(const Value &value);
/// Sets |item| to the next item and |done| to false, or |done| to true after the last item.
attune_status next(Machine &machine, Iterator &iterator, Value &item, bool &done);
/// Sets |array| to a new array of the items of |value|. Fails for values that are not iterable.
attune_status collect(Machine &machine, const Value &value, Array *&array);
/// Returns len(value), in characters for a string; 0 for an undefined value, -1 for other values without a length.
int64_t lengthOf(const Value &value);
/// Creates a generator of |kind| over the items of |value|, and sets |result| to an iterator over the generator.
attune_status makeGenerator(Machine &machine, GeneratorKind kind, const Value &value, Generator *&generator, Value &result);
/// Sets |result| to an iterator over the items of |value| from the last to the first, and |isSequence| to true. If
/// |value| has no length, only sets |isSequence| to false.
attune_status reversed(Machine &machine, const Value &value, Value &result, bool &isSequence);
/// Sets |length| to the number of items of |loop|. If the source of |loop| has no length, collects the items that are
/// left.
attune_status loopLength(Machine &machine, Loop &loop, int64_t &length);
/// Sets loop.after to the next item of |loop|; it stays Missing after the last item.
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
/// Assigns |arguments| to the parameters |names|, which blanks separate. If |names| begins with '/', the parameters
/// take no keywords. Sets |values| to one value for each parameter, Missing if it has no argument. |what| names the
/// callee in messages. Fails for an argument without a parameter, and for a parameter with two arguments.
attune_status bind(Machine &machine, const char *what, const char *names, const Arguments &arguments, Value *values);
/// Sorts |count| items and their |keys| by the keys, in descending order if |reverse|. Items with equal keys keep their
/// order in both cases.
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
/// Calls |callee|, a function, method, macro or joiner, and sets |result|. Fails for other values.
attune_status callValue(Machine &machine, const Value &callee, const Arguments &arguments, Value &result);
/// Returns the global function |name|, or Missing.
Value findGlobal(Text name);
/// Calls the global function number |function|.
attune_status callFunction(Machine &machine, uint8_t function, const Arguments &arguments, Value &result);
/// Calls |method| on the value to which it is bound. Fails if the method is not supported.
attune_status callMethod(Machine &machine, const Method &method, const Arguments &arguments, Value &result);
/// Returns true if |date| exists: the fields are in the ranges of attune_chat_date, and the month has the day.
bool isDate(const attune_chat_date &date);
/// Sets |result| to |date| as Python's strftime formats it. Requires isDate(date). Fails for unsupported conversions.
attune_status formatDate(Machine &machine, Text format, const attune_chat_date &date, Value &result);

/// Sets |result| to the integer or boolean |value|, an argument of |what|; fails for other values.
attune_status wantInteger(Machine &machine, const Value &value, const char *what, int64_t &result);
/// Sets |result| to the text of the string |value|, an argument of |what|; fails for other values.
attune_status wantText(Machine &machine, const Value &value, const char *what, Text &result);

} // namespace attune::chat

#endif // ATTUNE_RUNTIME_TEXT_CHAT_MACHINE_H
