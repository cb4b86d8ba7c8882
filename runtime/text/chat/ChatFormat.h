//===- ChatFormat.h - Compiled chat templates -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section CHAT of .text files, which the compiler (compiler/Text) writes: a program. The operations of its
// instructions and the numbers of filters and tests are below. One block of bytes at a multiple of 8, little endian:
//
//   header | templates | functions | constants | variables | calls | names | instructions | lines | text
//
// Each table follows the one before; constants begin at a multiple of 8. The header has the lengths of the tables.
// Offsets of strings count from the beginning of `text`.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHAT_CHATFORMAT_H
#define ATTUNE_RUNTIME_TEXT_CHAT_CHATFORMAT_H

#include <cstdint>

/// "CHAT" as a little-endian number.
#define ATTUNE_CHAT_MAGIC 0x54414843u
#define ATTUNE_CHAT_VERSION 1u
/// The function of a template that could not be compiled.
#define ATTUNE_CHAT_NO_FUNCTION 0xFFFFFFFFu

/// A string in the section `text`.
typedef struct attune_chat_string {
  uint32_t offset, bytes;
} attune_chat_string;

typedef struct attune_chat_header {
  uint32_t magic, version;
  uint32_t bytes; ///< of the whole program
  uint32_t num_templates;
  uint32_t num_functions;
  uint32_t num_constants;
  uint32_t num_variables;
  uint32_t num_calls;
  uint32_t num_names;
  uint32_t num_instructions;
  uint32_t num_lines;
  uint32_t text_bytes;
  uint32_t num_defaults; ///< variables of every rendering (special tokens): the last 2 * num_defaults names are names and values
  uint32_t reserved;
} attune_chat_header;

/// A named template.
typedef struct attune_chat_template {
  attune_chat_string name;
  uint32_t function; ///< its body, or ATTUNE_CHAT_NO_FUNCTION
  uint32_t reserved;
  attune_chat_string text; ///< the reason why there is no function
} attune_chat_template;

/// Flags of functions.
enum { ATTUNE_CHAT_TAKES_CALLER = 1, ATTUNE_CHAT_TAKES_KEYWORDS = 2, ATTUNE_CHAT_TAKES_MORE = 4 };

/// A template's body, a macro, the body of a call block, or the condition of a loop. Its n parameters are the
/// slots 0 to n - 1. The slots n, n + 1 and n + 2 always exist; they are `caller`, `kwargs` and `varargs` if the flags
/// say so.
typedef struct attune_chat_function {
  uint32_t first_instruction, num_instructions;
  uint32_t num_slots;
  uint16_t num_parameters, flags;
  uint32_t first_name; ///< in `names`: constants with the names of the parameters
  uint32_t name;       ///< constant with the name of a macro
} attune_chat_function;

/// Kinds of constants.
enum { ATTUNE_CHAT_STRING = 0, ATTUNE_CHAT_INTEGER = 1, ATTUNE_CHAT_FLOAT = 2 };

typedef struct attune_chat_constant {
  uint32_t kind;
  uint32_t bytes; ///< of a string
  uint64_t value; ///< offset of a string, or the bits of a number
} attune_chat_constant;

/// A variable as one function sees it: slot |slot| of the enclosing function |depth| levels further out.
typedef struct attune_chat_variable {
  uint16_t depth, slot;
  uint32_t name; ///< constant with the name of the variable
} attune_chat_variable;

/// Flags of calls.
enum { ATTUNE_CHAT_SPREAD = 1, ATTUNE_CHAT_SPREAD_KEYWORDS = 2 };

/// The arguments of a call on the stack: callee or subject, |num_arguments| values, |num_keywords| values, then what
/// `*` and `**` spread.
typedef struct attune_chat_call {
  uint16_t num_arguments, num_keywords, flags;
  uint16_t target;     ///< number of the filter or test
  uint32_t first_name; ///< in `names`: constants with the keywords
} attune_chat_call;

/// The line of a template from which the instructions at |instruction| and after it come.
typedef struct attune_chat_line {
  uint32_t instruction, line;
} attune_chat_line;

/// Instructions: the low 8 bits are the operation, the high 24 an operand. The name of each operation, and the kind of
/// its operand.
#define ATTUNE_CHAT_OPERATIONS(X)                                                                                                          \
  X(Return, Nothing)     /* ends the function */                                                                                           \
  X(Text, String)        /* appends a string to the output */                                                                              \
  X(Output, Nothing)     /* appends the popped value to the output */                                                                      \
  X(OutputText, Nothing) /* the same; fails unless it is a string */                                                                       \
  X(Constant, Constant)                                                                                                                    \
  X(None, Nothing)                                                                                                                         \
  X(True, Nothing)                                                                                                                         \
  X(False, Nothing)                                                                                                                        \
  X(Undefined, String) /* pushes an undefined value with this message */                                                                   \
  X(Load, Variable)    /* pushes the value, or undefined with the variable's name */                                                       \
  X(LoadRaw, Variable) /* pushes the value, or the mark of a missing one */                                                                \
  X(Store, Variable)                                                                                                                       \
  X(Clear, Variable)     /* the variable has no value any more */                                                                          \
  X(Resolve, Variable)   /* takes the value from the variables of the rendering */                                                         \
  X(IsMissing, Variable) /* pushes whether the variable has no value */                                                                    \
  X(Pop, Nothing)                                                                                                                          \
  X(List, Count)                                                                                                                           \
  X(Tuple, Count)                                                                                                                          \
  X(Dict, Count) /* pairs of key and value */                                                                                              \
  X(Attribute, String)                                                                                                                     \
  X(Item, Nothing)                                                                                                                         \
  X(Slice, Nothing)           /* object, start, stop, step */                                                                              \
  X(SetAttribute, String)     /* of the namespace on top of the stack, to the value below it */                                            \
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
  X(JumpIfFalse, Target) /* pops */                                                                                                        \
  X(JumpIfFalseElsePop, Target)                                                                                                            \
  X(JumpIfTrueElsePop, Target)                                                                                                             \
  X(Filter, Call)                                                                                                                          \
  X(Test, Call)                                                                                                                            \
  X(Call, Call)                                                                                                                            \
  X(Iterate, Slot)        /* begins a loop over the popped value */                                                                        \
  X(IterateLoop, Slot)    /* the same with a variable `loop`, which LoadLoop gets */                                                       \
  X(FilterLoop, Function) /* replaces each item of the popped value by the function's result for it, or drops it if there is none */       \
  X(Next, Slot)           /* pushes the next item and skips the next instruction; after the last item, runs that instruction */            \
  X(LoadLoop, Slot)                                                                                                                        \
  X(ReturnValue, Nothing)  /* ends the function with the popped value */                                                                   \
  X(Unpack, Count)         /* pushes the items of the popped value, the first on top */                                                    \
  X(BeginCapture, Nothing) /* directs the output to a string */                                                                            \
  X(EndCapture, Nothing)   /* pushes that string */                                                                                        \
  X(DropCapture, Nothing)  /* forgets it */                                                                                                \
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
  Slot,       ///< slot of the function
  Target,     ///< instruction to jump to
  Count       ///< number of values on the stack
};

/// The kinds of the operations' operands.
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
