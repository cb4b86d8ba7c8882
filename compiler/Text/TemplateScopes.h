//===- TemplateScopes.h - Names of chat templates -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEMPLATESCOPES_H
#define ATTUNE_COMPILER_TEXT_TEMPLATESCOPES_H

#include "compiler/Text/TemplateNodes.h"

#include <map>
#include <optional>
#include <set>

namespace attune {

/// A function whose slots hold variables. |outer| is the enclosing function, null for the body of the template.
struct SlotOwner {
  SlotOwner *outer = nullptr;
  std::map<std::pair<unsigned, std::string>, unsigned> slots; ///< numbers of slots, by level of the scope and name
  unsigned numSlots = 0;
  unsigned slotOf(unsigned level, const std::string &name) {
    auto [entry, added] = slots.try_emplace({level, name}, numSlots);
    numSlots += added;
    return entry->second;
  }
};

/// A variable: a slot of a function.
struct VariableRef {
  SlotOwner *owner;
  unsigned slot;
  bool operator<(const VariableRef &other) const { return std::pair(owner, slot) < std::pair(other.owner, other.slot); }
};

/// The initial value of a variable in its scope: the argument or loop item that other code stores, the rendering's
/// variable of this name, the value of the enclosing scope's variable |source|, or none.
enum class LoadKind { Parameter, Resolve, Alias, Undefined };
struct VariableLoad {
  LoadKind kind;
  std::string name;   ///< of the variable
  VariableRef source; ///< for Alias
};

/// The names of one scope. Before Jinja runs a template, it decides which variable a name stands for, by the order in
/// which the scope reads and writes the name. The rendering's variables are those that the caller of the rendering
/// gives:
///
///   {{ x }} {% set x = 1 %}      x begins with the value of the rendering's variable
///   {% set x = 1 %} {{ x }}      x begins undefined, even if the rendering has an x
///   {% for … %}{% set x = x + 1 %}{% endfor %}
///                                the loop has an x of its own, which begins with the outer value in every iteration
///   {% if c %}{% set x = 1 %}{% endif %}
///                                x begins with the value of the enclosing scope's variable, or of the rendering's
///                                variable if there is none
class TemplateScope {
public:
  /// |owner| is the function whose slots hold the scope's variables. |parent| is the enclosing scope, perhaps of an
  /// enclosing function; null for the body of the template.
  TemplateScope(SlotOwner &owner, const TemplateScope *parent);

  /// Records the names that the nodes of |list|, the target of a loop, or |node| use in this scope. Names in scopes that
  /// these nodes open are not recorded.
  void analyzeList(const NodeList &list);
  void analyzeTarget(const TemplateNode &target);
  void analyze(const TemplateNode &node);

  VariableRef declareParameter(const std::string &name);
  /// Records that the scope reads |name|.
  void load(const std::string &name);
  /// Returns the variable of |name| in this scope or in the nearest enclosing scope that has recorded |name|; nullopt
  /// if no scope has.
  std::optional<VariableRef> find(const std::string &name) const;
  /// Returns the scope's own variables and their initial values.
  const std::map<VariableRef, VariableLoad> &getLoads() const { return loads; }
  SlotOwner &getOwner() const { return *owner; }

private:
  SlotOwner *owner;
  const TemplateScope *parent;
  unsigned level;
  std::map<std::string, VariableRef> refs;
  std::map<VariableRef, VariableLoad> loads;
  std::set<std::string> stores;

  VariableRef define(const std::string &name, VariableLoad load);
  void store(const std::string &name);
  void analyzeIf(const TemplateNode &node);
};

/// Returns true if |body| reads |name| before a node that writes or declares |name|.
bool readsName(const NodeList &body, const std::string &name);

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATESCOPES_H
