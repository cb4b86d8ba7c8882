//===- TemplateFunction.cpp - A function of a chat template ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TemplateFunction.h"
#include "compiler/Text/TemplateLexer.h"

using namespace attune;
using chat::Operation;

void TemplateFunction::error(const std::string &message) {
  if (!problem.failed())
    problem = templateError(line, message);
}

void TemplateFunction::emitVariable(Operation operation, const VariableRef &ref, const std::string &name) {
  unsigned depth = 0;
  for (const SlotOwner *scan = &owner; scan != ref.owner && scan; scan = scan->outer)
    ++depth;
  if (depth > 0xFFFF || ref.slot > 0xFFFF)
    error("the template has more than 65536 variables");
  emit(operation, program.variable(depth, ref.slot, name));
}

VariableRef TemplateFunction::lookUp(const std::string &name, const TemplateScope &scope) {
  if (std::optional<VariableRef> found = scope.find(name))
    return *found;
  error("the name '" + name + "' is used where Jinja does not look for names");
  return {&owner, 0};
}

void TemplateFunction::enter(const TemplateScope &scope) {
  for (const auto &[ref, load] : scope.getLoads()) {
    switch (load.kind) {
    case LoadKind::Parameter:
      break;
    case LoadKind::Resolve:
      if (load.name == "self" || load.name == "lipsum")
        error("the name '" + load.name + "' is not supported: Jinja has a function of this name");
      emitVariable(Operation::Resolve, ref, load.name);
      break;
    case LoadKind::Alias:
      emitVariable(Operation::LoadRaw, load.source, load.name);
      emitVariable(Operation::Store, ref, load.name);
      break;
    case LoadKind::Undefined:
      emitVariable(Operation::Clear, ref, load.name);
      break;
    }
  }
}

void TemplateFunction::leave(const TemplateScope &scope) {
  for (const auto &[ref, load] : scope.getLoads())
    emitVariable(Operation::Clear, ref, load.name);
}

uint32_t TemplateFunction::finish(uint32_t index, const std::string &name, const std::vector<std::string> &parameters, unsigned flags) {
  emit(Operation::Return);
  attune_chat_function function = {};
  function.num_slots = owner.numSlots;
  function.num_parameters = static_cast<uint16_t>(parameters.size());
  function.flags = static_cast<uint16_t>(flags);
  function.first_name = program.names(parameters);
  function.name = program.string(name);
  program.setFunction(index, function, code);
  return index;
}
