//===- FlagInputs.cpp - Inputs given on the command line ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "compiler/Tools/FlagInputs.h"

#include "attune/generate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

using namespace attune;

static constexpr const char *idsName = "input_ids", *maskName = "attention_mask";

/// An input of an entry.
struct FlagInputs::Target {
  const attune_entry_desc *entry;
  const attune_tensor_desc *desc;

  /// Returns the name of dimension |axis|, or null if its size is static.
  const char *dimOf(uint32_t axis) const { return desc->shape[axis] < 0 ? entry->dims[-desc->shape[axis] - 1].name : nullptr; }
};

/// The inputs of some entries, and the sizes of dimensions that are known.
class FlagInputs::Signature {
public:
  Signature(const Artifact &artifact, const std::vector<std::string> &names);

  const attune_model *model() const { return artifact.model(); }
  /// Returns true if the model has none of the entries.
  bool isEmpty() const { return entries.empty(); }
  /// Returns the input |name| of the first entry that has it; nullopt if none has.
  std::optional<Target> find(const std::string &name) const;
  /// Returns the input |name|, which |flag| sets, or an error that lists the model's inputs.
  Result<Target> require(const char *flag, const std::string &name) const;
  /// Records the sizes of the dimensions of input |name|, whose shape is |shape|. Sizes that are known stay.
  void learn(const std::string &name, const std::vector<int64_t> &shape);
  /// Returns the shape of the input |target|, for which |count| values were given. Records the size that follows from
  /// |count|. Fails if several sizes are unknown or if |count| does not fit the shape.
  Result<std::vector<int64_t>> resolve(const Target &target, int64_t count);

private:
  std::string describe(const Target &target) const;

  const Artifact &artifact;
  std::vector<const attune_entry_desc *> entries;
  std::map<std::string, int64_t> sizes;
};

FlagInputs::Signature::Signature(const Artifact &artifact, const std::vector<std::string> &names) : artifact(artifact) {
  for (const std::string &name : names)
    if (const attune_entry_desc *entry = attune_model_entry(artifact.model(), name.c_str()))
      entries.push_back(entry);
}

std::optional<FlagInputs::Target> FlagInputs::Signature::find(const std::string &name) const {
  for (const attune_entry_desc *entry : entries)
    for (uint32_t i = 0; i < entry->num_inputs; ++i)
      if (name == entry->inputs[i].name)
        return Target{entry, &entry->inputs[i]};
  return std::nullopt;
}

Result<FlagInputs::Target> FlagInputs::Signature::require(const char *flag, const std::string &name) const {
  if (std::optional<Target> target = find(name))
    return *target;
  std::vector<std::string> known;
  for (const attune_entry_desc *entry : entries)
    for (uint32_t i = 0; i < entry->num_inputs; ++i)
      if (std::find(known.begin(), known.end(), entry->inputs[i].name) == known.end())
        known.push_back(entry->inputs[i].name);
  std::string list;
  for (const std::string &one : known)
    list += (list.empty() ? "" : ", ") + one;
  return Status::error(artifact.label() + ": " + flag + ": the model has no input '" + name + "'; it has: " + list);
}

void FlagInputs::Signature::learn(const std::string &name, const std::vector<int64_t> &shape) {
  std::optional<Target> target = find(name);
  if (!target || target->desc->rank != shape.size())
    return; // the runtime reports the error
  for (uint32_t axis = 0; axis < target->desc->rank; ++axis)
    if (const char *dim = target->dimOf(axis))
      sizes.emplace(dim, shape[axis]);
}

/// Returns the dimensions of |target| with the sizes that are known, such as "[batch 2, length, 8]".
std::string FlagInputs::Signature::describe(const Target &target) const {
  std::string text;
  for (uint32_t axis = 0; axis < target.desc->rank; ++axis) {
    const char *dim = target.dimOf(axis);
    auto known = dim ? sizes.find(dim) : sizes.end();
    text += axis ? ", " : "";
    text += dim ? dim : std::to_string(target.desc->shape[axis]);
    text += known == sizes.end() ? "" : " " + std::to_string(known->second);
  }
  return "[" + text + "]";
}

Result<std::vector<int64_t>> FlagInputs::Signature::resolve(const Target &target, int64_t count) {
  auto expected = [&](const std::string &what) {
    return Status::error(artifact.label() + ": --value: '" + target.desc->name + "': expected " + what + " for its shape " +
                         describe(target) + ", got " + std::to_string(count));
  };
  std::string unknown;
  std::vector<int64_t> known;
  for (uint32_t axis = 0; axis < target.desc->rank; ++axis) {
    const char *dim = target.dimOf(axis);
    if (dim && std::strcmp(dim, "batch") == 0)
      sizes.emplace(dim, 1);
    if (dim && sizes.find(dim) == sizes.end()) {
      if (!unknown.empty())
        return Status::error(artifact.label() + ": --value: '" + target.desc->name + "': " + unknown + " and " + dim + " of its shape " +
                             describe(target) + " are unknown; give --ids, or the input in a file, --input");
      unknown = dim;
      continue;
    }
    known.push_back(dim ? sizes[dim] : target.desc->shape[axis]);
  }
  std::optional<int64_t> others = elementCount(known);
  if (!others || (unknown.empty() && *others != count))
    return expected(others ? std::to_string(*others) + (*others == 1 ? " value" : " values") : "less than 2^62 values");
  if (!unknown.empty()) {
    if (*others == 0 || count % *others != 0)
      return expected("a multiple of " + std::to_string(*others) + " values");
    sizes[unknown] = count / *others;
  }
  std::vector<int64_t> shape;
  for (uint32_t axis = 0; axis < target.desc->rank; ++axis)
    shape.push_back(target.dimOf(axis) ? sizes[target.dimOf(axis)] : target.desc->shape[axis]);
  return shape;
}

/// Parses |text|, a number in the range of a float, or "inf", "-inf" or "nan".
static Result<float> parseFloat(const std::string &text) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (auto [word, value] : {std::pair("inf", infinity), std::pair("-inf", -infinity), std::pair("nan", std::nanf(""))})
    if (text == word)
      return value;
  Result<double> number = parseNumber(text);
  if (!number)
    return number.status();
  if (std::fabs(*number) > std::numeric_limits<float>::max())
    return Status::error("expected a number in the range of f32, got '" + text + "'");
  return static_cast<float>(*number);
}

/// Appends the bytes of |value| to |bytes|; fails if |value| is an error.
template <typename T>
static Status append(std::vector<uint8_t> &bytes, const Result<T> &value) {
  if (!value)
    return value.status();
  const auto *begin = reinterpret_cast<const uint8_t *>(&*value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
  return {};
}

static OwnedTensor makeIntegers(const std::string &name, const std::vector<int64_t> &shape, const std::vector<int64_t> &values) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(values.data());
  return {{name, DType::I64, shape}, {bytes, bytes + values.size() * sizeof(int64_t)}};
}

Status attune::parseIds(const std::string &text, std::vector<std::vector<int64_t>> &rows) {
  Result<std::vector<std::string>> parts = splitList(text);
  if (!parts)
    return Status::error("expected ids separated by commas, got '" + text + "'");
  std::vector<int64_t> row;
  for (const std::string &part : *parts) {
    Result<int64_t> id = parseInteger(part);
    if (!id)
      return id.status();
    row.push_back(*id);
  }
  rows.push_back(std::move(row));
  return {};
}

Status FlagInputs::readValue(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Status::error("expected NAME=V,V,..., got '" + text + "'");
  Value value{text.substr(0, equals), {}};
  if (std::any_of(values.begin(), values.end(), [&](const Value &other) { return other.name == value.name; }))
    return Status::error("'" + value.name + "': expected once, got twice");
  Result<std::vector<std::string>> numbers = splitList(text.substr(equals + 1));
  if (!numbers)
    return Status::error("'" + value.name + "': expected numbers separated by commas, got '" + text.substr(equals + 1) + "'");
  value.numbers = std::move(*numbers);
  values.push_back(std::move(value));
  return {};
}

void FlagInputs::addTo(FlagTable &flags) {
  flags.addCustom("ids", "N,N,...",
                  padding == Padding::None ? "input_ids, a row; once for each row of a batch, all equally long"
                                           : "input_ids, a row; once for each row of a batch, shorter ones are padded and masked",
                  [this](const std::string &text) { return parseIds(text, rows); });
  flags.addCustom("value", "NAME=V,V,...", "another input, row by row, in the shape that the model and the ids say; repeatable",
                  [this](const std::string &text) { return readValue(text); });
}

bool FlagInputs::hasPadding() const {
  return std::any_of(rows.begin(), rows.end(), [&](const std::vector<int64_t> &row) { return row.size() != rows.front().size(); });
}

std::vector<std::string> FlagInputs::names() const {
  std::vector<std::string> names;
  if (!rows.empty())
    names.push_back(idsName);
  if (hasPadding())
    names.push_back(maskName);
  for (const Value &value : values)
    names.push_back(value.name);
  return names;
}

/// Checks that no name is twice in |names|, the inputs that flags set, or also in |given|, the inputs of the file.
static Status checkOnce(std::vector<std::string> names, const std::vector<TensorView> &given) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::any_of(given.begin(), given.end(), [&](const TensorView &tensor) { return tensor.name == names[i]; }))
      return Status::error("input '" + names[i] + "': given by a flag and in the file of --input");
    if (std::find(names.begin() + static_cast<ptrdiff_t>(i) + 1, names.end(), names[i]) != names.end())
      return Status::error("input '" + names[i] + "': given by --ids and --value" +
                           (names[i] == maskName ? "; --ids gives it where rows differ in length" : ""));
  }
  return {};
}

/// Appends |row| to |values|, padded with |fill| before or after it to |length| elements.
static void appendPadded(std::vector<int64_t> &values, const std::vector<int64_t> &row, int64_t fill, size_t length, bool before) {
  size_t padded = length - row.size();
  values.insert(values.end(), before ? padded : 0, fill);
  values.insert(values.end(), row.begin(), row.end());
  values.insert(values.end(), before ? 0 : padded, fill);
}

Status FlagInputs::makeIds(Signature &signature, std::vector<OwnedTensor> &made) const {
  if (rows.empty())
    return {};
  Result<Target> target = signature.require("--ids", idsName);
  if (!target)
    return target.status();
  size_t longest = 0;
  for (const std::vector<int64_t> &row : rows) {
    longest = std::max(longest, row.size());
    if (padding == Padding::None && row.size() != rows.front().size())
      return Status::error("--ids: expected rows of one length, got " + std::to_string(rows.front().size()) + " and " +
                           std::to_string(row.size()) + " ids; pad the shorter one and hide that, --value=attention_mask=1,...,0");
  }
  // Sources are padded after their tokens, prompts before them.
  bool before = target->entry->cache_use == ATTUNE_CACHE_APPEND;
  attune_generation_options options;
  attune_generation_options_init(signature.model(), &options);
  int64_t fill = std::max<int64_t>(options.pad_token_id, 0);
  std::vector<int64_t> ids, mask;
  for (const std::vector<int64_t> &row : rows) {
    appendPadded(ids, row, fill, longest, before);
    appendPadded(mask, std::vector<int64_t>(row.size(), 1), 0, longest, before);
  }
  // An input of rank 3 is for multiple choice: [1, rows, length], since the rows are the choices of one row of the
  // batch.
  std::vector<int64_t> shape(std::max<size_t>(target->desc->rank, rows.size() > 1 ? 2 : 1), 1);
  shape.back() = static_cast<int64_t>(longest);
  if (shape.size() > 1)
    shape[shape.size() - 2] = static_cast<int64_t>(rows.size());
  signature.learn(idsName, shape);
  made.push_back(makeIntegers(idsName, shape, ids));
  if (!hasPadding())
    return {};
  made.push_back(makeIntegers(maskName, shape, mask));
  return signature.require("--ids of different lengths", maskName).status();
}

Status FlagInputs::makeValue(const Value &value, Signature &signature, std::vector<OwnedTensor> &made) const {
  Result<Target> target = signature.require("--value", value.name);
  if (!target)
    return target.status();
  Result<std::vector<int64_t>> shape = signature.resolve(*target, static_cast<int64_t>(value.numbers.size()));
  if (!shape)
    return shape.status();
  bool isInteger = target->desc->dtype == ATTUNE_I64;
  OwnedTensor tensor{{value.name, isInteger ? DType::I64 : DType::F32, *shape}, {}};
  for (const std::string &text : value.numbers)
    if (Status status = isInteger ? append(tensor.data, parseInteger(text)) : append(tensor.data, parseFloat(text)); status.failed())
      return Status::error("--value: '" + value.name + "': " + status.message());
  made.push_back(std::move(tensor));
  return {};
}

Result<std::vector<OwnedTensor>> FlagInputs::make(const Artifact &artifact, const std::vector<std::string> &entries,
                                                  const std::vector<TensorView> &given) const {
  if (Status status = checkOnce(names(), given); status.failed())
    return status;
  Signature signature(artifact, entries);
  std::vector<OwnedTensor> made;
  if (signature.isEmpty())
    return made;
  for (const TensorView &tensor : given)
    signature.learn(tensor.name, tensor.shape);
  if (Status status = makeIds(signature, made); status.failed())
    return status;
  for (const Value &value : values)
    if (Status status = makeValue(value, signature, made); status.failed())
      return status;
  return made;
}
