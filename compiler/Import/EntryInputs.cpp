//===- EntryInputs.cpp - The inputs of an entry ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/EntryInputs.h"
#include "compiler/Import/InputForms.h"

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
  if (input.fill)
    return *input.fill;
  switch (input.spec->role) {
  case InputRole::AttentionMask:
  case InputRole::MemoryMask:
    return input.dtype == DType::F32 ? "zeros" : "ones";
  case InputRole::TokenTypes:
    return input.spec->required ? "" : "zeros";
  case InputRole::Positions:
    return input.spec->required ? "" : "arange";
  case InputRole::HeadMask:
  case InputRole::CrossHeadMask:
    return "ones";
  default:
    return "";
  }
}

/// The number of values that an input of integers may have, from 0 on; 0 for any. The families of the reference disagree about values of a
/// mask beside 0 and 1 (hidden, visible, or infinite sums), and lengths, caches and skipped padding need a yes or no: so they are refused.
static int64_t maxValueOf(const EntryInput &input) { return isMask(*input.spec) && input.dtype == DType::I64 ? 2 : input.spec->maxValue; }

DictionaryAttr EntryInput::attributes(Builder &builder) const {
  NamedAttrList list;
  list.set(xfmr::kNameAttr, builder.getStringAttr(spec->name));
  list.set(xfmr::kDimsAttr, dimsAttribute(builder, dims));
  if (StringRef fill = fillOf(*this); !fill.empty())
    list.set(xfmr::kFillAttr, builder.getStringAttr(fill));
  if (int64_t values = maxValueOf(*this))
    list.set(xfmr::kMaxValueAttr, builder.getI64IntegerAttr(values));
  return list.getDictionary(builder.getContext());
}

/// How well a form fits a request: sizes 1 are where it is broadcast, at least there, or anywhere.
enum class Fit { Exact, Compatible, Any };

/// Whether |form| has the rank and type that |request| asks for, and sizes that fit |how|.
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

/// The form that |request| asks for.
static Result<EntryInput> resolve(const TransformerSpec &spec, const InputSpec &input, const InputRequest &request, bool afterPast) {
  std::vector<std::string> ranks;
  std::string dtypes;
  bool rankFits = false;
  std::vector<InputForm> forms = formsOf(spec, input, afterPast);
  for (Fit how : {Fit::Exact, Fit::Compatible, Fit::Any})
    for (InputForm &form : forms)
      if (fits(form, request, how)) {
        EntryInput resolved{&input, form.dtype, std::move(form.dims)};
        // Positions of later tokens do not begin at 0.
        if (afterPast && input.role == InputRole::Positions && input.stack == StackRole::Decoder)
          resolved.fill = "";
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
  for (const InputRequest &request : options.inputs)
    if (afterPast |= StringRef(request.name).starts_with(pastGroup); request.name != pastGroup)
      requests.push_back(request);
  // The group stands for all that belong to it.
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
    Result<EntryInput> input = resolve(spec, *known, request, afterPast);
    if (!input)
      return input.status();
    inputs.push_back(std::move(*input));
  }
  if (Status status = checkInputs(spec, inputs, options.padding); status.failed())
    return status;
  return inputs;
}
