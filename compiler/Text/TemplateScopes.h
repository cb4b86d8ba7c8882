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

/// A function whose slots hold variables.
struct SlotOwner {
  SlotOwner *outer = nullptr;
  std::map<std::pair<unsigned, std::string>, unsigned> slots; ///< by level and name
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

/// The initial value of a variable in its scope.
enum class LoadKind { Parameter, Resolve, Alias, Undefined };
struct VariableLoad {
  LoadKind kind;
  std::string name;   ///< for Resolve
  VariableRef source; ///< for Alias
};

/// The names of one scope. Jinja decides before it runs a template where a name lives, by the order in which the scope
/// reads and writes it:
///
///   {{ x }} {% set x = 1 %}      x begins with the value of the rendering's variable
///   {% set x = 1 %} {{ x }}      x begins undefined, whatever the rendering has
///   {% for … %}{% set x = x + 1 %}{% endfor %}
///                                the loop has an x of its own, which begins with the outer value in every iteration
///   {% if c %}{% set x = 1 %}{% endif %}
///                                x begins with the value of the enclosing scope's variable, or of the rendering's
class TemplateScope {
public:
  /// The scope of a function's body, or one inside |parent|.
  TemplateScope(SlotOwner &owner, const TemplateScope *parent);

  /// These functions record the names that the children of |node|, the nodes of |list|, the target of a loop, or |node|
  /// itself use in this scope.
  void analyzeChildren(const TemplateNode &node);
  void analyzeList(const NodeList &list);
  void analyzeTarget(const TemplateNode &target);
  void analyze(const TemplateNode &node);

  VariableRef declareParameter(const std::string &name);
  /// Records that the scope reads |name|.
  void load(const std::string &name);
  /// Returns the variable of |name| in this scope or the nearest enclosing one that has recorded it; nullopt if none
  /// has.
  std::optional<VariableRef> find(const std::string &name) const;
  /// Returns the loads at the beginning of the scope.
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

/// Returns true if |body| reads |name| before it writes it.
bool readsName(const NodeList &body, const std::string &name);

} // namespace attune

#endif // ATTUNE_COMPILER_TEXT_TEMPLATESCOPES_H
