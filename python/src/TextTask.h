//===- TextTask.h - Tasks on texts for Python -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binds attune/tasks.h. A task of the C API serves one call at a time with the memory that it was made with. So the
// class TextTask keeps a few tasks with their sizes, and makes another one for a larger call or for a second thread.
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
/// they release the GIL while the model runs.
class TextTask {
public:
  /// |kind| is an attune_task_kind. |threads| = 0: as many as the affinity mask has CPUs. Fails with INVALID_ARGUMENT
  /// for a model that does something else than |kind|.
  TextTask(std::shared_ptr<CompiledModel> model, std::shared_ptr<TextHandle> text, int kind, int64_t threads);
  TextTask(const TextTask &) = delete;
  TextTask &operator=(const TextTask &) = delete;
  ~TextTask() { clear(); }

  // In these functions |batch| is the most texts that the model computes at once, and |maxLength| the most tokens of a
  // text, 0 for as many as folder and model allow. Texts are strings, or tuples of a text and its pair. Results are
  // Python tuples.

  /// Returns embeddings, a NumPy array of F32 [texts, features], and the number of cut texts. |promptName| and |prompt|
  /// are strings or None, as in attune_embed_options. |progress|, a function of the number of finished texts, or None,
  /// is called after each turn of up to 1024 texts.
  nb::tuple embed(nb::sequence texts, int64_t batch, int64_t maxLength, nb::handle promptName, nb::handle prompt, bool normalize,
                  nb::handle progress);
  /// Returns the scores of texts or pairs, a NumPy array of F32 [texts, labels], and the number of cut texts.
  /// |function| is an attune_score_function.
  nb::tuple classify(nb::sequence texts, int function, int64_t batch, int64_t maxLength);
  /// Returns a list of the spans of the one text in |texts|, (label, score, begin, end, index, word) as in attune_span,
  /// and the number of cut texts. |aggregation| is an attune_aggregation.
  nb::tuple classifyTokens(nb::sequence texts, int aggregation, bool keepOutside, int64_t maxLength);
  /// Returns a list of the |topK| best candidates for each mask of the one text in |texts|, (mask, token, score, word,
  /// sequence) as in attune_candidate, and the number of cut texts.
  nb::tuple fill(nb::sequence texts, int64_t topK, int64_t maxLength);
  /// Returns a list of the answers (score, begin, end) to the one pair of question and context in |texts|; an answer is
  /// the characters (code points) [begin, end) of the context. |options| are fields of attune_answer_options by name.
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
  /// The sizes of a call: texts computed at once, texts sorted together, the caller's limit of tokens of a text (0 =
  /// none), bytes of the longest text with its pair and prompt, and bytes of the results of fill.
  struct Sizes {
    int64_t batch, texts, maxLength;
    size_t longest, results;
  };
  /// A task, the sizes that it was made for, and the id of the process that made it.
  struct Sized {
    Sizes sizes;
    attune_task *task;
    int process;
  };
  /// The most idle tasks that are kept.
  static constexpr size_t kMaxIdle = 4;

  Sized make(const Sizes &sizes);
  /// Destroys the task, or abandons it if another process made it.
  void destroy(const Sized &one);
  /// Returns the sizes of a call with |texts|, each after a prompt of |prompt| bytes. Throws INVALID_ARGUMENT if
  /// |batch| is below 1 or |maxLength| below 0.
  Sizes sizesOf(const TextInputs &texts, size_t prompt, int64_t batch, int64_t maxLength) const;

  std::shared_ptr<CompiledModel> model;
  std::shared_ptr<TextHandle> owner;
  attune_task_kind kind;
  int64_t threads;
  std::vector<Sized> idle; ///< the idle tasks in the order of their last use, the most recent one at the end
};

/// Adds the class TextTask to |module|.
void bindTextTask(nb::module_ &module);

} // namespace attune::python

#endif // ATTUNE_PYTHON_TEXTTASK_H
