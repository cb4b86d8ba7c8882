//===- TextTask.cpp - Tasks on texts for Python ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TextTask.h"
#include "NumpyArrays.h"

#include <algorithm>
#include <cstring>
#include <nanobind/stl/shared_ptr.h>

#include <unistd.h>

using namespace attune;
using namespace attune::python;

/// The most texts of a turn. The texts of a turn are sorted by length together; between turns Python handles signals.
static constexpr int64_t kTurn = 1024;

/// Doubles |least| until it is at least |size| or 2^30; returns the larger of the result and |size|.
template <typename Number> static Number roundUp(Number size, Number least) {
  Number rounded = least;
  while (rounded < size && rounded < (Number(1) << 30))
    rounded *= 2;
  return std::max(rounded, size);
}

namespace attune::python {

class TaskUse {
public:
  /// Takes an idle task of |owner| that is large enough for |wanted|, or makes one.
  TaskUse(TextTask &owner, const TextTask::Sizes &wanted) : owner(owner) {
    for (size_t i = owner.idle.size(); i-- > 0;) {
      const TextTask::Sizes &sizes = owner.idle[i].sizes;
      // Batches must not be larger than the caller wants, and texts must be cut at the length that the caller wants.
      if (owner.idle[i].process != getpid() || sizes.batch != wanted.batch || sizes.maxLength != wanted.maxLength ||
          sizes.texts < wanted.texts || sizes.longest < wanted.longest || sizes.results < wanted.results)
        continue;
      used = owner.idle[i];
      owner.idle.erase(owner.idle.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
    used = owner.make(wanted);
  }
  TaskUse(const TaskUse &) = delete;
  TaskUse &operator=(const TaskUse &) = delete;
  ~TaskUse() {
    owner.idle.push_back(used);
    if (owner.idle.size() <= TextTask::kMaxIdle)
      return;
    TextTask::Sized oldest = owner.idle.front();
    owner.idle.erase(owner.idle.begin());
    owner.destroy(oldest);
  }
  attune_task *get() const { return used.task; }

private:
  TextTask &owner;
  TextTask::Sized used = {};
};

} // namespace attune::python

namespace {

/// A new array of NumPy F32 [rows, columns] and its memory.
class FloatMatrix {
public:
  FloatMatrix(int64_t rows, int64_t columns) {
    const int64_t shape[] = {rows, columns};
    made = makeArray(ATTUNE_F32, shape, 2);
    if (PyObject_GetBuffer(made.ptr(), &buffer, PyBUF_SIMPLE | PyBUF_WRITABLE) != 0)
      nb::raise_python_error();
  }
  FloatMatrix(const FloatMatrix &) = delete;
  FloatMatrix &operator=(const FloatMatrix &) = delete;
  ~FloatMatrix() { PyBuffer_Release(&buffer); }
  float *data() const { return static_cast<float *>(buffer.buf); }
  const nb::object &array() const { return made; }

private:
  nb::object made;
  Py_buffer buffer = {};
};

} // namespace

TextTask::TextTask(std::shared_ptr<CompiledModel> model, std::shared_ptr<TextHandle> text, int kind, int64_t threads)
    : model(std::move(model)), owner(std::move(text)), kind(static_cast<attune_task_kind>(kind)), threads(threads) {
  // Fails if the model does not do this work. A later call with one short text uses this task.
  idle.push_back(make({1, 1, 0, 64, 0}));
}

TextTask::Sized TextTask::make(const Sizes &sizes) {
  attune_task_options options;
  attune_task_options_init(&options);
  options.max_batch = sizes.batch;
  options.max_texts = sizes.texts;
  options.max_text_bytes = std::max({sizes.longest, size_t(4096), sizes.results / 16});
  // Allows twelve tokens for each byte: NFKC makes 33 bytes from the 3 bytes of U+FDFA, and a token may be one byte. No
  // text can use a larger limit, which would only reserve memory.
  options.max_length = std::min<int64_t>(sizes.maxLength ? sizes.maxLength : INT32_MAX, 12 * static_cast<int64_t>(sizes.longest) + 64);
  options.num_threads = threads;
  Sized made = {sizes, nullptr, getpid()};
  nb::gil_scoped_release release;
  check(attune_task_create(model->get().get(), text(), kind, &options, &made.task));
  return made;
}

void TextTask::destroy(const Sized &one) {
  // The workers of a task of the parent process are not in this process, so destroying the task would wait for them
  // forever.
  if (one.process != getpid())
    return;
  nb::gil_scoped_release release;
  attune_task_destroy(one.task);
}

void TextTask::clear() {
  std::vector<Sized> gone = std::move(idle);
  idle.clear();
  for (const Sized &one : gone)
    destroy(one);
}

TextTask::Sizes TextTask::sizesOf(const TextInputs &texts, size_t prompt, int64_t batch, int64_t maxLength) const {
  size_t longest = 0;
  for (size_t i = 0; i < texts.size(); ++i)
    longest = std::max(longest, texts.data()[i].bytes + texts.data()[i].pair_bytes);
  const int64_t count = static_cast<int64_t>(texts.size());
  if (batch < 1 || maxLength < 0)
    throwInvalid(batch < 1 ? "batch_size: expected at least 1, got " + std::to_string(batch)
                           : "max_length: expected at least 1, got " + std::to_string(maxLength));
  return {std::min(batch, roundUp<int64_t>(count, 1)), std::min(kTurn, roundUp<int64_t>(count, 1)), maxLength,
          roundUp<size_t>(longest + prompt, 64), 0};
}

/// Returns the UTF-8 of the option |text|, null for None, and its length in |bytes|. The UTF-8 lives as long as |text|.
/// |name| is that of the option, for messages.
static const char *viewOption(nb::handle text, const char *name, size_t &bytes) {
  bytes = 0;
  if (text.is_none())
    return nullptr;
  Py_ssize_t size = 0;
  const char *utf8 = PyUnicode_Check(text.ptr()) ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
  PyErr_Clear();
  if (!utf8 || std::memchr(utf8, 0, static_cast<size_t>(size)))
    throwInvalid(std::string(name) + ": expected a text without NUL and surrogates");
  bytes = static_cast<size_t>(size);
  return utf8;
}

nb::tuple TextTask::embed(nb::sequence inputs, int64_t batch, int64_t maxLength, nb::handle promptName, nb::handle prompt, bool normalize,
                          nb::handle progress) {
  TextInputs texts(inputs);
  attune_embed_options options;
  attune_embed_options_init(&options);
  size_t promptBytes, unused;
  options.prompt = viewOption(prompt, "prompt", promptBytes);
  options.prompt_name = viewOption(promptName, "prompt_name", unused);
  options.normalize = normalize;
  const char *known;
  for (int64_t i = 0; !options.prompt && attune_embed_prompt(text(), i, nullptr, &known, &unused); ++i)
    promptBytes = std::max(promptBytes, unused);
  TaskUse task(*this, sizesOf(texts, promptBytes, batch, maxLength));
  const int64_t features = attune_embed_size(task.get()), count = static_cast<int64_t>(texts.size());
  FloatMatrix vectors(count, features);
  int64_t cut = 0, first = 0;
  do {
    const int64_t turn = std::min(kTurn, count - first);
    {
      nb::gil_scoped_release release;
      check(attune_embed_texts(task.get(), texts.data() + first, static_cast<size_t>(turn), &options, vectors.data() + first * features));
    }
    cut += attune_task_num_cut(task.get());
    first += turn;
    if (PyErr_CheckSignals() != 0)
      nb::raise_python_error();
    if (!progress.is_none())
      progress(first);
  } while (first < count);
  return nb::make_tuple(vectors.array(), cut);
}

nb::tuple TextTask::classify(nb::sequence inputs, int function, int64_t batch, int64_t maxLength) {
  TextInputs texts(inputs);
  TaskUse task(*this, sizesOf(texts, 0, batch, maxLength));
  const int64_t labels = attune_model_num_labels(model->get().get()), count = static_cast<int64_t>(texts.size());
  FloatMatrix scores(count, labels);
  int64_t cut = 0;
  for (int64_t first = 0; first < count; first += kTurn) {
    {
      nb::gil_scoped_release release;
      check(attune_classify_texts(task.get(), texts.data() + first, static_cast<size_t>(std::min(kTurn, count - first)),
                                  static_cast<attune_score_function>(function), scores.data() + first * labels));
    }
    cut += attune_task_num_cut(task.get());
    if (PyErr_CheckSignals() != 0)
      nb::raise_python_error();
  }
  return nb::make_tuple(scores.array(), cut);
}

/// Checks that |texts| has one element. Throws INVALID_ARGUMENT.
static void checkOne(const TextInputs &texts) {
  if (texts.size() != 1)
    throwInvalid("expected one text, got " + std::to_string(texts.size()));
}

nb::tuple TextTask::classifyTokens(nb::sequence inputs, int aggregation, bool keepOutside, int64_t maxLength) {
  TextInputs texts(inputs);
  checkOne(texts);
  TaskUse task(*this, sizesOf(texts, 0, 1, maxLength));
  const attune_span *spans;
  size_t count;
  {
    nb::gil_scoped_release release;
    check(attune_classify_tokens(task.get(), texts.data(), static_cast<attune_aggregation>(aggregation), keepOutside, &spans, &count));
  }
  nb::list list;
  for (size_t i = 0; i < count; ++i)
    list.append(nb::make_tuple(spans[i].label, spans[i].score, spans[i].begin, spans[i].end, spans[i].index,
                               toText(spans[i].word, spans[i].word_bytes)));
  return nb::make_tuple(list, attune_task_num_cut(task.get()));
}

/// Returns an upper bound of the number of masks in |text|, at least 1: the number of places with the string of the
/// mask token, which may be a part of another token.
static size_t countMasks(const attune_text *file, const attune_text_input &text) {
  size_t bytes, count = 0;
  const char *mask = attune_fill_mask(file, &bytes);
  if (!mask)
    return 1;
  std::string_view rest(text.text, text.bytes);
  for (size_t at = 0; (at = rest.find(std::string_view(mask, bytes), at)) != std::string_view::npos; at += bytes)
    ++count;
  return std::max(count, size_t(1));
}

nb::tuple TextTask::fill(nb::sequence inputs, int64_t topK, int64_t maxLength) {
  TextInputs texts(inputs);
  checkOne(texts);
  Sizes sizes = sizesOf(texts, 0, 1, maxLength);
  // The results have a copy of the text and the token for each candidate. No vocabulary has more than kMostCandidates
  // tokens; the call below fails if topK is above the size of the vocabulary.
  constexpr size_t kCandidateBytes = sizeof(attune_candidate) + 64;
  constexpr int64_t kMostCandidates = int64_t(1) << 20;
  if (topK > 0 && topK <= kMostCandidates)
    sizes.results =
        roundUp<size_t>(static_cast<size_t>(topK) * countMasks(text(), *texts.data()) * (kCandidateBytes + texts.bytes()), 65536);
  TaskUse task(*this, sizes);
  const attune_candidate *candidates;
  size_t count;
  {
    nb::gil_scoped_release release;
    check(attune_fill_text(task.get(), texts.data(), topK, &candidates, &count));
  }
  nb::list list;
  for (size_t i = 0; i < count; ++i)
    list.append(nb::make_tuple(candidates[i].mask, candidates[i].token, candidates[i].score,
                               toText(candidates[i].word, candidates[i].word_bytes),
                               toText(candidates[i].sequence, candidates[i].sequence_bytes)));
  return nb::make_tuple(list, attune_task_num_cut(task.get()));
}

/// Returns the default options with the fields that |named| sets, a dictionary of integers by the names of fields.
static attune_answer_options readAnswerOptions(nb::dict named) {
  struct Field {
    const char *name;
    int64_t attune_answer_options::*number;
    int32_t attune_answer_options::*flag;
  };
  static constexpr Field fields[] = {{"top_k", &attune_answer_options::top_k, nullptr},
                                     {"max_length", &attune_answer_options::max_length, nullptr},
                                     {"stride", &attune_answer_options::stride, nullptr},
                                     {"max_answer", &attune_answer_options::max_answer, nullptr},
                                     {"allow_none", nullptr, &attune_answer_options::allow_none},
                                     {"align_to_words", nullptr, &attune_answer_options::align_to_words}};
  attune_answer_options options;
  attune_answer_options_init(&options);
  for (auto [key, value] : named) {
    const char *name = nb::cast<const char *>(key);
    auto found = std::find_if(std::begin(fields), std::end(fields), [&](const Field &field) { return std::strcmp(field.name, name) == 0; });
    int64_t number = 0;
    if (found == std::end(fields) || !PyLong_Check(value.ptr()) || !nb::try_cast(value, number))
      throwInvalid(std::string("option '") + name + "' of an answer: expected a known name and an integer of 64 bits");
    if (found->flag)
      options.*found->flag = number != 0;
    else
      options.*found->number = number;
  }
  return options;
}

nb::list TextTask::answer(nb::sequence inputs, nb::dict named) {
  TextInputs texts(inputs);
  checkOne(texts);
  const attune_text_input &pair = *texts.data();
  if (!pair.pair)
    throwInvalid("expected a question and a context, got one text");
  attune_answer_options options = readAnswerOptions(named);
  TaskUse task(*this, {8, 8, 0, roundUp<size_t>(pair.bytes + pair.pair_bytes, 64), 0});
  options.max_length = std::min(options.max_length, attune_task_max_length(task.get()));
  const attune_answer *answers;
  size_t count;
  {
    nb::gil_scoped_release release;
    check(attune_answer_question(task.get(), pair.text, pair.bytes, pair.pair, pair.pair_bytes, &options, &answers, &count));
  }
  nb::list list;
  for (size_t i = 0; i < count; ++i)
    list.append(nb::make_tuple(answers[i].score, answers[i].begin, answers[i].end));
  return list;
}

int64_t TextTask::embeddingSize() {
  TaskUse task(*this, {1, 1, 0, 64, 0});
  return attune_embed_size(task.get());
}

int64_t TextTask::maxLength() {
  // A limit of tokens for texts of a megabyte is above those of all models and folders.
  Sized made = make({1, 1, 0, size_t(1) << 20, 0});
  int64_t length = attune_task_max_length(made.task);
  destroy(made);
  return length;
}

nb::dict TextTask::prompts() const {
  nb::dict result;
  size_t nameBytes, textBytes;
  const char *prompt;
  for (int64_t i = 0; const char *name = attune_embed_prompt(text(), i, &nameBytes, &prompt, &textBytes); ++i)
    result[toText(name, nameBytes)] = toText(prompt, textBytes);
  return result;
}

/// Returns the mask token of |task|'s tokenizer, None if the tokenizer has none.
static nb::object maskToken(const TextTask &task) {
  size_t bytes;
  const char *mask = attune_fill_mask(task.text(), &bytes);
  return mask ? nb::object(toText(mask, bytes)) : nb::none();
}

void python::bindTextTask(nb::module_ &module) {
  nb::class_<TextTask>(module, "TextTask")
      .def(nb::init<std::shared_ptr<CompiledModel>, std::shared_ptr<TextHandle>, int, int64_t>(), nb::arg("model"), nb::arg("text"),
           nb::arg("kind"), nb::arg("threads"))
      .def("embed", &TextTask::embed, nb::arg("texts"), nb::arg("batch"), nb::arg("max_length"), nb::arg("prompt_name").none(),
           nb::arg("prompt").none(), nb::arg("normalize"), nb::arg("progress").none())
      .def("classify", &TextTask::classify, nb::arg("texts"), nb::arg("function"), nb::arg("batch"), nb::arg("max_length"))
      .def("classify_tokens", &TextTask::classifyTokens, nb::arg("texts"), nb::arg("aggregation"), nb::arg("keep_outside"),
           nb::arg("max_length"))
      .def("fill", &TextTask::fill, nb::arg("texts"), nb::arg("top_k"), nb::arg("max_length"))
      .def("answer", &TextTask::answer, nb::arg("texts"), nb::arg("options"))
      .def("embedding_size", &TextTask::embeddingSize)
      .def("max_length", &TextTask::maxLength)
      .def("prompts", &TextTask::prompts)
      .def("similarity", [](const TextTask &self) { return static_cast<int>(attune_embed_similarity(self.text())); })
      .def("mask_token", &maskToken)
      .def("clear", &TextTask::clear);
  module.def(
      "find_task",
      [](const CompiledModel &model) {
        attune_task_kind kind;
        check(attune_task_find_kind(model.get().get(), &kind));
        return static_cast<int>(kind);
      },
      nb::arg("model"));
}
