//===- Ranks.cpp - The processes that run a divided model -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Ranks.h"
#include "attune/ranks.h"
#include "Descriptor.h"
#include "Error.h"
#include "Signature.h"

#include <cstdio>
#include <cstring>

using namespace attune;

attune_status attune::checkRanks(const attune_model_desc &desc, const attune_ranks *ranks, attune_ranks &out) {
  int64_t count = desc.num_ranks > 1 ? desc.num_ranks : 1;
  out = {0, 1, 1, nullptr, nullptr};
  if (count > ATTUNE_MAX_RANKS)
    return fail(ATTUNE_CORRUPT, "model descriptor: %lld ranks, expected at most %d", static_cast<long long>(count), ATTUNE_MAX_RANKS);
  if (!ranks && count > 1)
    return fail(ATTUNE_INVALID_ARGUMENT, "model '%s' is divided among %lld ranks, but attune_model_options has no ranks", desc.name,
                static_cast<long long>(count));
  if (!ranks)
    return ATTUNE_OK;
  if (ranks->count != count)
    return fail(ATTUNE_INVALID_ARGUMENT, "model '%s' is for %lld ranks, but there are %lld", desc.name, static_cast<long long>(count),
                static_cast<long long>(ranks->count));
  if (ranks->rank < 0 || ranks->rank >= count)
    return fail(ATTUNE_INVALID_ARGUMENT, "the rank is %lld, expected 0 to %lld", static_cast<long long>(ranks->rank),
                static_cast<long long>(count - 1));
  if (!ranks->all_gather && count > 1)
    return fail(ATTUNE_INVALID_ARGUMENT, "the ranks have no function all_gather");
  out = *ranks;
  return ATTUNE_OK;
}

namespace {
/// The message of a rank to the others about a call.
struct CallRecord {
  uint64_t inputs;   // hashInputs of the call, 0 if |status| is an error
  uint32_t entry;    // index into attune_model_desc::entries
  uint32_t status;   // attune_status
  char message[112]; // attune_last_error if |status| is an error
};
static_assert(sizeof(CallRecord) == 128, "docs/scale.md and compiler/Tools/RankPlan.cpp count these bytes");
} // namespace

/// Returns a hash of the dims and inputs of |call|.
static uint64_t hashInputs(const attune_entry_desc &entry, const attune_call &call) {
  uint64_t hash = attune_checksum(call.dims, entry.num_dims * sizeof(int64_t));
  for (uint32_t i = 0; i < entry.num_inputs; ++i) {
    uint64_t bytes = 0;
    tensorBytes(entry.inputs[i], call.dims, bytes);
    hash = attune_checksum_word(hash, attune_checksum(call.inputs[i], bytes));
  }
  return hash;
}

attune_status attune::agreeOnCall(const attune_ranks &ranks, const attune_model_desc &desc, const attune_entry_desc &entry,
                                  const attune_call &call, attune_status status) {
  CallRecord own = {}, all[ATTUNE_MAX_RANKS], scratch[ATTUNE_MAX_RANKS];
  own.entry = static_cast<uint32_t>(&entry - desc.entries);
  own.status = status;
  if (status == ATTUNE_OK)
    own.inputs = hashInputs(entry, call);
  else
    snprintf(own.message, sizeof(own.message), "%s", attune_last_error());
  int64_t begins[ATTUNE_MAX_RANKS];
  for (int64_t rank = 0; rank < ranks.count; ++rank)
    begins[rank] = rank;
  attune_gather gather{&own, all, scratch, begins, 1, 1, sizeof(own), sizeof(own), static_cast<int64_t>(sizeof(own)) * ranks.count};
  if (int32_t code = ranks.all_gather(ranks.context, &gather))
    return fail(ATTUNE_IO_ERROR, "rank %lld of %lld cannot agree with the others on a call of '%s': code %d",
                static_cast<long long>(ranks.rank), static_cast<long long>(ranks.count), entry.name, code);
  if (status != ATTUNE_OK)
    return status;
  for (int64_t rank = 0; rank < ranks.count; ++rank) {
    all[rank].message[sizeof(all[rank].message) - 1] = 0;
    if (all[rank].status != ATTUNE_OK)
      return fail(ATTUNE_INVALID_ARGUMENT, "rank %lld: %s", static_cast<long long>(rank), all[rank].message);
    if (all[rank].entry != own.entry || all[rank].inputs != own.inputs)
      return fail(ATTUNE_INVALID_ARGUMENT, "rank %lld calls '%s' with other inputs than rank %lld: all ranks must make the same calls",
                  static_cast<long long>(rank), entry.name, static_cast<long long>(ranks.rank));
  }
  return ATTUNE_OK;
}

void attune_gather_pack(const attune_gather *gather, void *part) {
  size_t bytes = static_cast<size_t>(gather->units * gather->unit_bytes);
  for (int64_t row = 0; row < gather->rows; ++row)
    memcpy(static_cast<char *>(part) + row * bytes, static_cast<const char *>(gather->data) + row * gather->data_stride, bytes);
}

void attune_gather_unpack(const attune_gather *gather, int64_t rank, const void *part) {
  size_t bytes = static_cast<size_t>(gather->units * gather->unit_bytes);
  char *out = static_cast<char *>(gather->result) + gather->begins[rank] * gather->unit_bytes;
  for (int64_t row = 0; row < gather->rows; ++row)
    memcpy(out + row * gather->result_stride, static_cast<const char *>(part) + row * bytes, bytes);
}
