//===- WarpOperations.cpp - Barriers, shuffles, votes -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include <algorithm>

using namespace attune;
using namespace attune::fake;

/// Executes shfl.sync. The inputs are the mask of lanes, the value, the offset or lane, and one word with the clamp
/// value in bits 0 to 4 and the segment mask in bits 8 to 12.
static void shuffle(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  Block::current().meetWarp(operation, static_cast<uint32_t>(inputs[0]), inputs, outputs, [&operation](Meeting &meeting) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint64_t *in = meeting.inputs[lane];
      if (!in)
        continue;
      auto b = static_cast<uint32_t>(in[2]) & 31, clamp = static_cast<uint32_t>(in[3]) & 31,
           segment = static_cast<uint32_t>(in[3]) >> 8 & 31;
      uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment, from = lane;
      bool inRange;
      if (has(operation, ".up"))
        from = lane - b, inRange = static_cast<int32_t>(from) >= static_cast<int32_t>(last);
      else if (has(operation, ".down"))
        from = lane + b, inRange = from <= last;
      else if (has(operation, ".bfly"))
        from = lane ^ b, inRange = from <= last;
      else
        from = first | (b & ~segment), inRange = from <= last;
      if (!inRange)
        from = lane;
      // The value of a lane that is not in the mask is undefined.
      meeting.outputs[lane][0] = meeting.inputs[from] ? meeting.inputs[from][1] : 0xffffffff;
      if (operation.numOutputs > 1)
        meeting.outputs[lane][1] = inRange;
    }
  });
}

/// Executes vote.sync. The inputs are the mask of lanes and the predicate.
static void vote(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  Block::current().meetWarp(operation, static_cast<uint32_t>(inputs[0]), inputs, outputs, [&operation](Meeting &meeting) {
    uint32_t ballot = 0, present = 0;
    for (uint32_t lane = 0; lane < 32; ++lane)
      if (meeting.inputs[lane])
        present |= 1u << lane, ballot |= static_cast<uint32_t>(meeting.inputs[lane][1] & 1) << lane;
    uint64_t result = has(operation, "ballot") ? ballot
                      : has(operation, ".all") ? ballot == present
                      : has(operation, ".any") ? ballot != 0
                                               : ballot == 0 || ballot == present;
    for (uint32_t lane = 0; lane < 32; ++lane)
      if (meeting.inputs[lane])
        meeting.outputs[lane][0] = result;
  });
}

/// Executes redux.sync. The inputs are the value and the mask of lanes.
static void reduce(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  Block::current().meetWarp(operation, static_cast<uint32_t>(inputs[1]), inputs, outputs, [&operation](Meeting &meeting) {
    bool isFirst = true;
    uint32_t sum = 0;
    for (const uint64_t *in : meeting.inputs) {
      if (!in)
        continue;
      auto value = static_cast<uint32_t>(in[0]);
      auto a = static_cast<int32_t>(sum), b = static_cast<int32_t>(value);
      sum = isFirst                   ? value
            : has(operation, ".add")  ? sum + value
            : has(operation, ".umin") ? std::min(sum, value)
            : has(operation, ".umax") ? std::max(sum, value)
            : has(operation, ".min")  ? static_cast<uint32_t>(std::min(a, b))
            : has(operation, ".max")  ? static_cast<uint32_t>(std::max(a, b))
            : has(operation, ".and")  ? sum & value
            : has(operation, ".xor")  ? sum ^ value
                                      : sum | value;
      isFirst = false;
    }
    for (uint64_t *out : meeting.outputs)
      if (out)
        out[0] = sum;
  });
}

/// Executes bar.warp.sync. The input is the mask of lanes, whose memory accesses it orders.
static void warpBarrier(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  Block &block = Block::current();
  block.meetWarp(operation, static_cast<uint32_t>(inputs[0]), inputs, outputs, [](Meeting &) {});
  ++block.thread().time.warp;
}

/// Executes barrier.cta.sync and barrier.cta.red. The inputs are, in this order, the number of the barrier (without
/// inputs, barrier 0), with `.count` the number of threads, and with `.red` the predicate.
static void blockBarrier(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  uint32_t id = operation.numInputs > 0 ? static_cast<uint32_t>(inputs[0]) : 0;
  uint32_t count = has(operation, ".count") ? static_cast<uint32_t>(inputs[1]) : 0;
  uint32_t predicate = operation.numInputs - 1;
  bool reduces = has(operation, ".red.");
  Block::current().meetBlock(operation, id, count, inputs, outputs, [&operation, predicate, reduces](Meeting &meeting) {
    if (!reduces)
      return;
    uint32_t present = 0, set = 0;
    for (const uint64_t *in : meeting.inputs)
      if (in)
        ++present, set += in[predicate] & 1;
    for (uint64_t *out : meeting.outputs)
      if (out)
        out[0] = has(operation, ".popc") ? set : has(operation, ".and") ? set == present : set != 0;
  });
}

static void blockArrive(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *) {
  Block::current().arrive(operation, static_cast<uint32_t>(inputs[0]), static_cast<uint32_t>(inputs[1]));
}

const HandlerEntry fake::warpHandlers[] = {{"shfl.sync", shuffle},
                                           {"vote.", vote},
                                           {"redux.sync", reduce},
                                           {"bar.warp.sync", warpBarrier},
                                           {"barrier.cta.arrive", blockArrive},
                                           {"barrier.cta", blockBarrier},
                                           {"nvvm.barrier0", blockBarrier},
                                           {nullptr, nullptr}};
