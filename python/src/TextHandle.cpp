//===- TextHandle.cpp - Tokenizers for Python -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TextHandle.h"
#include "NumpyArrays.h"
#include "TextInputs.h"

#include <algorithm>
#include <cstring>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace attune;
using namespace attune::python;

namespace attune::python {

class TokenizerUse {
public:
  /// Takes an idle tokenizer of |owner| for calls of up to |bytes| bytes, or makes one.
  TokenizerUse(TextHandle &owner, size_t bytes) : owner(owner) {
    auto fits = [&](const TextHandle::Sized &one) { return one.callBytes >= bytes; };
    auto found = std::find_if(owner.idle.begin(), owner.idle.end(), fits);
    if (found != owner.idle.end()) {
      used = *found;
      owner.idle.erase(found);
      return;
    }
    attune_tokenizer_options options;
    attune_tokenizer_options_init(&options);
    while (options.max_call_bytes < bytes && options.max_call_bytes < kMostCallBytes)
      options.max_call_bytes *= 2;
    used.callBytes = options.max_call_bytes;
    check(attune_tokenizer_create(owner.get(), &options, &used.tokenizer));
  }
  TokenizerUse(const TokenizerUse &) = delete;
  TokenizerUse &operator=(const TokenizerUse &) = delete;
  ~TokenizerUse() {
    if (owner.idle.size() < kMaxIdle)
      owner.idle.push_back(used);
    else
      attune_tokenizer_destroy(used.tokenizer);
  }
  attune_tokenizer *get() const { return used.tokenizer; }

private:
  static constexpr size_t kMaxIdle = 8, kMostCallBytes = size_t(256) << 20;
  TextHandle &owner;
  TextHandle::Sized used = {};
};

} // namespace attune::python

TextHandle::~TextHandle() {
  for (const Sized &one : idle)
    attune_tokenizer_destroy(one.tokenizer);
}

namespace {

/// A field of attune_encode_options by its name: |flag| or |number|; the other one is null.
struct EncodeField {
  const char *name;
  int32_t attune_encode_options::*flag;
  int64_t attune_encode_options::*number;
};

} // namespace

static constexpr EncodeField encodeFields[] = {{"add_special_tokens", &attune_encode_options::add_special_tokens, nullptr},
                                               {"split_special_tokens", &attune_encode_options::split_special_tokens, nullptr},
                                               {"want_offsets", &attune_encode_options::want_offsets, nullptr},
                                               {"truncation", &attune_encode_options::truncation, nullptr},
                                               {"max_length", nullptr, &attune_encode_options::max_length},
                                               {"stride", nullptr, &attune_encode_options::stride},
                                               {"want_overflow", &attune_encode_options::want_overflow, nullptr},
                                               {"truncate_left", &attune_encode_options::truncate_left, nullptr},
                                               {"pad_to_longest", &attune_encode_options::pad_to_longest, nullptr},
                                               {"pad_left", &attune_encode_options::pad_left, nullptr},
                                               {"pad_length", nullptr, &attune_encode_options::pad_length},
                                               {"pad_to_multiple_of", nullptr, &attune_encode_options::pad_to_multiple_of},
                                               {"pad_id", nullptr, &attune_encode_options::pad_id},
                                               {"pad_type_id", nullptr, &attune_encode_options::pad_type_id}};

/// Returns the default options of |text| with the fields that |named| sets, a dictionary of integers by the names of
/// fields.
static attune_encode_options readOptions(const attune_text *text, nb::dict named) {
  attune_encode_options options;
  attune_encode_options_init(text, &options);
  for (auto [key, value] : named) {
    const char *name = nb::cast<const char *>(key);
    auto found = std::find_if(std::begin(encodeFields), std::end(encodeFields),
                              [&](const EncodeField &field) { return std::strcmp(field.name, name) == 0; });
    if (found == std::end(encodeFields))
      throwInvalid(std::string("unknown option '") + name + "' of an encoding");
    int64_t number = 0;
    if (!PyLong_Check(value.ptr()) || !nb::try_cast(value, number) || (found->flag && number != static_cast<int32_t>(number)))
      throwInvalid(std::string("option '") + name + "' is not an integer of at most " + (found->flag ? "32" : "64") + " bits");
    if (found->flag)
      options.*found->flag = static_cast<int32_t>(number);
    else
      options.*found->number = number;
  }
  return options;
}

/// Sets |encodings| and |count| as attune_tokenizer_encode does; releases the GIL meanwhile.
static void encodeTexts(attune_tokenizer *tokenizer, const TextInputs &inputs, const attune_encode_options &options,
                        const attune_encoding *&encodings, size_t &count) {
  nb::gil_scoped_release release;
  check(attune_tokenizer_encode(tokenizer, inputs.data(), inputs.size(), &options, &encodings, &count));
}

static Encoding copyEncoding(const attune_encoding &from) {
  auto copy = [&](const int32_t *values, int64_t perToken = 1) {
    return values ? std::vector<int32_t>(values, values + from.length * perToken) : std::vector<int32_t>();
  };
  return {from.input,
          copy(from.ids),
          copy(from.type_ids),
          copy(from.attention_mask),
          copy(from.special_tokens_mask),
          copy(from.sequence_ids),
          copy(from.offsets, 2),
          copy(from.word_ids)};
}

std::vector<Encoding> TextHandle::encode(nb::sequence inputs, nb::dict named) {
  TextInputs texts(inputs);
  attune_encode_options options = readOptions(get(), named);
  TokenizerUse tokenizer(*this, texts.bytes());
  const attune_encoding *encodings;
  size_t count;
  encodeTexts(tokenizer.get(), texts, options, encodings, count);
  std::vector<Encoding> results;
  results.reserve(count);
  for (size_t i = 0; i < count; ++i)
    results.push_back(copyEncoding(encodings[i]));
  return results;
}

nb::tuple TextHandle::encodeArrays(nb::sequence inputs, nb::dict named) {
  TextInputs texts(inputs);
  attune_encode_options options = readOptions(get(), named);
  TokenizerUse tokenizer(*this, texts.bytes());
  const attune_encoding *encodings;
  size_t count;
  encodeTexts(tokenizer.get(), texts, options, encodings, count);
  int64_t shape[] = {static_cast<int64_t>(count), count ? encodings[0].length : 0};
  std::vector<int64_t> ids, mask, types;
  for (size_t i = 0; i < count; ++i) {
    const attune_encoding &one = encodings[i];
    if (one.length != shape[1])
      throwInvalid("the texts have different numbers of tokens, " + std::to_string(shape[1]) + " and " + std::to_string(one.length) +
                   ": arrays need padding=True");
    ids.insert(ids.end(), one.ids, one.ids + one.length);
    mask.insert(mask.end(), one.attention_mask, one.attention_mask + one.length);
    types.insert(types.end(), one.type_ids, one.type_ids + one.length);
  }
  return nb::make_tuple(copyArray(ATTUNE_I64, shape, 2, ids.data()), copyArray(ATTUNE_I64, shape, 2, mask.data()),
                        copyArray(ATTUNE_I64, shape, 2, types.data()));
}

nb::str TextHandle::decode(const std::vector<int32_t> &ids, bool skipSpecialTokens) {
  TokenizerUse tokenizer(*this, ids.size() * sizeof(int32_t));
  const char *text;
  size_t bytes;
  {
    nb::gil_scoped_release release;
    check(attune_tokenizer_decode(tokenizer.get(), ids.data(), ids.size(), skipSpecialTokens, &text, &bytes));
  }
  return toText(text, bytes);
}

DecodeStream::DecodeStream(std::shared_ptr<TextHandle> owner, bool skipSpecialTokens) : text(std::move(owner)) {
  check(attune_decode_stream_create(text->get(), skipSpecialTokens, &stream));
}

nb::str DecodeStream::push(int32_t id) {
  const char *piece;
  size_t bytes;
  check(attune_decode_stream_push(stream, id, &piece, &bytes));
  return toText(piece, bytes);
}

nb::str DecodeStream::finish() {
  const char *piece;
  size_t bytes;
  check(attune_decode_stream_finish(stream, &piece, &bytes));
  return toText(piece, bytes);
}

/// Returns the string of token |id|, None if there is no such token.
static nb::object tokenText(const TextHandle &text, int64_t id) {
  size_t bytes;
  const char *token = attune_text_token(text.get(), id, &bytes);
  return token ? nb::object(toText(token, bytes)) : nb::none();
}

/// Returns the offsets of |encoding| as a list of pairs (begin, end).
static nb::list offsetPairs(const Encoding &encoding) {
  nb::list pairs;
  for (size_t i = 0; i + 1 < encoding.offsets.size(); i += 2)
    pairs.append(nb::make_tuple(encoding.offsets[i], encoding.offsets[i + 1]));
  return pairs;
}

/// Returns |values| as a list with None in the place of -1.
static nb::list withNone(const std::vector<int32_t> &values) {
  nb::list list;
  for (int32_t value : values) {
    if (value < 0)
      list.append(nb::none());
    else
      list.append(value);
  }
  return list;
}

void python::bindText(nb::module_ &module) {
  nb::class_<Encoding>(module, "EncodingData")
      .def_ro("input", &Encoding::input)
      .def_ro("ids", &Encoding::ids)
      .def_ro("type_ids", &Encoding::typeIds)
      .def_ro("attention_mask", &Encoding::attentionMask)
      .def_ro("special_tokens_mask", &Encoding::specialTokensMask)
      .def_prop_ro("sequence_ids", [](const Encoding &self) { return withNone(self.sequenceIds); })
      .def_prop_ro("word_ids", [](const Encoding &self) { return withNone(self.wordIds); })
      .def_prop_ro("offsets", &offsetPairs);
  nb::class_<TextHandle>(module, "TextHandle")
      .def(nb::init<const std::string &>(), nb::arg("path"))
      .def("encode", &TextHandle::encode, nb::arg("inputs"), nb::arg("options"))
      .def("encode_arrays", &TextHandle::encodeArrays, nb::arg("inputs"), nb::arg("options"))
      .def("decode", &TextHandle::decode, nb::arg("ids"), nb::arg("skip_special_tokens"))
      .def("vocab_size", [](const TextHandle &self) { return attune_text_vocab_size(self.get()); })
      .def("token", &tokenText, nb::arg("id"))
      .def(
          "token_id",
          [](const TextHandle &self, const std::string &token) { return attune_text_token_id(self.get(), token.data(), token.size()); },
          nb::arg("token"))
      .def(
          "is_special", [](const TextHandle &self, int64_t id) { return attune_text_is_special(self.get(), id) != 0; }, nb::arg("id"))
      .def("verify", [](const TextHandle &self) { check(attune_text_verify(self.get())); });
  nb::class_<DecodeStream>(module, "DecodeStream")
      .def(nb::init<std::shared_ptr<TextHandle>, bool>(), nb::arg("text"), nb::arg("skip_special_tokens"))
      .def("push", &DecodeStream::push, nb::arg("id"))
      .def("finish", &DecodeStream::finish);
}
