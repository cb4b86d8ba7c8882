//===- Plan.cpp - Which stages a schedule puts together -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/Gen/Plan.h"

#include <algorithm>

using namespace attune;

/// Returns true if |term| contains a multiplication.
static bool multiplies(const Term &term) {
  return term.word == "mul" || std::any_of(term.operands.begin(), term.operands.end(), multiplies);
}

bool attune::isContraction(const Stage &stage) {
  const Term &body = stage.body;
  if (!stage.isReduction() || stage.parallelLoops() < 2)
    return false;
  if (body.word == "fma")
    return body.operands.size() == 3 && body.operands[2].word == "acc";
  return body.word == "add" && body.operands.size() == 2 && (body.operands[0].word == "acc" || body.operands[1].word == "acc") &&
         multiplies(body);
}

/// Returns true if |term| reads the stage or input |name|.
static bool reads(const Term &term, const std::string &name) {
  return (term.word == "load" && term.operands[0].word == name) ||
         std::any_of(term.operands.begin(), term.operands.end(), [&](const Term &operand) { return reads(operand, name); });
}

static bool equal(const Term &a, const Term &b) {
  return a.word == b.word && std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(), equal);
}

bool Plan::isOutput(const Stage &stage) const {
  return std::any_of(description.outputs.begin(), description.outputs.end(), [&](const Output &o) { return o.stage == stage.name; });
}

std::vector<const Stage *> Plan::usersOf(const Stage &stage) const {
  std::vector<const Stage *> users;
  for (const Stage &user : description.stages)
    if (reads(user.body, stage.name))
      users.push_back(&user);
  return users;
}

/// Returns true if every load of the stage or input |name| in |term| has the indices `d0`, `d1`, ….
static bool readsOwnPoint(const Term &term, const std::string &name) {
  if (term.word == "load" && term.operands[0].word == name) {
    for (size_t i = 1; i < term.operands.size(); ++i)
      if (term.operands[i].word != "d" + std::to_string(i - 1))
        return false;
    return true;
  }
  return std::all_of(term.operands.begin(), term.operands.end(), [&](const Term &operand) { return readsOwnPoint(operand, name); });
}

/// Returns the host of |stage|, a contraction or an inlined user of one: the only user of |stage| or, if that user is
/// inlined, the host of the user. Returns null if there is not exactly one user, or if the user is a reduction, has
/// another number of parallel loops than |stage| or reads |stage| at other points than its own.
const Stage *Plan::hostOf(const Stage &stage) const {
  std::vector<const Stage *> users = usersOf(stage);
  if (users.size() != 1 || users[0]->isReduction() || users[0]->parallelLoops() != stage.parallelLoops() ||
      !readsOwnPoint(users[0]->body, stage.name))
    return nullptr;
  return placeOf(*users[0]) == Place::Inline ? hostOf(*users[0]) : users[0];
}

Place Plan::choosePlace(const Stage &stage) const {
  if (isOutput(stage))
    return Place::Whole;
  if (stage.isReduction())
    return isContraction(stage) && hostOf(stage) ? Place::AtTile : Place::Whole;
  std::vector<const Stage *> users = usersOf(stage);
  return users.size() == 1 && !users[0]->isReduction() ? Place::Inline : Place::Whole;
}

Plan::Plan(const Description &description) : description(description) {
  // In reverse order: the place of a stage depends on the places of its users.
  for (size_t i = description.stages.size(); i-- > 0;)
    places[&description.stages[i]] = choosePlace(description.stages[i]);
  for (const Stage &stage : description.stages)
    if (places[&stage] == Place::AtTile) {
      if (const Stage *&contraction = contractions[hostOf(stage)]; !contraction)
        contraction = &stage;
      else
        places[&stage] = Place::Whole; // the registers hold the accumulators of only one contraction
    }
}

const Stage *Plan::contractionOf(const Stage &host) const {
  auto it = contractions.find(&host);
  return it == contractions.end() ? nullptr : it->second;
}

std::vector<const Stage *> Plan::tileStages(const Stage &host) const {
  std::vector<const Stage *> chain{contractionOf(host)};
  for (const Stage *user = usersOf(*chain[0])[0]; user != &host; user = usersOf(*user)[0])
    chain.push_back(user);
  return chain;
}

/// Returns true if every load of a stage in |term| has the first index `d0`, the reader's own row.
bool Plan::readsOwnRow(const Term &term) const {
  if (term.word == "load")
    for (const Stage &stage : description.stages)
      if (stage.name == term.operands[0].word && (term.operands.size() < 2 || term.operands[1].word != "d0"))
        return false;
  return std::all_of(term.operands.begin(), term.operands.end(), [&](const Term &operand) { return readsOwnRow(operand); });
}

const Stage *Plan::rowHost() const {
  if (description.outputs.size() != 1)
    return nullptr;
  const Stage &host = description.stages.back();
  if (!isOutput(host) || host.parallelLoops() < 2)
    return nullptr;
  for (const Stage &stage : description.stages)
    if (stage.loops.empty() || stage.loops[0].isReduction || placeOf(stage) == Place::AtTile || !readsOwnRow(stage.body) ||
        !equal(stage.loops[0].extent, host.loops[0].extent))
      return nullptr;
  return &host;
}
