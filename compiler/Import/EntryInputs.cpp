//===- EntryInputs.cpp - The inputs of an entry ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryInputs.h"

#include "llvm/ADT/StringExtras.h"

using namespace attune;
using namespace mlir;

RankedTensorType EntryInput::type(Builder &builder) const {
  SmallVector<int64_t> shape;
  for (StringRef dim : dims) {
    int64_t extent;
    shape.push_back(dim.getAsInteger(10, extent) ? ShapedType::kDynamic : extent);
  }
  return RankedTensorType::get(shape, dtype == DType::F32 ? Type(builder.getF32Type()) : builder.getI64Type());
}

ArrayAttr attune::dimsAttribute(Builder &builder, const std::vector<std::string> &dims) {
  SmallVector<Attribute> words;
  for (StringRef dim : dims) {
    int64_t extent;
    words.push_back(dim.getAsInteger(10, extent) ? Attribute(builder.getStringAttr(dim)) : builder.getI64IntegerAttr(extent));
  }
  return builder.getArrayAttr(words);
}

/// What an absent input stands for, "" if it has to be given.
static StringRef fillOf(const EntryInput &input) {
  switch (input.spec->role) {
  case InputRole::AttentionMask:
    return input.dtype == DType::F32 ? "zeros" : "ones";
  case InputRole::TokenTypes:
    return "zeros";
  case InputRole::Positions:
    return "arange";
  case InputRole::HeadMask:
    return "ones";
  default:
    return "";
  }
}

DictionaryAttr EntryInput::attributes(Builder &builder) const {
  NamedAttrList list;
  list.set(xfmr::kNameAttr, builder.getStringAttr(spec->name));
  list.set(xfmr::kDimsAttr, dimsAttribute(builder, dims));
  if (StringRef fill = fillOf(*this); !fill.empty())
    list.set(xfmr::kFillAttr, builder.getStringAttr(fill));
  if (spec->maxValue)
    list.set(xfmr::kMaxValueAttr, builder.getI64IntegerAttr(spec->maxValue));
  return list.getDictionary(builder.getContext());
}

namespace {

/// One form an input may take.
struct Form {
  DType dtype;
  std::vector<std::string> dims;
};

} // namespace

/// The forms of an input, the default one first.
static std::vector<Form> formsOf(const TransformerSpec &spec, const InputSpec &input) {
  const std::vector<std::string> padded = {"batch", "length"}, pairs = {"batch", "length", "length"};
  switch (input.role) {
  case InputRole::TokenIds:
  case InputRole::TokenTypes:
  case InputRole::Positions:
    return {{DType::I64, padded}};
  case InputRole::TokenVectors:
    return {{DType::F32, {"batch", "length", std::to_string(spec.hidden)}}};
  case InputRole::AttentionMask:
    return {{DType::I64, padded}, {DType::I64, pairs}, {DType::F32, padded}, {DType::F32, pairs}};
  case InputRole::HeadMask: {
    std::vector<LayerSpec> const &layers = spec.encoder.layers;
    std::string heads = std::to_string(layers.empty() ? 0 : layers.front().attention.heads);
    return {{DType::F32, {heads}}, {DType::F32, {std::to_string(layers.size()), heads}}};
  }
  }
  return {};
}

/// The form that |request| asks for.
static Result<EntryInput> resolve(const TransformerSpec &spec, const InputSpec &input, const InputRequest &request) {
  std::string ranks, dtypes;
  bool rankFits = false;
  for (Form &form : formsOf(spec, input)) {
    int64_t rank = int64_t(form.dims.size());
    bool sameRank = request.rank.value_or(rank) == rank, sameType = request.dtype.value_or(form.dtype) == form.dtype;
    if (sameRank && sameType)
      return EntryInput{&input, form.dtype, std::move(form.dims)};
    rankFits |= sameRank;
    std::string rankText = std::to_string(rank);
    if (ranks.find(rankText) == std::string::npos)
      ranks += (ranks.empty() ? "" : " or ") + rankText;
    if (dtypes.find(dtypeName(form.dtype)) == std::string::npos)
      dtypes += (dtypes.empty() ? "" : " or ") + std::string(dtypeName(form.dtype));
  }
  if (!rankFits)
    return Status::error("input '" + input.name + "': expected rank " + ranks + ", got " + std::to_string(*request.rank));
  return Status::error("input '" + input.name + "': expected " + dtypes + ", got " + dtypeName(*request.dtype));
}

/// Whether the source of tokens is there and unique, and padding can be skipped if asked.
static Status checkTogether(const std::vector<EntryInput> &inputs, const std::string &sources, Padding padding) {
  int tokens = 0;
  for (const EntryInput &input : inputs) {
    InputRole role = input.spec->role;
    tokens += role == InputRole::TokenIds || role == InputRole::TokenVectors;
    bool plainMask = input.rank() == 2 && input.dtype == DType::I64;
    if (padding == Padding::Skip && role == InputRole::AttentionMask && !plainMask)
      return Status::error("input '" + input.spec->name + "': expected rank 2 and I64 when padding is skipped, got rank " +
                           std::to_string(input.rank()) + " and " + dtypeName(input.dtype));
  }
  if (tokens != 1)
    return Status::error("inputs: expected exactly one of " + sources + ", got " + (tokens ? "both" : "neither"));
  return {};
}

Result<std::vector<EntryInput>> attune::resolveInputs(const TransformerSpec &spec, const ImportOptions &options) {
  std::vector<InputRequest> requests = options.inputs;
  std::string names, sources;
  for (const InputSpec &input : spec.inputs) {
    if (options.inputs.empty() && input.standard)
      requests.push_back({input.name, {}, {}});
    names += (names.empty() ? "" : ", ") + input.name;
    if (input.role == InputRole::TokenIds || input.role == InputRole::TokenVectors)
      sources += (sources.empty() ? "" : " and ") + input.name;
  }
  std::vector<EntryInput> inputs;
  for (const InputRequest &request : requests) {
    auto known = llvm::find_if(spec.inputs, [&](const InputSpec &input) { return input.name == request.name; });
    if (known == spec.inputs.end())
      return Status::error("inputs: expected some of " + names + ", got '" + request.name + "'");
    if (llvm::any_of(inputs, [&](const EntryInput &input) { return input.spec == &*known; }))
      return Status::error("input '" + request.name + "': expected once, got twice");
    Result<EntryInput> input = resolve(spec, *known, request);
    if (!input)
      return input.status();
    inputs.push_back(std::move(*input));
  }
  if (Status status = checkTogether(inputs, sources, options.padding); status.failed())
    return status;
  return inputs;
}

Result<std::vector<InputRequest>> attune::parseInputList(std::string_view text) {
  std::vector<InputRequest> requests;
  for (StringRef item : llvm::split(StringRef(text.data(), text.size()), ',')) {
    SmallVector<StringRef> parts;
    item.trim().split(parts, ':');
    InputRequest request{parts[0].str(), {}, {}};
    bool wellFormed = !parts[0].empty() && parts.size() <= 3;
    if (parts.size() > 1) {
      int64_t rank = 0;
      wellFormed &= !parts[1].getAsInteger(10, rank) && rank >= 0;
      request.rank = rank;
    }
    if (parts.size() > 2) {
      request.dtype = parts[2].equals_insensitive("f32") ? DType::F32 : DType::I64;
      wellFormed &= *request.dtype == DType::F32 || parts[2].equals_insensitive("i64");
    }
    if (!wellFormed)
      return Status::error("inputs: expected NAME, NAME:RANK or NAME:RANK:i64|f32, got '" + item.str() + "'");
    requests.push_back(std::move(request));
  }
  return requests;
}
