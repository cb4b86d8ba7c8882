//===- EntryInputs.cpp - The inputs of an entry ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryInputs.h"
#include "compiler/Import/InputForms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;

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

/// Returns the default of |input| for calls that omit it.
static xfmr::InputDefault defaultOf(const EntryInput &input) {
  using xfmr::InputDefault;
  if (input.fill)
    return *input.fill;
  switch (input.spec->role) {
  case InputRole::AttentionMask:
  case InputRole::MemoryMask:
    if (input.spec->required)
      return InputDefault::Required;
    return input.dtype == DType::F32 ? InputDefault::Zeros : InputDefault::Ones;
  case InputRole::Boxes:
  case InputRole::PromptLength:
    return InputDefault::Zeros;
  case InputRole::TokenTypes:
  case InputRole::TaskTypes:
    return input.spec->required ? InputDefault::Required : InputDefault::Zeros;
  case InputRole::Positions:
    return input.spec->required ? InputDefault::Required : InputDefault::Arange;
  case InputRole::HeadMask:
  case InputRole::CrossHeadMask:
    return InputDefault::Ones;
  default:
    return InputDefault::Required;
  }
}

/// Returns the number of values, from 0 on, that an integer input may have; 0 if any integer is accepted. Masks have
/// the values 0 and 1: families in transformers treat other values differently (as hidden, as visible, or as summands
/// that make scores infinite), and lengths, caches and skipped padding need a yes or no.
static int64_t maxValueOf(const EntryInput &input) { return isMask(*input.spec) && input.dtype == DType::I64 ? 2 : input.spec->maxValue; }

xfmr::InputAttr EntryInput::attribute(Builder &builder) const {
  return xfmr::InputAttr::get(builder.getContext(), builder.getStringAttr(spec->name), dimsAttribute(builder, dims), defaultOf(*this),
                              maxValueOf(*this));
}

/// The required agreement between the dimensions that a request gives as 1 and those in which a form is broadcast.
/// Exact: they are the same. Compatible: the request gives each broadcast dimension, and perhaps others, as 1. Any: no
/// agreement is required.
enum class Fit { Exact, Compatible, Any };

/// Returns true if |form| has the rank and the type of |request|, and its sizes match as |how| says.
static bool fits(const InputForm &form, const InputRequest &request, Fit how) {
  int64_t rank = int64_t(form.dims.size());
  if (request.rank.value_or(rank) != rank || request.dtype.value_or(form.dtype) != form.dtype)
    return false;
  for (size_t i = 0; how != Fit::Any && i < request.sizes.size(); ++i) {
    bool isOne = request.sizes[i] == 1, broadcast = form.dims[i] == "1";
    if (how == Fit::Exact ? isOne != broadcast : broadcast && !isOne)
      return false;
  }
  return true;
}

/// Returns |input| in the form that fits |request| best, the first of several such forms. |afterPast| is true if the
/// keys of earlier tokens are inputs. Fails if no form has the requested rank and type.
static Result<EntryInput> resolveInput(const TransformerSpec &spec, const InputSpec &input, const InputRequest &request, bool afterPast) {
  std::vector<std::string> ranks;
  std::string dtypes;
  bool rankFits = false;
  std::vector<InputForm> forms = formsOf(spec, input, afterPast);
  for (Fit how : {Fit::Exact, Fit::Compatible, Fit::Any})
    for (InputForm &form : forms)
      if (fits(form, request, how)) {
        EntryInput resolved{&input, form.dtype, std::move(form.dims)};
        // The positions of tokens after earlier ones do not begin at 0, so they have no default.
        if (afterPast && input.role == InputRole::Positions && input.stack == StackRole::Decoder)
          resolved.fill = xfmr::InputDefault::Required;
        return resolved;
      }
  for (const InputForm &form : forms) {
    int64_t rank = int64_t(form.dims.size());
    rankFits |= request.rank.value_or(rank) == rank;
    if (!llvm::is_contained(ranks, std::to_string(rank)))
      ranks.push_back(std::to_string(rank));
    if (dtypes.find(dtypeName(form.dtype)) == std::string::npos)
      dtypes += (dtypes.empty() ? "" : " or ") + std::string(dtypeName(form.dtype));
  }
  std::string last = ranks.back();
  ranks.pop_back();
  if (!rankFits)
    return Status::error("input '" + input.name + "': expected rank " + llvm::join(ranks, ", ") + (ranks.empty() ? "" : " or ") + last +
                         ", got " + std::to_string(*request.rank));
  return Status::error("input '" + input.name + "': expected " + dtypes + ", got " + dtypeName(*request.dtype));
}

Result<std::vector<EntryInput>> attune::resolveInputs(const TransformerSpec &spec, const ImportOptions &options) {
  std::vector<InputRequest> requests;
  std::string names;
  bool afterPast = false;
  // The name `past_key_values` stands for all members of this group; it is unknown to a model without members.
  bool hasGroup = llvm::any_of(spec.inputs, [](const InputSpec &input) { return input.role == InputRole::PastKeyValues; });
  for (const InputRequest &request : options.inputs)
    if (afterPast |= StringRef(request.name).starts_with(pastGroup); !hasGroup || request.name != pastGroup)
      requests.push_back(request);
  bool group = requests.size() < options.inputs.size();
  for (const InputSpec &input : spec.inputs) {
    bool isPast = input.role == InputRole::PastKeyValues;
    if ((options.inputs.empty() && input.standard) || (group && isPast))
      requests.push_back({input.name, {}, {}, {}});
    if (!isPast || input.member == 0)
      names += (names.empty() ? "" : ", ") + (isPast ? std::string(pastGroup) : input.name);
  }
  std::vector<EntryInput> inputs;
  for (const InputRequest &request : requests) {
    auto known = llvm::find_if(spec.inputs, [&](const InputSpec &input) { return input.name == request.name; });
    if (known == spec.inputs.end())
      return Status::error("inputs: expected some of " + names + ", got '" + request.name + "'");
    if (llvm::any_of(inputs, [&](const EntryInput &input) { return input.spec == &*known; }))
      return Status::error("input '" + request.name + "': expected once, got twice");
    Result<EntryInput> input = resolveInput(spec, *known, request, afterPast);
    if (!input)
      return input.status();
    inputs.push_back(std::move(*input));
  }
  if (Status status = checkInputs(spec, inputs, options.padding); status.failed())
    return status;
  return inputs;
}

/// Checks that |inputs| have the keys and values of earlier tokens for all layers or for none, and likewise the keys
/// and values of cross attention, which require those of earlier tokens. Fails also if |inputs| have keys of earlier
/// tokens and |padding| is Skip.
static Status checkPast(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, Padding padding) {
  const InputSpec *some[2] = {}, *lacking[2] = {};
  for (const InputSpec &input : spec.inputs) {
    if (input.role != InputRole::PastKeyValues)
      continue;
    bool given = llvm::any_of(inputs, [&](const EntryInput &other) { return other.spec == &input; });
    const InputSpec *&first = (given ? some : lacking)[input.member % spec.decoder->cachedParts() / 2];
    first = first ? first : &input;
  }
  for (size_t i : {0, 1})
    if (const InputSpec *given = some[i]; given && lacking[i])
      return Status::error("inputs: expected '" + lacking[i]->name + "' beside '" + given->name + "', which is missing");
  if (some[1] && !some[0])
    return Status::error("inputs: expected '" + lacking[0]->name + "' beside '" + some[1]->name + "', which is missing");
  if (some[0] && padding == Padding::Skip)
    return Status::error("input '" + some[0]->name + "': expected no keys of earlier tokens when padding is skipped");
  return {};
}

/// Returns true if |inputs| have the keys and values of cross attention.
static bool hasMemoryKeys(const TransformerSpec &spec, const std::vector<EntryInput> &inputs) {
  return llvm::any_of(inputs, [&](const EntryInput &input) {
    return input.spec->role == InputRole::PastKeyValues && input.spec->member % spec.decoder->cachedParts() > 1;
  });
}

/// Returns true if the decoder's ids can be made from the encoder's: the model has a rule for it (ShiftedIdsSpec), the
/// encoder's ids are in |inputs|, and |inputs| have no keys and values and no decoder mask, which would mask tokens
/// that the caller does not pass.
static bool takesShiftedIds(const TransformerSpec &spec, const std::vector<EntryInput> &inputs) {
  bool hasIds = false, hasOthers = false;
  for (const EntryInput &input : inputs) {
    hasIds |= input.spec->role == InputRole::TokenIds && input.spec->stack == StackRole::Encoder;
    hasOthers |= (input.spec->role == InputRole::AttentionMask && input.spec->stack == StackRole::Decoder) ||
                 input.spec->role == InputRole::PastKeyValues;
  }
  return spec.shiftedIds && hasIds && !hasOthers;
}

/// Checks that |inputs| have no head mask of a stack whose layers differ in their number of heads.
static Status checkHeadMasks(const TransformerSpec &spec, const std::vector<EntryInput> &inputs) {
  for (const EntryInput &input : inputs) {
    if (input.spec->role != InputRole::HeadMask && input.spec->role != InputRole::CrossHeadMask)
      continue;
    const auto attention = input.spec->role == InputRole::HeadMask ? &LayerSpec::attention : &LayerSpec::cross;
    const std::vector<LayerSpec> &layers = spec.stack(input.spec->stack).layers;
    for (const LayerSpec &layer : layers)
      if ((layer.*attention)->heads != (layers.front().*attention)->heads)
        return Status::error("input '" + input.spec->name + "': expected no such input where layers have different numbers of heads");
  }
  return {};
}

/// Fails if positions are counted over |input|, a mask, and |input| does not have the form for this: I64 of rank 2.
static Status checkCountedMask(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, const EntryInput &input) {
  auto givesPositions = [&](const EntryInput &other) {
    return other.spec->role == InputRole::Positions && other.spec->stack == input.spec->stack;
  };
  if (input.spec->role != InputRole::AttentionMask || !spec.stack(input.spec->stack).embeddings.countsMask ||
      (input.rank() == 2 && input.dtype == DType::I64) || llvm::any_of(inputs, givesPositions))
    return {};
  return Status::error("input '" + input.spec->name + "': expected rank 2 and I64, as positions are counted over it where no " +
                       "'position_ids' are given, got rank " + std::to_string(input.rank()) + " and " + dtypeName(input.dtype));
}

/// Checks that each stack has exactly one source of tokens, or none if it needs none; that a mask over which positions
/// are counted has a form for this; and, if |padding| is Skip, that masks have one integer for each token.
static Status checkTogether(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, Padding padding) {
  for (StackRole stack : {StackRole::Encoder, StackRole::Decoder}) {
    if (stack == StackRole::Encoder ? !spec.encoder : !spec.decoder)
      continue;
    auto isSource = [&](const InputSpec &input) {
      return input.stack == stack && (input.role == InputRole::TokenIds || input.role == InputRole::TokenVectors ||
                                      input.role == InputRole::Image || input.role == InputRole::EncoderResult);
    };
    std::string sources;
    for (const InputSpec &input : spec.inputs)
      if (isSource(input))
        sources += (sources.empty() ? "" : " and ") + input.name;
    auto count = llvm::count_if(inputs, [&](const EntryInput &input) { return isSource(*input.spec); });
    if (count == 0 && (stack == StackRole::Encoder ? hasMemoryKeys(spec, inputs) : takesShiftedIds(spec, inputs)))
      continue;
    if (count != 1)
      return Status::error("inputs: expected exactly one of " + sources + ", got " + (count > 2 ? "all" : count ? "both" : "neither"));
  }
  for (const EntryInput &input : inputs) {
    if (Status status = checkCountedMask(spec, inputs, input); status.failed())
      return status;
    if (padding == Padding::Skip && isMask(*input.spec) && input.spec->broadcast)
      return Status::error("input '" + input.spec->name + "': expected no such input when padding is skipped, as it is not one of tokens");
    int64_t rank = spec.choices ? 3 : 2;
    if (padding == Padding::Skip && isMask(*input.spec) && (input.rank() != rank || input.dtype != DType::I64))
      return Status::error("input '" + input.spec->name + "': expected rank " + std::to_string(rank) +
                           " and I64 when padding is skipped, got rank " + std::to_string(input.rank()) + " and " + dtypeName(input.dtype));
  }
  return {};
}

/// Fails if an output or the embeddings depend on which tokens the mask shows, and the mask is not one integer for each
/// token.
static Status checkVisibleTokens(const TransformerSpec &spec, const std::vector<EntryInput> &inputs) {
  auto reads = [](const OutputSpec &output) { return llvm::any_of(output.steps, readsMask); };
  bool embeds = spec.encoder && (spec.encoder->embeddings.tokenDropout || spec.encoder->embeddings.zeroesHidden);
  int64_t rank = spec.choices ? 3 : 2;
  for (const EntryInput &input : inputs)
    if (input.spec->role == InputRole::AttentionMask && (input.rank() != rank || input.dtype != DType::I64) &&
        (embeds || llvm::any_of(spec.outputs, reads)))
      return Status::error("input '" + input.spec->name + "': expected rank " + std::to_string(rank) +
                           " and I64, as the model needs to know which tokens it shows, got rank " + std::to_string(input.rank()) +
                           " and " + dtypeName(input.dtype));
  return {};
}

Status attune::checkInputs(const TransformerSpec &spec, const std::vector<EntryInput> &inputs, Padding padding) {
  for (Status status : {checkPast(spec, inputs, padding), checkTogether(spec, inputs, padding), checkHeadMasks(spec, inputs),
                        checkVisibleTokens(spec, inputs)})
    if (status.failed())
      return status;
  return {};
}
