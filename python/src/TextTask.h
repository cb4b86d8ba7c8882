//===- TextTask.h - Tasks on texts for Python -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binds attune/tasks.h. A task of the C API serves one call at a time with the memory that it was made with, so this
// class keeps a few of them by their sizes and makes another for a larger call or for a second thread.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_TEXTTASK_H
#define ATTUNE_PYTHON_TEXTTASK_H

#include "attune/tasks.h"
#include "CompiledModel.h"
#include "TextHandle.h"
#include "TextInputs.h"

namespace attune::python {

/// A task in use, which returns to its TextTask.
class TaskUse;

/// A model with its tokenizer for one kind of work on texts. All members are called with the GIL, which guards them;
/// the model runs without it.
class TextTask {
public:
  /// Fails with INVALID_ARGUMENT for a model that does something else than |kind|. |threads| = 0: as many as the affinity
  /// mask has CPUs.
  TextTask(std::shared_ptr<CompiledModel> model, std::shared_ptr<TextHandle> text, int kind, int64_t threads);
  TextTask(const TextTask &) = delete;
  TextTask &operator=(const TextTask &) = delete;
  ~TextTask() { clear(); }

  /// Returns embeddings F32 [texts, features] and the number of cut texts. |promptName| and |prompt| are texts or None, as
  /// in attune_embed_options. |progress|, a function of the number of finished texts, or None, is called after each
  /// turn.
  nb::tuple embed(nb::sequence texts, int64_t batch, int64_t maxLength, nb::handle promptName, nb::handle prompt, bool normalize,
                  nb::handle progress);
  /// Returns the scores F32 [texts, labels] of texts or pairs and the number of cut texts.
  nb::tuple classify(nb::sequence texts, int function, int64_t batch, int64_t maxLength);
  /// Returns the spans of the one text in |texts|, (label, score, begin, end, index, word), and the number of cut texts.
  nb::tuple classifyTokens(nb::sequence texts, int aggregation, bool keepOutside, int64_t maxLength);
  /// Returns the candidates of the one text in |texts|, (mask, token, score, word, sequence), and the number of cut texts.
  nb::tuple fill(nb::sequence texts, int64_t topK, int64_t maxLength);
  /// Returns the answers (score, begin, end) to the one pair of question and context in |texts|; an answer is the
  /// characters (code points) begin … end - 1 of the context. |options| are fields of attune_answer_options by name.
  nb::list answer(nb::sequence texts, nb::dict options);

  /// Returns the number of features of an embedding.
  int64_t embeddingSize();
  /// Returns the most tokens of a text, special ones included, that folder and model allow.
  int64_t maxLength();
  /// Returns the prompts of the folder as a dictionary of names and texts.
  nb::dict prompts() const;
  /// Destroys the idle tasks.
  void clear();

  const attune_text *text() const { return owner->get(); }

private:
  friend class TaskUse;
  /// The sizes of a call: texts computed at once, texts sorted together, the given limit of tokens (0 = none), bytes of the
  /// longest text with its prompt, and bytes of its results.
  struct Sizes {
    int64_t batch, texts, maxLength;
    size_t longest, results;
  };
  /// A task and the sizes that it was made for, by the process |process|.
  struct Sized {
    Sizes sizes;
    attune_task *task;
    int process;
  };
  /// The most idle tasks that are kept.
  static constexpr size_t kMaxIdle = 4;

  Sized make(const Sizes &sizes);
  void destroy(const Sized &one);
  /// Returns the sizes of a call with |texts|.
  Sizes sizesOf(const TextInputs &texts, size_t prompt, int64_t batch, int64_t maxLength) const;

  std::shared_ptr<CompiledModel> model;
  std::shared_ptr<TextHandle> owner;
  attune_task_kind kind;
  int64_t threads;
  std::vector<Sized> idle; ///< the last one was used last
};

/// Adds the class TextTask to |module|.
void bindTextTask(nb::module_ &module);

} // namespace attune::python

#endif // ATTUNE_PYTHON_TEXTTASK_H
