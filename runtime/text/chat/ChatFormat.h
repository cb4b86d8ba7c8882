//===- ChatFormat.h - Compiled chat templates -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section CHAT of .text files holds a program, which the compiler (compiler/Text) writes. The operations of its
// instructions and the numbers of filters and tests are below. A program is one block of bytes, little endian, at an
// address that is a multiple of 8:
//
//   header | templates | functions | constants | variables | calls | names | instructions | lines | text
//
// Each table follows the one before; constants begin at a multiple of 8. The header has the number of elements of each
// table. Offsets of strings count bytes from the beginning of `text`. Tables refer to elements of others by their
// index. An element of `names` is the index of a constant that is a string.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHAT_CHATFORMAT_H
#define ATTUNE_RUNTIME_TEXT_CHAT_CHATFORMAT_H

#include <cstdint>

/// "CHAT" as a little-endian number.
#define ATTUNE_CHAT_MAGIC 0x54414843u
#define ATTUNE_CHAT_VERSION 1u
/// The function of a template that could not be compiled.
#define ATTUNE_CHAT_NO_FUNCTION 0xFFFFFFFFu

/// A string in the table `text`: its offset and its size in bytes.
typedef struct attune_chat_string {
  uint32_t offset, bytes;
} attune_chat_string;

typedef struct attune_chat_header {
  uint32_t magic, version;
  uint32_t bytes; ///< size of the whole program
  uint32_t num_templates;
  uint32_t num_functions;
  uint32_t num_constants;
  uint32_t num_variables;
  uint32_t num_calls;
  uint32_t num_names;
  uint32_t num_instructions;
  uint32_t num_lines;
  uint32_t text_bytes;
  uint32_t num_defaults; ///< number of variables of every rendering (special tokens); the last 2 * num_defaults
                         ///< elements of `names` are a name and a value for each
  uint32_t reserved;
} attune_chat_header;

/// A named template.
typedef struct attune_chat_template {
  attune_chat_string name;
  uint32_t function; ///< its body, or ATTUNE_CHAT_NO_FUNCTION
  uint32_t reserved;
  attune_chat_string text; ///< the reason why there is no function; empty if there is one
} attune_chat_template;

/// Flags of functions, in this order: the function uses `caller`, `kwargs`, `varargs`.
enum { ATTUNE_CHAT_TAKES_CALLER = 1, ATTUNE_CHAT_TAKES_KEYWORDS = 2, ATTUNE_CHAT_TAKES_MORE = 4 };

/// A template's body, a macro, the body of a call block, or the condition of a loop. Its n parameters are the slots 0
/// to n - 1. The slots n, n + 1 and n + 2 always exist; each of them is `caller`, `kwargs` or `varargs` if the flag of
/// this name is set and no parameter has the name.
typedef struct attune_chat_function {
  uint32_t first_instruction, num_instructions;
  uint32_t num_slots;
  uint16_t num_parameters, flags;
  uint32_t first_name; ///< index in `names` of the name of the first parameter; the others follow
  uint32_t name;       ///< constant: the name of a macro, "" for other functions
} attune_chat_function;

/// Kinds of constants.
enum { ATTUNE_CHAT_STRING = 0, ATTUNE_CHAT_INTEGER = 1, ATTUNE_CHAT_FLOAT = 2 };

typedef struct attune_chat_constant {
  uint32_t kind;
  uint32_t bytes; ///< size of a string
  uint64_t value; ///< offset of a string, or the bits of an int64_t or double
} attune_chat_constant;

/// A variable as one function sees it: slot |slot| of the function itself if |depth| is 0, else of the enclosing
/// function |depth| levels further out.
typedef struct attune_chat_variable {
  uint16_t depth, slot;
  uint32_t name; ///< constant: the name of the variable
} attune_chat_variable;

/// Flags of calls, in this order: the call has an argument after `*`, after `**`.
enum { ATTUNE_CHAT_SPREAD = 1, ATTUNE_CHAT_SPREAD_KEYWORDS = 2 };

/// A call, whose operands are on the stack, from the bottom: the callee, or the subject of a filter or test;
/// |num_arguments| values; |num_keywords| values; the argument after `*` if the flags say so; the argument after `**`
/// if they say so.
typedef struct attune_chat_call {
  uint16_t num_arguments, num_keywords, flags;
  uint16_t target;     ///< number of the filter or test; 0 for other calls
  uint32_t first_name; ///< index in `names` of the first keyword; the others follow
} attune_chat_call;

/// The line of a template from which instructions come: those from the index |instruction| up to that of the next
/// element of `lines`.
typedef struct attune_chat_line {
  uint32_t instruction, line;
} attune_chat_line;

/// Instructions: the low 8 bits are the operation, the high 24 bits an operand. The list has the name of each
/// operation, and the kind of its operand (OperandKind). Values are pushed to and popped from the stack of the
/// function.
#define ATTUNE_CHAT_OPERATIONS(X)                                                                                                          \
  X(Return, Nothing)     /* ends the function */                                                                                           \
  X(Text, String)        /* appends a string to the output */                                                                              \
  X(Output, Nothing)     /* appends the popped value to the output */                                                                      \
  X(OutputText, Nothing) /* the same; fails unless the value is a string */                                                                \
  X(Constant, Constant)                                                                                                                    \
  X(None, Nothing)                                                                                                                         \
  X(True, Nothing)                                                                                                                         \
  X(False, Nothing)                                                                                                                        \
  X(Undefined, String) /* pushes an undefined value with this message */                                                                   \
  X(Load, Variable)    /* pushes the value, or an undefined value with the variable's name */                                              \
  X(LoadRaw, Variable) /* pushes the value, Missing if there is none */                                                                    \
  X(Store, Variable)                                                                                                                       \
  X(Clear, Variable)     /* sets the variable to Missing */                                                                                \
  X(Resolve, Variable)   /* sets the variable from the rendering's variables or global functions */                                        \
  X(IsMissing, Variable) /* pushes true if the variable is Missing, else false */                                                          \
  X(Pop, Nothing)                                                                                                                          \
  X(List, Count)                                                                                                                           \
  X(Tuple, Count)                                                                                                                          \
  X(Dict, Count) /* of this many pairs of key and value */                                                                                 \
  X(Attribute, String)                                                                                                                     \
  X(Item, Nothing)                                                                                                                         \
  X(Slice, Nothing)           /* of the popped object, start, stop and step, the last on top */                                            \
  X(SetAttribute, String)     /* of the namespace on top of the stack, to the value below it; pops both */                                 \
  X(CheckNamespace, Variable) /* fails unless the variable is a namespace */                                                               \
  X(Add, Nothing)                                                                                                                          \
  X(Subtract, Nothing)                                                                                                                     \
  X(Multiply, Nothing)                                                                                                                     \
  X(Divide, Nothing)                                                                                                                       \
  X(FloorDivide, Nothing)                                                                                                                  \
  X(Remainder, Nothing)                                                                                                                    \
  X(Power, Nothing)                                                                                                                        \
  X(Concat, Count)                                                                                                                         \
  X(Negate, Nothing)                                                                                                                       \
  X(Plus, Nothing)                                                                                                                         \
  X(Not, Nothing)                                                                                                                          \
  X(Compare, Comparison)                                                                                                                   \
  X(CopyUnder, Nothing) /* a b -> b a b */                                                                                                 \
  X(DropUnder, Nothing) /* a b -> b */                                                                                                     \
  X(Jump, Target)                                                                                                                          \
  X(JumpIfFalse, Target) /* pops the condition */                                                                                          \
  X(JumpIfFalseElsePop, Target)                                                                                                            \
  X(JumpIfTrueElsePop, Target)                                                                                                             \
  X(Filter, Call)                                                                                                                          \
  X(Test, Call)                                                                                                                            \
  X(Call, Call)                                                                                                                            \
  X(Iterate, Slot)        /* begins a loop over the popped value */                                                                        \
  X(IterateLoop, Slot)    /* the same, with a variable `loop`, which LoadLoop pushes */                                                    \
  X(FilterLoop, Function) /* pops a value; pushes an iterator of the function's results for its items, except Missing */                   \
  X(Next, Slot)           /* pushes the next item and skips the next instruction; after the last item, runs that instruction */            \
  X(LoadLoop, Slot)                                                                                                                        \
  X(ReturnValue, Nothing)  /* ends the function with the popped value */                                                                   \
  X(Unpack, Count)         /* pushes the items of the popped value, the first on top */                                                    \
  X(BeginCapture, Nothing) /* directs the output to a string */                                                                            \
  X(EndCapture, Nothing)   /* ends the capture and pushes its string */                                                                    \
  X(DropCapture, Nothing)  /* ends the capture and drops its string */                                                                     \
  X(Generation, Nothing)   /* appends the popped string to the output as text of the assistant */                                          \
  X(Macro, Function)

/// Comparisons, in the order of the operand of Compare.
enum {
  ATTUNE_CHAT_EQ,
  ATTUNE_CHAT_NE,
  ATTUNE_CHAT_LT,
  ATTUNE_CHAT_LE,
  ATTUNE_CHAT_GT,
  ATTUNE_CHAT_GE,
  ATTUNE_CHAT_IN,
  ATTUNE_CHAT_NOT_IN,
  ATTUNE_CHAT_NUM_COMPARISONS
};

/// Filters: the name in templates, and the enumerator of FilterName (Filters.h). The number of a filter in a program is
/// its position here, so another order needs a new ATTUNE_CHAT_VERSION.
#define ATTUNE_CHAT_FILTERS(X)                                                                                                             \
  X("abs", Abs)                                                                                                                            \
  X("attr", Attr)                                                                                                                          \
  X("batch", Batch)                                                                                                                        \
  X("capitalize", Capitalize)                                                                                                              \
  X("center", Center)                                                                                                                      \
  X("count", Count)                                                                                                                        \
  X("d", D)                                                                                                                                \
  X("default", Default)                                                                                                                    \
  X("dictsort", DictSort)                                                                                                                  \
  X("e", E)                                                                                                                                \
  X("escape", Escape)                                                                                                                      \
  X("first", First)                                                                                                                        \
  X("float", Float)                                                                                                                        \
  X("format", Format)                                                                                                                      \
  X("indent", Indent)                                                                                                                      \
  X("int", Int)                                                                                                                            \
  X("items", Items)                                                                                                                        \
  X("join", Join)                                                                                                                          \
  X("last", Last)                                                                                                                          \
  X("length", Length)                                                                                                                      \
  X("list", List)                                                                                                                          \
  X("lower", Lower)                                                                                                                        \
  X("map", Map)                                                                                                                            \
  X("max", Max)                                                                                                                            \
  X("min", Min)                                                                                                                            \
  X("reject", Reject)                                                                                                                      \
  X("rejectattr", RejectAttr)                                                                                                              \
  X("replace", Replace)                                                                                                                    \
  X("reverse", Reverse)                                                                                                                    \
  X("round", Round)                                                                                                                        \
  X("safe", Safe)                                                                                                                          \
  X("select", Select)                                                                                                                      \
  X("selectattr", SelectAttr)                                                                                                              \
  X("slice", Slice)                                                                                                                        \
  X("sort", Sort)                                                                                                                          \
  X("string", String)                                                                                                                      \
  X("sum", Sum)                                                                                                                            \
  X("title", Title)                                                                                                                        \
  X("tojson", ToJson)                                                                                                                      \
  X("trim", Trim)                                                                                                                          \
  X("truncate", Truncate)                                                                                                                  \
  X("unique", Unique)                                                                                                                      \
  X("upper", Upper)

/// Tests: the name in templates, and the enumerator of TestName (Filters.h), numbered as filters are.
#define ATTUNE_CHAT_TESTS(X)                                                                                                               \
  X("!=", Ne1)                                                                                                                             \
  X("<", Lt1)                                                                                                                              \
  X("<=", Le1)                                                                                                                             \
  X("==", Eq1)                                                                                                                             \
  X(">", Gt1)                                                                                                                              \
  X(">=", Ge1)                                                                                                                             \
  X("boolean", Boolean)                                                                                                                    \
  X("callable", Callable)                                                                                                                  \
  X("defined", Defined)                                                                                                                    \
  X("divisibleby", DivisibleBy)                                                                                                            \
  X("eq", Eq)                                                                                                                              \
  X("equalto", EqualTo)                                                                                                                    \
  X("escaped", Escaped)                                                                                                                    \
  X("even", Even)                                                                                                                          \
  X("false", False)                                                                                                                        \
  X("float", Float)                                                                                                                        \
  X("ge", Ge)                                                                                                                              \
  X("greaterthan", GreaterThan)                                                                                                            \
  X("gt", Gt)                                                                                                                              \
  X("in", In)                                                                                                                              \
  X("integer", Integer)                                                                                                                    \
  X("iterable", Iterable)                                                                                                                  \
  X("le", Le)                                                                                                                              \
  X("lessthan", LessThan)                                                                                                                  \
  X("lower", Lower)                                                                                                                        \
  X("lt", Lt)                                                                                                                              \
  X("mapping", Mapping)                                                                                                                    \
  X("ne", Ne)                                                                                                                              \
  X("none", None)                                                                                                                          \
  X("number", Number)                                                                                                                      \
  X("odd", Odd)                                                                                                                            \
  X("sameas", SameAs)                                                                                                                      \
  X("sequence", Sequence)                                                                                                                  \
  X("string", String)                                                                                                                      \
  X("true", True)                                                                                                                          \
  X("undefined", Undefined)                                                                                                                \
  X("upper", Upper)

namespace attune::chat {

/// The operations of instructions.
enum class Operation : uint8_t {
#define ATTUNE_CHAT_NAME(name, operand) name,
  ATTUNE_CHAT_OPERATIONS(ATTUNE_CHAT_NAME)
#undef ATTUNE_CHAT_NAME
      Count
};

/// The kinds of operands.
enum class OperandKind : uint8_t {
  Nothing,
  String,     ///< number of a constant that is a string
  Constant,   ///< number of a constant
  Variable,   ///< number of a variable
  Comparison, ///< number of a comparison
  Call,       ///< number of a call
  Function,   ///< number of a function
  Slot,       ///< number of a slot of the function
  Target,     ///< index in `instructions` of the instruction to jump to
  Count       ///< number of values or pairs that the operation pops, or pushes (Unpack)
};

/// The kind of each operation's operand, by the number of the operation.
inline constexpr OperandKind operandKinds[] = {
#define ATTUNE_CHAT_NAME(name, operand) OperandKind::operand,
    ATTUNE_CHAT_OPERATIONS(ATTUNE_CHAT_NAME)
#undef ATTUNE_CHAT_NAME
};

/// The names of the filters, by number.
inline constexpr const char *filterNames[] = {
#define ATTUNE_CHAT_NAME(text, name) text,
    ATTUNE_CHAT_FILTERS(ATTUNE_CHAT_NAME)
#undef ATTUNE_CHAT_NAME
};

/// The names of the tests, by number.
inline constexpr const char *testNames[] = {
#define ATTUNE_CHAT_NAME(text, name) text,
    ATTUNE_CHAT_TESTS(ATTUNE_CHAT_NAME)
#undef ATTUNE_CHAT_NAME
};

} // namespace attune::chat

#endif // ATTUNE_RUNTIME_TEXT_CHAT_CHATFORMAT_H
