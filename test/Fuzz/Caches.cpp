//===- Caches.cpp - Fuzz sessions that keep keys and values ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a series of calls on one session, some with wrong arguments, that encode sources, append tokens to slots,
// truncate and copy slots, and read and write caches. The entries write the caches as compiled entries do, at the
// addresses that the runtime gives them. From the calls that succeed, the fuzz target knows the content that each slot
// and source must have. It aborts if a read gives other content, or if the runtime accepts a row beyond its limits.
//===----------------------------------------------------------------------===//
#include "attune/runtime.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int64_t kHeads = 2, kSize = 3, kPanel = ATTUNE_CACHE_PANEL;
constexpr char kManifest[] = "{\"tensors\":[]}";

void check(bool good) {
  if (!good)
    abort();
}

/// Returns element |i| of head |h| of the key for |token|. The value for |token| has the negative of it.
float element(int64_t token, int64_t h, int64_t i) { return static_cast<float>(token * 100 + h * 10 + i); }

int64_t at(const attune_call *call, int input, int64_t i) { return static_cast<const int64_t *>(call->inputs[input])[i]; }

/// Writes the key and value for |token| at |position| of |slot|, which is a slot or a source. |state| begins with the
/// keys of all |slots| slots (or sources), each of |panels| panels of kPanel tokens; the values follow.
void writeToken(float *state, int64_t slots, int64_t panels, int64_t slot, int64_t position, int64_t token) {
  check(slot >= 0 && slot < slots && position >= 0 && position < panels * kPanel);
  int64_t elements = kHeads * kSize * kPanel * panels;
  float *keys = state + slot * elements, *values = state + slots * elements + slot * elements;
  for (int64_t h = 0; h < kHeads; ++h)
    for (int64_t i = 0; i < kSize; ++i) {
      keys[((h * panels + position / kPanel) * kSize + i) * kPanel + position % kPanel] = element(token, h, i);
      values[(h * panels * kPanel + position) * kSize + i] = -element(token, h, i);
    }
}

/// The entry that writes sources: writes the ids of each row as tokens to the caches of the row's source. Inputs: ids
/// [batch, source_length], sources [batch].
int32_t encode(const attune_host *, const attune_call *call) {
  const int64_t *counts = call->state_dims;
  float *state = static_cast<float *>(call->state) + 2 * counts[0] * counts[1] * kPanel * kHeads * kSize;
  for (int64_t row = 0; row < call->dims[0]; ++row)
    for (int64_t i = 0; i < call->dims[1]; ++i)
      writeToken(state, counts[2], counts[3], at(call, 1, row), i, at(call, 0, row * call->dims[1] + i));
  return 0;
}

/// The entries `prefill` and `extend` of the decoder: append the ids of each row whose mask is 1, as tokens, to the
/// caches of the row's slot. Inputs: ids [batch, length], attention_mask [batch, length], slots, past_lengths, sources,
/// source_lengths [batch]. Fail on id 99.
int32_t append(const attune_host *, const attune_call *call) {
  const int64_t *counts = call->state_dims, *dims = call->dims;
  for (int64_t row = 0; row < dims[0]; ++row) {
    int64_t position = at(call, 3, row), source = at(call, 4, row), sourceLength = at(call, 5, row);
    check(position <= dims[2] && source >= 0 && source < counts[2] && sourceLength > 0 && sourceLength <= dims[3] &&
          dims[3] <= counts[3] * kPanel);
    for (int64_t i = row * dims[1]; i < (row + 1) * dims[1]; ++i) {
      if (at(call, 0, i) == 99)
        return 1;
      if (at(call, 1, i) != 0)
        writeToken(static_cast<float *>(call->state), counts[0], counts[1], at(call, 2, row), position++, at(call, 0, i));
    }
  }
  return 0;
}

uint64_t noBytes(const int64_t *, int64_t) { return 64; }

const int64_t kTokens[] = {-1, -2}, kRows[] = {-1};
const attune_dim_desc kEncodeDims[] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0}, {"source_length", 0, ATTUNE_DIM_INPUTS, 0}},
                      kAppendDims[] = {{"batch", 0, ATTUNE_DIM_INPUTS, 0},
                                       {"length", 0, ATTUNE_DIM_INPUTS, 0},
                                       {"past", 0, ATTUNE_DIM_PAST, 0},
                                       {"source_length", 0, ATTUNE_DIM_SOURCE_LENGTH, 0}};
const attune_tensor_desc kEncodeInputs[] = {{"ids", ATTUNE_I64, 2, kTokens, ATTUNE_FILL_REQUIRED, 0, 100},
                                            {"sources", ATTUNE_I64, 1, kRows, ATTUNE_FILL_SOURCES, 0, 0}},
                         kAppendInputs[] = {{"ids", ATTUNE_I64, 2, kTokens, ATTUNE_FILL_REQUIRED, 0, 100},
                                            {"attention_mask", ATTUNE_I64, 2, kTokens, ATTUNE_FILL_TOKENS, 0, 2},
                                            {"slots", ATTUNE_I64, 1, kRows, ATTUNE_FILL_SLOTS, 0, 0},
                                            {"past_lengths", ATTUNE_I64, 1, kRows, ATTUNE_FILL_PAST_LENGTHS, 0, 0},
                                            {"sources", ATTUNE_I64, 1, kRows, ATTUNE_FILL_SOURCES, 0, 0},
                                            {"source_lengths", ATTUNE_I64, 1, kRows, ATTUNE_FILL_SOURCE_LENGTHS, 0, 0}};
const attune_entry_desc kEntries[] = {
    {"encode", 2, 2, 0, ATTUNE_CACHE_ENCODE, kEncodeDims, kEncodeInputs, nullptr, encode, noBytes, noBytes, nullptr, nullptr, nullptr},
    {"prefill", 4, 6, 0, ATTUNE_CACHE_APPEND, kAppendDims, kAppendInputs, nullptr, append, noBytes, noBytes, nullptr, nullptr, nullptr},
    {"extend", 4, 6, 0, ATTUNE_CACHE_CONTINUE, kAppendDims, kAppendInputs, nullptr, append, noBytes, noBytes, nullptr, nullptr, nullptr}};
const attune_cache_desc kCaches[] = {{"past_key_values.0.0", ATTUNE_F32, ATTUNE_CACHE_KEYS, 0, 0, kHeads, kSize},
                                     {"past_key_values.0.1", ATTUNE_F32, ATTUNE_CACHE_VALUES, 0, 0, kHeads, kSize},
                                     {"past_key_values.0.2", ATTUNE_F32, ATTUNE_CACHE_KEYS, 1, 0, kHeads, kSize},
                                     {"past_key_values.0.3", ATTUNE_F32, ATTUNE_CACHE_VALUES, 1, 0, kHeads, kSize}};

attune_model *openModel() {
  static attune_model_desc desc = {};
  desc.magic = ATTUNE_MODEL_MAGIC;
  desc.abi_version = ATTUNE_ABI_VERSION;
  desc.desc_bytes = sizeof(desc);
  desc.name = desc.family = desc.architecture = "fuzz";
  desc.triple = desc.cpu = desc.cpu_features = desc.options = "";
  desc.manifest_checksum = attune_checksum(kManifest, sizeof(kManifest) - 1);
  desc.weights_bytes = 64;
  desc.num_entries = 3, desc.entries = kEntries;
  desc.num_caches = 4, desc.caches = kCaches;
  attune_weights_header header = {};
  header.magic = ATTUNE_WEIGHTS_MAGIC;
  header.abi_version = ATTUNE_ABI_VERSION;
  header.header_bytes = sizeof(header);
  header.data_offset = 4096, header.data_bytes = 64;
  header.manifest_offset = 4096 + 64, header.manifest_bytes = sizeof(kManifest) - 1;
  header.file_bytes = header.manifest_offset + header.manifest_bytes;
  header.manifest_checksum = desc.manifest_checksum;
  int file = memfd_create("fuzz.weights", 0);
  check(ftruncate(file, static_cast<off_t>(header.file_bytes)) == 0 && pwrite(file, &header, sizeof(header), 0) == sizeof(header) &&
        pwrite(file, kManifest, sizeof(kManifest) - 1, static_cast<off_t>(header.manifest_offset)) == sizeof(kManifest) - 1);
  std::string path = "/proc/self/fd/" + std::to_string(file);
  attune_model_options options;
  attune_model_options_init(&options);
  options.weights_path = path.c_str();
  attune_model *model = nullptr;
  check(attune_model_open(&desc, &options, &model) == ATTUNE_OK);
  return model;
}

/// An i64 tensor of a call: its elements and its shape.
struct Argument {
  std::vector<int64_t> values, shape;
  attune_tensor tensor(const char *name) {
    return {name, ATTUNE_I64, static_cast<uint32_t>(shape.size()), shape.data(), values.data(), values.size() * 8};
  }
};

/// A series of random calls on one session, and the content that its slots and sources must have.
class Series {
public:
  explicit Series(FuzzedDataProvider &data) : data(data) {
    static attune_model *model = openModel();
    slotCount = data.ConsumeIntegralInRange<int64_t>(1, 4);
    capacity = data.ConsumeIntegralInRange<int64_t>(1, 140);
    sourceCapacity = data.ConsumeIntegralInRange<int64_t>(1, 70);
    attune_dim_limit limits[] = {{"batch", slotCount}, {"length", 8}, {"past", capacity}, {"source_length", sourceCapacity}};
    attune_session_options options;
    attune_session_options_init(&options);
    options.limits = limits, options.num_limits = 4, options.num_threads = 1;
    check(attune_session_create(model, &options, &session) == ATTUNE_OK);
    slots.resize(static_cast<size_t>(slotCount)), sources.resize(slots.size());
    for (size_t i = 0; i < slots.size(); ++i)
      slots[i].source = i;
  }
  ~Series() { attune_session_destroy(session); }
  Series(const Series &) = delete;

  void step() {
    switch (data.ConsumeIntegralInRange<int>(0, 6)) {
    case 0:
      return encodeRows();
    case 1:
    case 2:
      return appendRows();
    case 3:
      return cut();
    case 4:
      return copy();
    case 5:
      return write();
    default:
      return readAll();
    }
  }
  void readAll() {
    for (size_t i = 0; i < slots.size(); ++i)
      for (int cache = 0; cache < 4; ++cache)
        read(cache, i);
  }

private:
  struct Slot {
    std::vector<int64_t> tokens;
    size_t source = 0;
  };

  int64_t number(int64_t most) { return data.ConsumeIntegralInRange<int64_t>(-1, most); }
  Argument integers(std::vector<int64_t> shape, int64_t least, int64_t most) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    Argument result{{}, std::move(shape)};
    for (int64_t i = 0; i < count; ++i)
      result.values.push_back(data.ConsumeIntegralInRange<int64_t>(least, most));
    return result;
  }

  void encodeRows() {
    int64_t rows = data.ConsumeIntegralInRange<int64_t>(1, slotCount), length = data.ConsumeIntegralInRange<int64_t>(1, 72);
    Argument ids = integers({rows, length}, 0, 98), chosen = integers({rows}, -1, slotCount);
    bool given = data.ConsumeBool();
    std::vector<attune_tensor> inputs = {ids.tensor("ids"), chosen.tensor("sources")};
    if (attune_session_run(session, "encode", inputs.data(), given ? 2 : 1, nullptr, 0) != ATTUNE_OK)
      return;
    check(length <= sourceCapacity);
    for (int64_t row = 0; row < rows; ++row)
      sources.at(static_cast<size_t>(given ? chosen.values[row] : row))
          .assign(ids.values.begin() + row * length, ids.values.begin() + (row + 1) * length);
  }

  void appendRows() {
    int64_t rows = data.ConsumeIntegralInRange<int64_t>(1, slotCount), length = data.ConsumeIntegralInRange<int64_t>(1, 8);
    Argument ids = integers({rows, length}, 0, 99), mask = integers({rows, length}, 0, 1);
    Argument into = integers({rows}, -1, slotCount), from = integers({rows}, -1, slotCount);
    uint8_t given = data.ConsumeIntegral<uint8_t>();
    std::vector<attune_tensor> inputs = {ids.tensor("ids")};
    if (given & 1)
      inputs.push_back(mask.tensor("attention_mask"));
    if (given & 2)
      inputs.push_back(into.tensor("slots"));
    if (given & 4)
      inputs.push_back(from.tensor("sources"));
    bool more = given & 8;
    if (attune_session_run(session, more ? "extend" : "prefill", inputs.data(), inputs.size(), nullptr, 0) != ATTUNE_OK)
      return;
    for (int64_t row = 0; row < rows; ++row) {
      Slot &slot = slots.at(static_cast<size_t>(given & 2 ? into.values[row] : row));
      check(!more || !slot.tokens.empty());
      if (given & 4)
        slot.source = static_cast<size_t>(from.values[row]);
      check(!sources.at(slot.source).empty());
      for (int64_t i = row * length; i < (row + 1) * length; ++i)
        if (!(given & 1) || mask.values[i])
          slot.tokens.push_back(ids.values[i]);
      check(static_cast<int64_t>(slot.tokens.size()) <= capacity);
    }
  }

  void cut() {
    int64_t slot = number(slotCount), length = number(capacity + 1);
    if (attune_session_slot_truncate(session, slot, length) != ATTUNE_OK)
      return;
    Slot &cut = slots.at(static_cast<size_t>(slot));
    check(length >= 0 && static_cast<size_t>(length) <= cut.tokens.size());
    cut.tokens.resize(static_cast<size_t>(length));
    if (length == 0)
      cut.source = static_cast<size_t>(slot);
  }

  void copy() {
    int64_t from = number(slotCount), to = number(slotCount);
    if (attune_session_slot_copy(session, from, to) == ATTUNE_OK)
      slots.at(static_cast<size_t>(to)) = Slot(slots.at(static_cast<size_t>(from)));
  }

  /// Overwrites a slot or a source by attune_session_cache_write.
  void write() {
    bool ofSources = data.ConsumeBool();
    int64_t slot = number(slotCount), length = data.ConsumeIntegralInRange<int64_t>(0, 142);
    Argument tokens = integers({length}, 0, 98);
    std::vector<float> keys = dense(tokens.values, 0), values = dense(tokens.values, 1);
    int64_t shape[] = {1, kHeads, length, kSize};
    int first = ofSources ? 2 : 0;
    attune_tensor tensors[] = {{kCaches[first].name, ATTUNE_F32, 4, shape, keys.data(), keys.size() * 4},
                               {kCaches[first + 1].name, ATTUNE_F32, 4, shape, values.data(), values.size() * 4}};
    if (attune_session_cache_write(session, &slot, tensors, 2) != ATTUNE_OK)
      return;
    check(length <= (ofSources ? sourceCapacity : capacity));
    if (ofSources)
      sources.at(static_cast<size_t>(slot)) = tokens.values;
    else
      slots.at(static_cast<size_t>(slot)).tokens = tokens.values;
  }

  /// Returns the elements [heads, tokens, size] for |tokens|: of keys if |cache| is even, of values if it is odd.
  static std::vector<float> dense(const std::vector<int64_t> &tokens, int cache) {
    std::vector<float> result;
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t token : tokens)
        for (int64_t i = 0; i < kSize; ++i)
          result.push_back(cache % 2 ? -element(token, h, i) : element(token, h, i));
    return result;
  }

  void read(int cache, size_t index) {
    const std::vector<int64_t> &tokens = cache < 2 ? slots[index].tokens : sources[index];
    if (cache < 2)
      check(attune_session_slot_length(session, static_cast<int64_t>(index)) == static_cast<int64_t>(tokens.size()));
    auto slot = static_cast<int64_t>(index), length = static_cast<int64_t>(tokens.size());
    std::vector<float> wanted = dense(tokens, cache), got(wanted.size() + 1);
    int64_t shape[] = {1, kHeads, length, kSize};
    attune_tensor tensor = {kCaches[cache].name, ATTUNE_F32, 4, shape, got.data(), wanted.size() * 4};
    check((attune_session_cache_read(session, &slot, &tensor) == ATTUNE_OK) == (length > 0));
    check(std::equal(wanted.begin(), wanted.end(), got.begin()));
    // Reading one token more than the slot has must fail.
    got.resize(wanted.size() + kHeads * kSize);
    shape[2] = length + 1, tensor.data = got.data(), tensor.bytes = got.size() * 4;
    check(attune_session_cache_read(session, &slot, &tensor) != ATTUNE_OK);
  }

  FuzzedDataProvider &data;
  attune_session *session = nullptr;
  int64_t slotCount, capacity, sourceCapacity;
  std::vector<Slot> slots;
  std::vector<std::vector<int64_t>> sources;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  Series series(data);
  for (int steps = 0; data.remaining_bytes() > 0 && steps < 40; ++steps)
    series.step();
  series.readAll();
  return 0;
}
