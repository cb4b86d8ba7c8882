//===- TemplateCode.cpp - Code of chat templates --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the instructions of runtime/text/chat/ChatFormat.h. The body of a template, each macro, each body of a call
// block and each condition of a loop is a function with slots for variables. Loops, `with`, `set`, `filter` and
// `generation` blocks are scopes inside a function. At run time a function reads the slots of the enclosing functions,
// like a Python closure.
//===----------------------------------------------------------------------===//

#include "compiler/Text/TemplateCode.h"
#include "compiler/Text/TemplateFunction.h"

#include <algorithm>
#include <set>

using namespace attune;
using chat::Operation;

namespace {

/// An assignment to a variable, which the destructor undoes.
class Temporarily {
public:
  Temporarily(bool &variable, bool value) : variable(variable), saved(variable) { variable = value; }
  ~Temporarily() { variable = saved; }

private:
  bool &variable;
  bool saved;
};

/// An emitter of the statements and expressions of one function.
class FunctionEmitter : public TemplateFunction {
public:
  using TemplateFunction::TemplateFunction;

  /// Emits the body of a template as a function without parameters and returns its index.
  uint32_t emitRoot(const NodeList &body);
  /// Emits a macro or the body of a call block, inside |scope|, as a function and returns its index.
  uint32_t emitMacro(const TemplateNode &node, const TemplateScope &scope);
  /// Emits the condition of a loop as a function of an item and returns its index. The function returns the item, as
  /// emitTarget gives it, if the condition is true, else a missing value.
  uint32_t emitCondition(const TemplateNode &loop, const TemplateScope &scope);

private:
  unsigned captures = 0;
  /// True inside an `if` statement of the same scope or inside an inline `if`. There, an unknown filter or test is an
  /// error of Jinja2 only when the template calls it.
  bool conditional = false;

  /// An enclosing loop, the target of `break` and `continue`.
  struct OpenLoop {
    uint32_t next;
    std::vector<uint32_t> breaks;
    unsigned captures;
  };
  std::vector<OpenLoop> loops;

  void emitList(const NodeList &list, const TemplateScope &scope);
  /// Emits the statements |list| of a new scope, |scope|. An `if` statement around the scope does not count for
  /// `conditional`.
  void emitBody(const NodeList &list, const TemplateScope &scope) {
    Temporarily outside(conditional, false);
    emitList(list, scope);
  }
  void emitStatement(const TemplateNode &node, const TemplateScope &scope);
  void emitFor(const TemplateNode &node, const TemplateScope &scope);
  void emitIf(const TemplateNode &node, const TemplateScope &scope);
  void emitSet(const TemplateNode &node, const TemplateScope &scope);
  void emitSetBlock(const TemplateNode &node, const TemplateScope &scope);
  void emitFilterBlock(const TemplateNode &node, const TemplateScope &scope);
  void emitWith(const TemplateNode &node, const TemplateScope &scope);
  void emitGeneration(const TemplateNode &node, const TemplateScope &scope);
  void emitJumpOut(const TemplateNode &node);
  void emitAssign(const TemplateNode &target, const TemplateScope &scope);
  void emitTarget(const TemplateNode &target, const TemplateScope &scope);
  void capture(const NodeList &body, const TemplateScope &scope);

  void emitExpression(const TemplateNode &node, const TemplateScope &scope);
  void emitOperands(const TemplateNode &node, const TemplateScope &scope);
  void emitBinary(const TemplateNode &node, const TemplateScope &scope);
  void emitCompare(const TemplateNode &node, const TemplateScope &scope);
  void emitConditional(const TemplateNode &node, const TemplateScope &scope);
  void emitSlice(const TemplateNode &node, const TemplateScope &scope);
  void emitCall(const TemplateNode &node, const TemplateScope &scope, const TemplateNode *callBlock = nullptr);
  void emitFilter(const TemplateNode &node, const TemplateScope &scope);
  void emitUnknown(const TemplateNode &node);
  std::optional<uint16_t> findName(const TemplateNode &node, const std::string &name, bool filter);
  void checkNamed(const TemplateNode &node);
};

} // namespace

uint32_t FunctionEmitter::emitRoot(const NodeList &body) {
  uint32_t index = program.reserveFunction();
  owner.numSlots = 3; // the slots for `caller`, `kwargs` and `varargs`, which every function has
  TemplateScope scope(owner, nullptr);
  scope.analyzeList(body);
  enter(scope);
  emitList(body, scope);
  return finish(index, "", {}, 0);
}

uint32_t FunctionEmitter::emitMacro(const TemplateNode &node, const TemplateScope &around) {
  line = node.line;
  uint32_t index = program.reserveFunction();
  TemplateScope scope(owner, &around);
  std::vector<std::string> parameters;
  for (const NodePtr &parameter : node.operands) {
    if (std::find(parameters.begin(), parameters.end(), parameter->text) != parameters.end())
      error("the parameter '" + parameter->text + "' is declared twice");
    parameters.push_back(parameter->text);
    scope.declareParameter(parameter->text);
  }
  if (parameters.size() > 1000)
    error("a macro has more than 1000 parameters");
  unsigned flags = 0;
  static const struct {
    const char *name;
    unsigned flag;
  } extras[] = {{"caller", ATTUNE_CHAT_TAKES_CALLER}, {"kwargs", ATTUNE_CHAT_TAKES_KEYWORDS}, {"varargs", ATTUNE_CHAT_TAKES_MORE}};
  for (auto [name, flag] : extras) {
    size_t position = static_cast<size_t>(std::find(parameters.begin(), parameters.end(), name) - parameters.begin());
    bool isParameter = position < parameters.size(), used = readsName(node.body, name);
    if (isParameter && used && flag == ATTUNE_CHAT_TAKES_CALLER && position + node.defaults.size() < parameters.size())
      error("the parameter 'caller' needs a default");
    if (used && flag == ATTUNE_CHAT_TAKES_CALLER)
      flags |= flag;
    if (used && !isParameter) {
      flags |= flag;
      scope.declareParameter(name);
    } else {
      ++owner.numSlots;
    }
  }
  scope.analyzeList(node.defaults);
  scope.analyzeList(node.body);
  enter(scope);
  size_t required = parameters.size() - node.defaults.size();
  for (size_t i = 0; i < parameters.size(); ++i) {
    VariableRef ref = lookUp(parameters[i], scope);
    emitVariable(Operation::IsMissing, ref, parameters[i]);
    uint32_t given = emit(Operation::JumpIfFalse);
    if (i < required)
      emit(Operation::Undefined, program.string("parameter '" + parameters[i] + "' was not provided"));
    else
      emitExpression(*node.defaults[i - required], scope);
    emitVariable(Operation::Store, ref, parameters[i]);
    patch(given);
  }
  emitList(node.body, scope);
  return finish(index, node.text, parameters, flags);
}

uint32_t FunctionEmitter::emitCondition(const TemplateNode &loop, const TemplateScope &around) {
  line = loop.line;
  uint32_t index = program.reserveFunction();
  owner.numSlots = 4; // the slot of the item, and the three of every function
  TemplateScope scope(owner, &around);
  scope.analyzeTarget(*loop.operands[0]);
  scope.analyze(*loop.operands[2]);
  enter(scope);
  emitVariable(Operation::Load, {&owner, 0}, "");
  emitAssign(*loop.operands[0], scope);
  emitExpression(*loop.operands[2], scope);
  uint32_t rejected = emit(Operation::JumpIfFalse);
  emitTarget(*loop.operands[0], scope);
  emit(Operation::ReturnValue);
  patch(rejected);
  emitVariable(Operation::LoadRaw, {&owner, 1}, ""); // the slot for `caller`, which nothing writes
  emit(Operation::ReturnValue);
  return finish(index, "", {""}, 0);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitList(const NodeList &list, const TemplateScope &scope) {
  for (const NodePtr &node : list) {
    if (problem.failed())
      return;
    emitStatement(*node, scope);
  }
}

void FunctionEmitter::emitStatement(const TemplateNode &node, const TemplateScope &scope) {
  line = node.line;
  switch (node.kind) {
  case NodeKind::Text:
    emit(Operation::Text, program.string(node.text));
    return;
  case NodeKind::Output:
    emitExpression(*node.operands[0], scope);
    emit(Operation::Output);
    return;
  case NodeKind::If:
    return emitIf(node, scope);
  case NodeKind::For:
    return emitFor(node, scope);
  case NodeKind::Set:
    return emitSet(node, scope);
  case NodeKind::SetBlock:
    return emitSetBlock(node, scope);
  case NodeKind::FilterBlock:
    return emitFilterBlock(node, scope);
  case NodeKind::With:
    return emitWith(node, scope);
  case NodeKind::Generation:
    return emitGeneration(node, scope);
  case NodeKind::Macro: {
    FunctionEmitter macro(program, problem, &owner);
    emit(Operation::Macro, macro.emitMacro(node, scope));
    emitVariable(Operation::Store, lookUp(node.text, scope), node.text);
    return;
  }
  case NodeKind::CallBlock:
    emitCall(*node.otherwise[0], scope, &node);
    emit(Operation::OutputText);
    return;
  default:
    emitJumpOut(node);
  }
}

void FunctionEmitter::emitIf(const TemplateNode &node, const TemplateScope &scope) {
  Temporarily inside(conditional, true);
  std::vector<uint32_t> ends;
  auto branch = [&](const TemplateNode &part) {
    line = part.line;
    emitExpression(*part.operands[0], scope);
    uint32_t otherwise = emit(Operation::JumpIfFalse);
    emitList(part.body, scope);
    ends.push_back(emit(Operation::Jump));
    patch(otherwise);
  };
  branch(node);
  for (const NodePtr &part : node.branches)
    branch(*part);
  emitList(node.otherwise, scope);
  for (uint32_t end : ends)
    patch(end);
}

/// Returns true if |node| or a descendant writes the name `loop`.
static bool writesLoop(const TemplateNode &node) {
  if (node.kind == NodeKind::Name && node.use == NameUse::Store && node.text == "loop")
    return true;
  bool found = false;
  forEachChild(node, [&](const TemplateNode &child) { found = found || writesLoop(child); });
  return found;
}

void FunctionEmitter::emitFor(const TemplateNode &node, const TemplateScope &around) {
  const TemplateNode &target = *node.operands[0], *condition = node.operands[2].get();
  TemplateScope scope(owner, &around), elseScope(owner, &around);
  bool usesLoop = readsName(node.body, "loop");
  std::optional<VariableRef> loopRef;
  if (usesLoop)
    loopRef = scope.declareParameter("loop");
  scope.analyzeTarget(target);
  scope.analyzeList(node.body);
  elseScope.analyzeList(node.otherwise);
  if (writesLoop(node))
    error("a loop cannot write the variable 'loop'");
  VariableRef state = hiddenSlot(), empty = state;
  if (!node.otherwise.empty()) {
    empty = hiddenSlot();
    emit(Operation::True);
    emitVariable(Operation::Store, empty, "");
  }
  if (usesLoop)
    emitVariable(Operation::Clear, *loopRef, "loop");
  emitExpression(*node.operands[1], around);
  if (condition) {
    FunctionEmitter function(program, problem, &owner);
    emit(Operation::FilterLoop, function.emitCondition(node, around));
  }
  emit(usesLoop ? Operation::IterateLoop : Operation::Iterate, state.slot);
  uint32_t next = emit(Operation::Next, state.slot);
  uint32_t exit = emit(Operation::Jump);
  emitAssign(target, scope);
  if (usesLoop) {
    emit(Operation::LoadLoop, state.slot);
    emitVariable(Operation::Store, *loopRef, "loop");
  }
  enter(scope);
  loops.push_back({next, {}, captures});
  emitBody(node.body, scope);
  line = node.line;
  if (!node.otherwise.empty()) {
    emit(Operation::False);
    emitVariable(Operation::Store, empty, "");
  }
  emit(Operation::Jump, next);
  patch(exit);
  for (uint32_t jump : loops.back().breaks)
    patch(jump);
  loops.pop_back();
  leave(scope);
  if (node.otherwise.empty())
    return;
  emitVariable(Operation::Load, empty, "");
  uint32_t end = emit(Operation::JumpIfFalse);
  enter(elseScope);
  emitBody(node.otherwise, elseScope);
  leave(elseScope);
  patch(end);
}

void FunctionEmitter::emitJumpOut(const TemplateNode &node) {
  bool isBreak = node.kind == NodeKind::Break;
  if (loops.empty())
    return error(std::string("'") + (isBreak ? "break" : "continue") + "' is not inside a loop");
  for (unsigned i = loops.back().captures; i < captures; ++i)
    emit(Operation::DropCapture);
  uint32_t jump = emit(Operation::Jump, loops.back().next);
  if (isBreak)
    loops.back().breaks.push_back(jump);
}

/// Emits code that pops a value and assigns it to |target|.
void FunctionEmitter::emitAssign(const TemplateNode &target, const TemplateScope &scope) {
  if (target.kind == NodeKind::Name)
    return emitVariable(Operation::Store, lookUp(target.text, scope), target.text);
  if (target.kind == NodeKind::NamespaceField) {
    emitVariable(Operation::LoadRaw, lookUp(target.text, scope), target.text);
    emit(Operation::SetAttribute, program.string(target.field));
    return;
  }
  emit(Operation::Unpack, static_cast<uint32_t>(target.operands.size()));
  for (const NodePtr &item : target.operands)
    emitAssign(*item, scope);
}

/// Emits code that pushes the value of |target|, the target of a loop. If it has several names, the value is a tuple,
/// whatever the type of the loop's item was.
void FunctionEmitter::emitTarget(const TemplateNode &target, const TemplateScope &scope) {
  if (target.kind == NodeKind::Name)
    return emitVariable(Operation::LoadRaw, lookUp(target.text, scope), target.text);
  for (const NodePtr &item : target.operands)
    emitTarget(*item, scope);
  emit(Operation::Tuple, static_cast<uint32_t>(target.operands.size()));
}

/// Calls |visit| with each NamespaceField in |target|.
template <typename Visit>
static void forEachField(const TemplateNode &target, Visit visit) {
  if (target.kind == NodeKind::NamespaceField)
    visit(target);
  for (const NodePtr &item : target.operands)
    forEachField(*item, visit);
}

void FunctionEmitter::emitSet(const TemplateNode &node, const TemplateScope &scope) {
  forEachField(*node.operands[0],
               [&](const TemplateNode &field) { emitVariable(Operation::CheckNamespace, lookUp(field.text, scope), field.text); });
  emitExpression(*node.operands[1], scope);
  emitAssign(*node.operands[0], scope);
}

/// Emits |body| so that its output becomes a string on the stack.
void FunctionEmitter::capture(const NodeList &body, const TemplateScope &scope) {
  emit(Operation::BeginCapture);
  ++captures;
  emitBody(body, scope);
  --captures;
  emit(Operation::EndCapture);
}

void FunctionEmitter::emitSetBlock(const TemplateNode &node, const TemplateScope &around) {
  TemplateScope scope(owner, &around);
  const TemplateNode *filter = node.operands[1].get();
  scope.analyzeList(node.body);
  enter(scope);
  capture(node.body, scope);
  line = node.line;
  if (filter)
    emitFilter(*filter, scope);
  emitAssign(*node.operands[0], around);
  leave(scope);
}

void FunctionEmitter::emitFilterBlock(const TemplateNode &node, const TemplateScope &around) {
  TemplateScope scope(owner, &around);
  scope.analyzeList(node.body);
  scope.analyze(*node.operands[0]);
  enter(scope);
  capture(node.body, scope);
  line = node.line;
  emitFilter(*node.operands[0], scope);
  emit(Operation::OutputText);
  leave(scope);
}

void FunctionEmitter::emitWith(const TemplateNode &node, const TemplateScope &around) {
  TemplateScope scope(owner, &around);
  for (size_t i = 0; i < node.operands.size(); i += 2)
    scope.analyze(*node.operands[i]);
  scope.analyzeList(node.body);
  enter(scope);
  for (size_t i = 0; i < node.operands.size(); i += 2) {
    emitExpression(*node.operands[i + 1], around);
    emitAssign(*node.operands[i], scope);
  }
  emitBody(node.body, scope);
  leave(scope);
}

/// Emits a generation block. In transformers the body is a macro without parameters that is called at once. So `break`
/// and `continue` cannot leave the body, and its `caller`, `kwargs` and `varargs` would be those of the macro.
void FunctionEmitter::emitGeneration(const TemplateNode &node, const TemplateScope &around) {
  for (const char *name : {"caller", "kwargs", "varargs"})
    if (readsName(node.body, name))
      error(std::string("'") + name + "' is not supported inside '{% generation %}'");
  TemplateScope scope(owner, &around);
  scope.analyzeList(node.body);
  std::vector<OpenLoop> outside;
  outside.swap(loops);
  enter(scope);
  capture(node.body, scope);
  outside.swap(loops);
  emit(Operation::Generation);
  leave(scope);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void FunctionEmitter::emitOperands(const TemplateNode &node, const TemplateScope &scope) {
  for (const NodePtr &operand : node.operands)
    emitExpression(*operand, scope);
}

void FunctionEmitter::emitExpression(const TemplateNode &node, const TemplateScope &scope) {
  if (problem.failed())
    return;
  auto count = static_cast<uint32_t>(node.operands.size());
  switch (node.kind) {
  case NodeKind::None:
    emit(Operation::None);
    return;
  case NodeKind::Boolean:
    emit(node.integer ? Operation::True : Operation::False);
    return;
  case NodeKind::Integer:
    emit(Operation::Constant, program.integer(node.integer));
    return;
  case NodeKind::Float:
    emit(Operation::Constant, program.number(node.number));
    return;
  case NodeKind::String:
    emit(Operation::Constant, program.string(node.text));
    return;
  case NodeKind::Name:
    return emitVariable(Operation::Load, lookUp(node.text, scope), node.text);
  case NodeKind::List:
  case NodeKind::Tuple:
    emitOperands(node, scope);
    emit(node.kind == NodeKind::List ? Operation::List : Operation::Tuple, count);
    return;
  case NodeKind::Dict:
    emitOperands(node, scope);
    emit(Operation::Dict, count / 2);
    return;
  case NodeKind::Concat:
    emitOperands(node, scope);
    emit(Operation::Concat, count);
    return;
  case NodeKind::Attribute:
    emitOperands(node, scope);
    line = node.line;
    emit(Operation::Attribute, program.string(node.text));
    return;
  case NodeKind::Item:
    emitOperands(node, scope);
    line = node.line;
    emit(Operation::Item);
    return;
  case NodeKind::Slice:
    return emitSlice(node, scope);
  case NodeKind::Not:
  case NodeKind::Negate:
  case NodeKind::Plus:
    emitOperands(node, scope);
    emit(node.kind == NodeKind::Not ? Operation::Not : node.kind == NodeKind::Negate ? Operation::Negate : Operation::Plus);
    return;
  case NodeKind::Binary:
    return emitBinary(node, scope);
  case NodeKind::And:
  case NodeKind::Or: {
    emitExpression(*node.operands[0], scope);
    uint32_t end = emit(node.kind == NodeKind::And ? Operation::JumpIfFalseElsePop : Operation::JumpIfTrueElsePop);
    emitExpression(*node.operands[1], scope);
    patch(end);
    return;
  }
  case NodeKind::Compare:
    return emitCompare(node, scope);
  case NodeKind::Conditional:
    return emitConditional(node, scope);
  case NodeKind::Call:
    return emitCall(node, scope);
  case NodeKind::Filter:
  case NodeKind::Test:
    emitExpression(*node.operands[0], scope);
    return emitFilter(node, scope);
  default:
    error("a statement stands in the place of an expression");
  }
}

void FunctionEmitter::emitBinary(const TemplateNode &node, const TemplateScope &scope) {
  static const struct {
    const char *sign;
    Operation operation;
  } operators[] = {{"+", Operation::Add},          {"-", Operation::Subtract},  {"*", Operation::Multiply}, {"/", Operation::Divide},
                   {"//", Operation::FloorDivide}, {"%", Operation::Remainder}, {"**", Operation::Power}};
  emitOperands(node, scope);
  line = node.line;
  for (auto [sign, operation] : operators)
    if (node.text == sign)
      emit(operation);
}

/// Emits `a < b < c` as `a < b and b < c` with b computed once.
void FunctionEmitter::emitCompare(const TemplateNode &node, const TemplateScope &scope) {
  static const char *const words[] = {"==", "!=", "<", "<=", ">", ">=", "in", "not in"};
  std::vector<uint32_t> ends;
  emitExpression(*node.operands[0], scope);
  for (size_t i = 0; i < node.words.size(); ++i) {
    emitExpression(*node.operands[i + 1], scope);
    auto comparison = static_cast<uint32_t>(std::find(std::begin(words), std::end(words), node.words[i]) - std::begin(words));
    bool last = i + 1 == node.words.size();
    if (!last)
      emit(Operation::CopyUnder);
    line = node.line;
    emit(Operation::Compare, comparison);
    if (!last)
      ends.push_back(emit(Operation::JumpIfFalseElsePop));
  }
  if (ends.empty())
    return;
  uint32_t done = emit(Operation::Jump);
  for (uint32_t end : ends)
    patch(end);
  emit(Operation::DropUnder);
  patch(done);
}

void FunctionEmitter::emitConditional(const TemplateNode &node, const TemplateScope &scope) {
  Temporarily inside(conditional, true);
  emitExpression(*node.operands[0], scope);
  uint32_t otherwise = emit(Operation::JumpIfFalse);
  emitExpression(*node.operands[1], scope);
  uint32_t end = emit(Operation::Jump);
  patch(otherwise);
  if (node.operands[2])
    emitExpression(*node.operands[2], scope);
  else
    emit(Operation::Undefined, program.string("the inline if-expression on line " + std::to_string(node.line) +
                                              " evaluated to false and no else section was defined."));
  patch(end);
}

void FunctionEmitter::emitSlice(const TemplateNode &node, const TemplateScope &scope) {
  for (const NodePtr &operand : node.operands) {
    if (operand)
      emitExpression(*operand, scope);
    else
      emit(Operation::None);
  }
  line = node.line;
  emit(Operation::Slice);
}

/// Methods of Python's types that templates may call but the runtime lacks.
static const std::set<std::string> missingMethods = {"casefold",    "encode",  "expandtabs", "format_map", "fromkeys", "isidentifier",
                                                     "isprintable", "istitle", "maketrans",  "swapcase",   "translate"};

void FunctionEmitter::emitCall(const TemplateNode &node, const TemplateScope &scope, const TemplateNode *callBlock) {
  std::vector<std::string> keywords;
  attune_chat_call call = {};
  bool isNamed = node.kind == NodeKind::Filter || node.kind == NodeKind::Test;
  if (!isNamed) {
    const TemplateNode &callee = *node.operands[0];
    if (callee.kind == NodeKind::Attribute && missingMethods.count(callee.text)) {
      line = node.line;
      return error("the method '" + callee.text + "' is not supported");
    }
    emitExpression(callee, scope);
  }
  for (const NodePtr &argument : node.arguments)
    emitExpression(*argument, scope);
  for (const auto &[name, value] : node.keywords) {
    keywords.push_back(name);
    emitExpression(*value, scope);
  }
  if (callBlock) {
    FunctionEmitter function(program, problem, &owner);
    keywords.push_back("caller");
    emit(Operation::Macro, function.emitMacro(*callBlock, scope));
  }
  if (node.spread) {
    emitExpression(*node.spread, scope);
    call.flags |= ATTUNE_CHAT_SPREAD;
  }
  if (node.spreadKeywords) {
    emitExpression(*node.spreadKeywords, scope);
    call.flags |= ATTUNE_CHAT_SPREAD_KEYWORDS;
  }
  line = node.line;
  if (node.arguments.size() > 1000 || keywords.size() > 1000)
    return error("a call has more than 1000 arguments");
  call.num_arguments = static_cast<uint16_t>(node.arguments.size());
  if (isNamed) {
    std::optional<uint16_t> found = findName(node, node.text, node.kind == NodeKind::Filter);
    if (!found)
      return emitUnknown(node);
    call.target = *found;
  }
  uint32_t index = program.call(call, keywords);
  emit(node.kind == NodeKind::Filter ? Operation::Filter : node.kind == NodeKind::Test ? Operation::Test : Operation::Call, index);
}

/// Emits a filter or test whose subject is on the stack. In a filter block, or a `set` block with filters, |node| may
/// be a chain of filters, the innermost of which has no subject.
void FunctionEmitter::emitFilter(const TemplateNode &node, const TemplateScope &scope) {
  bool inBlock = !node.operands[0] || (node.kind == NodeKind::Filter && node.operands[0]->kind == NodeKind::Filter);
  // In such a block the subject of the innermost filter is the captured text, and the inner filters are emitted here.
  // Elsewhere emitExpression has emitted them with their subject.
  const TemplateNode *innermost = &node;
  while (innermost->operands[0] && innermost->operands[0]->kind == NodeKind::Filter)
    innermost = innermost->operands[0].get();
  if (inBlock && !innermost->operands[0] && innermost != &node)
    emitFilter(*node.operands[0], scope);
  checkNamed(node);
  emitCall(node, scope);
}

/// Filters and tests of Jinja that the runtime lacks.
static const std::set<std::string> missingFilters = {"filesizeformat", "forceescape", "groupby",   "pprint",   "random", "striptags",
                                                     "urlencode",      "urlize",      "wordcount", "wordwrap", "xmlattr"};
static const std::set<std::string> missingTests = {"filter", "test"};

/// Returns the number of the filter |name|, or of the test |name| if not |filter|. Returns nullopt for a name that
/// Jinja2 does not know either, in a place where Jinja2 fails only when the filter or test is called. For other names
/// that are not supported, reports an error and returns 0.
std::optional<uint16_t> FunctionEmitter::findName(const TemplateNode &node, const std::string &name, bool filter) {
  auto search = [&](const auto &names) -> std::optional<uint16_t> {
    auto found = std::find(std::begin(names), std::end(names), name);
    if (found != std::end(names))
      return static_cast<uint16_t>(found - std::begin(names));
    if (conditional && !(filter ? missingFilters : missingTests).count(name))
      return std::nullopt;
    std::string list;
    for (const char *supported : names)
      list += std::string(" ") + supported;
    line = node.line;
    error(std::string("the ") + (filter ? "filter" : "test") + " '" + name + "' is not supported; supported are:" + list);
    return 0;
  };
  return filter ? search(chat::filterNames) : search(chat::testNames);
}

/// Emits code that fails, when it is executed, with Jinja2's error for the unknown filter or test |node|.
void FunctionEmitter::emitUnknown(const TemplateNode &node) {
  emit(Operation::Undefined,
       program.string(std::string("No ") + (node.kind == NodeKind::Filter ? "filter" : "test") + " named '" + node.text + "' found."));
  emit(Operation::Call, program.call({}, {}));
}

/// Reports an error if a literal argument of `map`, `select` or a similar filter names a filter or test that is not
/// supported.
void FunctionEmitter::checkNamed(const TemplateNode &node) {
  size_t position = 0;
  if (node.text == "selectattr" || node.text == "rejectattr")
    position = 1;
  else if (node.text != "map" && node.text != "select" && node.text != "reject")
    return;
  if (node.kind == NodeKind::Filter && position < node.arguments.size() && node.arguments[position]->kind == NodeKind::String)
    findName(*node.arguments[position], node.arguments[position]->text, node.text == "map");
}

Result<uint32_t> attune::emitTemplate(const NodeList &body, ChatProgram &program) {
  Status problem;
  FunctionEmitter root(program, problem, nullptr);
  uint32_t function = root.emitRoot(body);
  if (!problem.failed() && !program.fits())
    problem = Status::error("the chat template is too large");
  if (problem.failed())
    return problem;
  return function;
}
