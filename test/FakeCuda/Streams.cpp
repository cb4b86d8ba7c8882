//===- Streams.cpp - Work that is queued in streams -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Streams.h"
#include "Settings.h"

#include <algorithm>

using namespace attune;
using namespace attune::cuda;
using namespace attune::fake;

Streams &Streams::get() {
  static Streams *streams = [] {
    auto *made = new Streams;
    made->random.seed(Settings::get().seed);
    return made;
  }();
  return *streams;
}

/// Returns the key of |stream| in |streams|: null for both handles of the default stream, which are null and 1.
Stream Streams::canonical(Stream stream) { return stream == reinterpret_cast<Stream>(1) ? nullptr : stream; }

Stream Streams::create(bool isBlocking) {
  auto stream = reinterpret_cast<Stream>(++lastHandle);
  streams[stream].isBlocking = isBlocking;
  return stream;
}

bool Streams::destroy(Stream stream) { return stream && streams.erase(stream); }

bool Streams::isKnown(Stream stream) const { return streams.count(canonical(stream)); }

uint64_t Streams::enqueue(Stream stream, Work work) {
  stream = canonical(stream);
  State &state = streams.at(stream);
  uint64_t number = ++lastNumber;
  if (state.capture != captureNone) {
    state.captured.push_back(std::move(work));
    return number;
  }
  std::vector<uint64_t> after = {state.last};
  if (!stream)
    for (auto &[other, itsState] : streams)
      if (itsState.isBlocking)
        after.push_back(itsState.last);
  if (stream && state.isBlocking)
    after.push_back(streams.at(nullptr).last);
  state.last = number;
  pending[number] = {std::move(work), std::move(after)};
  if (!Settings::get().lazy)
    finish(number);
  return number;
}

void Streams::finish(uint64_t number) {
  std::map<uint64_t, bool> needed;
  std::vector<uint64_t> open = {number};
  while (!open.empty()) {
    uint64_t next = open.back();
    open.pop_back();
    auto found = pending.find(next);
    if (found != pending.end() && needed.emplace(next, true).second)
      open.insert(open.end(), found->second.after.begin(), found->second.after.end());
  }
  runReady(needed);
}

/// Runs the pending work whose numbers are the keys of |needed|; the mapped values are not used. |needed| must have all
/// pending work on which other work in it depends. If the order is random, other work that is ready may run in between.
/// Ascending numbers are a valid order, because work has a larger number than the work on which it depends.
void Streams::runReady(const std::map<uint64_t, bool> &needed) {
  auto run = [&](std::map<uint64_t, Item>::iterator item) {
    Work work = std::move(item->second.work);
    pending.erase(item);
    work();
  };
  if (!Settings::get().random) {
    for (auto &[number, isNeeded] : needed)
      run(pending.find(number));
    return;
  }
  for (size_t left = needed.size(); left != 0;) {
    std::vector<std::map<uint64_t, Item>::iterator> ready;
    for (auto item = pending.begin(); item != pending.end(); ++item)
      if (std::none_of(item->second.after.begin(), item->second.after.end(), [&](uint64_t number) { return pending.count(number) != 0; }))
        ready.push_back(item);
    auto chosen = ready[random() % ready.size()];
    left -= needed.count(chosen->first);
    run(chosen);
  }
}

void Streams::finish(Stream stream) { finish(streams.at(canonical(stream)).last); }

void Streams::finishAll() {
  std::map<uint64_t, bool> needed;
  for (auto &[number, item] : pending)
    needed[number] = true;
  runReady(needed);
}

void Streams::beginCapture(Stream stream, int mode) {
  State &state = streams.at(stream);
  state.capture = captureActive;
  state.mode = mode;
}

std::vector<Work> Streams::endCapture(Stream stream) {
  State &state = streams.at(stream);
  state.capture = captureNone;
  return std::move(state.captured);
}

int Streams::captureStatus(Stream stream) const { return streams.at(canonical(stream)).capture; }

bool Streams::isBlockingCaptured() const {
  return std::any_of(streams.begin(), streams.end(),
                     [](const auto &entry) { return entry.second.isBlocking && entry.second.capture == captureActive; });
}

bool Streams::forbidsUnsafeCalls(int mode) const {
  return mode != captureModeRelaxed && std::any_of(streams.begin(), streams.end(), [](const auto &entry) {
           return entry.second.capture == captureActive && entry.second.mode != captureModeRelaxed;
         });
}

void Streams::invalidateCaptures(Stream stream) {
  for (auto &[other, state] : streams)
    if (state.capture == captureActive && (!stream || stream == other))
      state.capture = captureInvalidated;
}
