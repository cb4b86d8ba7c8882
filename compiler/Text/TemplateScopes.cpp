//===- TemplateScopes.cpp - Names of chat templates -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TemplateScopes.h"

using namespace attune;

TemplateScope::TemplateScope(SlotOwner &owner, const TemplateScope *parent)
    : owner(&owner), parent(parent), level(parent ? parent->level + 1 : 0) {}

VariableRef TemplateScope::define(const std::string &name, VariableLoad load) {
  VariableRef ref{owner, owner->slotOf(level, name)};
  refs.insert_or_assign(name, ref);
  loads.insert_or_assign(ref, std::move(load));
  return ref;
}

VariableRef TemplateScope::declareParameter(const std::string &name) {
  stores.insert(name);
  return define(name, {LoadKind::Parameter, name, {}});
}

void TemplateScope::load(const std::string &name) {
  if (!find(name))
    define(name, {LoadKind::Resolve, name, {}});
}

void TemplateScope::store(const std::string &name) {
  stores.insert(name);
  if (refs.count(name))
    return;
  std::optional<VariableRef> around = parent ? parent->find(name) : std::nullopt;
  if (around)
    define(name, {LoadKind::Alias, name, *around});
  else
    define(name, {LoadKind::Undefined, name, {}});
}

std::optional<VariableRef> TemplateScope::find(const std::string &name) const {
  if (auto found = refs.find(name); found != refs.end())
    return found->second;
  return parent ? parent->find(name) : std::nullopt;
}

/// Analyzes the condition and three branches: the body, all `elif`s as one branch, and the body of `else`, which may be
/// empty. The analysis of each branch begins with the names that were recorded before the branches. A branch may be
/// skipped when the template runs. So a name that the scope writes in a branch, but not before, begins with the value
/// of the enclosing scope's variable, or of the rendering's variable if there is none.
void TemplateScope::analyzeIf(const TemplateNode &node) {
  analyze(*node.operands[0]);
  TemplateScope before = *this, merged = *this;
  std::set<std::string> written;
  auto branch = [&](auto &&visit) {
    *this = before;
    visit();
    written.insert(stores.begin(), stores.end());
    for (auto &[name, ref] : refs)
      merged.refs.insert_or_assign(name, ref);
    for (auto &[ref, load] : loads)
      merged.loads.insert_or_assign(ref, load);
    merged.stores.insert(stores.begin(), stores.end());
  };
  branch([&] { analyzeList(node.body); });
  branch([&] { analyzeList(node.branches); });
  branch([&] { analyzeList(node.otherwise); });
  *this = std::move(merged);
  for (const std::string &name : written) {
    if (before.stores.count(name))
      continue;
    std::optional<VariableRef> around = parent ? parent->find(name) : std::nullopt;
    if (around)
      loads.insert_or_assign(*find(name), VariableLoad{LoadKind::Alias, name, *around});
    else
      loads.insert_or_assign(*find(name), VariableLoad{LoadKind::Resolve, name, {}});
  }
}

void TemplateScope::analyze(const TemplateNode &node) {
  switch (node.kind) {
  case NodeKind::Name:
    if (node.use == NameUse::Parameter)
      declareParameter(node.text);
    else if (node.use == NameUse::Store)
      store(node.text);
    else
      load(node.text);
    return;
  case NodeKind::NamespaceField:
    load(node.text);
    return;
  case NodeKind::If:
    analyzeIf(node);
    return;
  case NodeKind::Macro:
    store(node.text);
    return;
  case NodeKind::Set:
    analyze(*node.operands[1]);
    analyze(*node.operands[0]);
    return;
  case NodeKind::For:
    analyze(*node.operands[1]);
    return;
  case NodeKind::CallBlock:
    analyze(*node.otherwise[0]);
    return;
  case NodeKind::FilterBlock:
  case NodeKind::SetBlock:
    analyze(*node.operands[0]);
    return;
  case NodeKind::With:
    for (size_t i = 1; i < node.operands.size(); i += 2)
      analyze(*node.operands[i]);
    return;
  case NodeKind::Generation:
    return;
  default:
    forEachChild(node, [&](const TemplateNode &child) { analyze(child); });
  }
}

void TemplateScope::analyzeList(const NodeList &list) {
  for (const NodePtr &node : list)
    analyze(*node);
}

void TemplateScope::analyzeTarget(const TemplateNode &target) {
  if (target.kind == NodeKind::Name)
    declareParameter(target.text);
  else
    for (const NodePtr &item : target.operands)
      analyzeTarget(*item);
}

namespace {
/// A search for a read of |name|, in the order of forEachChild, that ends at the first node that writes or declares
/// |name|.
struct NameSearch {
  const std::string &name;
  bool found = false, hidden = false;

  void visit(const TemplateNode &node) {
    if (found || hidden)
      return;
    if (node.kind == NodeKind::Name && node.text == name) {
      if (node.use == NameUse::Load)
        found = true;
      else
        hidden = true;
      return;
    }
    // The call of a call block comes before its parameters and body.
    if (node.kind == NodeKind::CallBlock)
      visit(*node.otherwise[0]);
    forEachChild(node, [&](const TemplateNode &child) { visit(child); });
  }
};
} // namespace

bool attune::readsName(const NodeList &body, const std::string &name) {
  NameSearch search{name};
  for (const NodePtr &node : body)
    search.visit(*node);
  return search.found;
}
