/*===- embed.c - A server of sentence embeddings -------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * embed [SESSIONS [THREADS [BATCH]]] < sentences > embeddings
 *
 * Reads one sentence per line, as token ids; writes one line per sentence, in the same order: the mean of the last
 * hidden states of the sentence's tokens, scaled to length 1. A line with a mistake is answered by "error: ..." in its
 * place, and the server continues.
 *
 * Each of the SESSIONS sessions has a thread that takes up to BATCH of the sentences that wait and runs them as one
 * batch, padded to the longest sentence. So a busy server makes large batches, and an idle one answers at once. The
 * model is compiled with --padding=skip, so padding of short sentences is not computed. The other sentences of a batch
 * do not change an embedding, not even in the last bit. THREADS is the number of workers of a session, 0 for all CPUs.
 *===-----------------------------------------------------------------------===*/
#include "attune/runtime.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const attune_model_desc attune_model_embed;

enum { WAITING = 256, LINE = 1 << 16 };

/* A sentence between its arrival and its answer. */
typedef struct request {
  int64_t *ids, length;
  float *embedding;
  char error[160]; /* "" if there is none */
  int done;
} request;

/* Sentences are numbered in the order they came; sentence i is in ring[i % WAITING]. |arrived|, |taken| and |printed|
   are the numbers of sentences that were read, that sessions have taken, and whose answers were printed:
   printed <= taken <= arrived <= printed + WAITING. |lock| guards these numbers, |end_of_input| and request::done; the
   other members of a request belong to the thread that reads, runs or prints it. */
static request ring[WAITING];
static long arrived, taken, printed;
static int end_of_input;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Sizes, from the model and the arguments. */
static int64_t hidden_size, vocabulary, longest = 512, batch_size = 8, threads = 1, sessions = 2;
static attune_model *model;

static void must(attune_status status) {
  if (status == ATTUNE_OK)
    return;
  fprintf(stderr, "embed: error: %s\n", attune_last_error());
  exit(1);
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) {
    fprintf(stderr, "embed: error: no memory\n");
    exit(1);
  }
  return memory;
}

/* Writes the mean of the |length| rows of |hidden|, scaled to Euclidean length 1, to |out|. */
static void pool(const float *hidden, int64_t length, float *out) {
  double norm = 0;
  for (int64_t j = 0; j < hidden_size; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < length; ++i)
      sum += hidden[i * hidden_size + j];
    out[j] = (float)(sum / (double)length);
    norm += (double)out[j] * out[j];
  }
  for (int64_t j = 0; j < hidden_size; ++j)
    out[j] = (float)(out[j] / sqrt(norm > 0 ? norm : 1));
}

/* Runs sentences |first| to |first| + |count| - 1 as one batch and writes their embeddings. |ids|, |mask| and |hidden|
   are buffers that are large enough for any batch. */
static void run_batch(attune_session *session, long first, int64_t count, int64_t *ids, int64_t *mask, float *hidden) {
  int64_t length = 1;
  for (int64_t b = 0; b < count; ++b)
    if (ring[(first + b) % WAITING].length > length)
      length = ring[(first + b) % WAITING].length;
  for (int64_t b = 0; b < count; ++b)
    for (int64_t i = 0; i < length; ++i) {
      const request *r = &ring[(first + b) % WAITING];
      /* A line with an error is one token in the batch; its result is not read. */
      mask[b * length + i] = i < (r->length ? r->length : 1);
      ids[b * length + i] = i < r->length ? r->ids[i] : 0;
    }
  int64_t tokens_shape[] = {count, length}, hidden_shape[] = {count, length, hidden_size};
  size_t bytes = (size_t)(count * length) * sizeof(int64_t);
  attune_tensor inputs[] = {{"input_ids", ATTUNE_I64, 2, tokens_shape, ids, bytes},
                            {"attention_mask", ATTUNE_I64, 2, tokens_shape, mask, bytes}};
  attune_tensor output = {"last_hidden_state", ATTUNE_F32, 3, hidden_shape, hidden, (size_t)(count * length * hidden_size) * sizeof(float)};
  must(attune_session_run(session, NULL, inputs, 2, &output, 1));
  for (int64_t b = 0; b < count; ++b) {
    request *r = &ring[(first + b) % WAITING];
    if (r->length)
      pool(hidden + b * length * hidden_size, r->length, r->embedding);
  }
}

/* Runs sentences on a session of its own until the input has ended and all sentences are taken. A session serves one
   call at a time, so each session has a thread of its own. */
static void *serve(void *unused) {
  attune_dim_limit limits[] = {{"batch", batch_size}, {"length", longest}};
  attune_session_options options;
  attune_session_options_init(&options);
  options.limits = limits;
  options.num_limits = 2;
  options.num_threads = threads;
  attune_session *session;
  must(attune_session_create(model, &options, &session));
  size_t tokens = (size_t)(batch_size * longest);
  int64_t *ids = allocate(tokens, sizeof *ids), *mask = allocate(tokens, sizeof *mask);
  float *hidden = allocate(tokens * (size_t)hidden_size, sizeof *hidden);

  pthread_mutex_lock(&lock);
  for (;;) {
    while (taken == arrived && !end_of_input)
      pthread_cond_wait(&changed, &lock);
    if (taken == arrived)
      break;
    long first = taken;
    int64_t count = arrived - taken < batch_size ? arrived - taken : batch_size;
    taken += count;
    pthread_mutex_unlock(&lock);
    run_batch(session, first, count, ids, mask, hidden);
    pthread_mutex_lock(&lock);
    for (long i = first; i < first + count; ++i)
      ring[i % WAITING].done = 1;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  attune_session_destroy(session);
  free(ids);
  free(mask);
  free(hidden);
  return unused;
}

/* Prints answers in the order of the sentences until the input has ended and all are printed. */
static void *answer(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    request *r = &ring[printed % WAITING];
    while (!r->done && !(end_of_input && printed == arrived))
      pthread_cond_wait(&changed, &lock);
    int last = !r->done;
    pthread_mutex_unlock(&lock);
    if (last)
      break;
    for (int64_t j = 0; !*r->error && j < hidden_size; ++j)
      printf("%s%.9g", j ? " " : "", r->embedding[j]);
    printf("%s\n", r->error);
    fflush(stdout);
    pthread_mutex_lock(&lock);
    r->done = 0;
    ++printed; /* frees its place in the ring */
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

/* Reads the ids of |line| into |r|, or sets r->error and leaves |r| without ids. */
static void read_sentence(request *r, const char *line) {
  r->length = 0;
  *r->error = 0;
  for (char *next;; line = next) {
    errno = 0;
    long long id = strtoll(line, &next, 10);
    if (next == line)
      break;
    if (r->length == longest)
      snprintf(r->error, sizeof r->error, "error: more than %lld tokens", (long long)longest);
    else if (errno || id < 0 || (vocabulary && id >= vocabulary))
      snprintf(r->error, sizeof r->error, "error: id %lld, expected 0 to %lld", id, (long long)vocabulary - 1);
    else
      r->ids[r->length++] = id;
    if (*r->error)
      break;
  }
  line += strspn(line, " \t");
  if (!*r->error && *line)
    snprintf(r->error, sizeof r->error, "error: expected ids, got '%.40s'", line);
  else if (!*r->error && !r->length)
    snprintf(r->error, sizeof r->error, "error: no tokens");
  if (*r->error)
    r->length = 0;
}

/* Reads a line without its newline to |line|, which has |size| bytes; skips the rest of a line that is too long.
   Returns 0 at the end of the input, else 1. */
static int read_line(char *line, int size) {
  if (!fgets(line, size, stdin))
    return 0;
  size_t length = strcspn(line, "\r\n");
  for (int c = line[length] ? '\n' : ' '; c != '\n' && c != EOF;)
    c = getchar();
  line[length] = 0;
  return 1;
}

int main(int argc, char **argv) {
  sessions = argc > 1 ? atoll(argv[1]) : sessions;
  threads = argc > 2 ? atoll(argv[2]) : threads;
  batch_size = argc > 3 ? atoll(argv[3]) : batch_size;
  if (sessions < 1 || sessions > 64 || batch_size < 1 || batch_size > WAITING) {
    fprintf(stderr, "embed: error: expected 1 to 64 sessions and batches of 1 to %d\n", WAITING);
    return 1;
  }
  must(attune_model_open(&attune_model_embed, NULL, &model));
  const attune_entry_desc *entry = attune_model_entry(model, NULL);
  hidden_size = entry->outputs[0].shape[2];
  vocabulary = entry->inputs[0].max_value;
  for (uint32_t i = 0; i < entry->num_dims; ++i)
    if (strcmp(entry->dims[i].name, "length") == 0 && entry->dims[i].max > 0) /* 0: the model has no limit */
      longest = entry->dims[i].max;
  for (int i = 0; i < WAITING; ++i) {
    ring[i].ids = allocate((size_t)longest, sizeof(int64_t));
    ring[i].embedding = allocate((size_t)hidden_size, sizeof(float));
  }

  pthread_t servers[64], printer;
  if (pthread_create(&printer, NULL, answer, NULL))
    return 1;
  for (int64_t i = 0; i < sessions; ++i)
    if (pthread_create(&servers[i], NULL, serve, NULL))
      return 1;
  static char line[LINE];
  while (read_line(line, sizeof line)) {
    pthread_mutex_lock(&lock);
    request *r = &ring[arrived % WAITING];
    while (arrived - printed == WAITING)
      pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    read_sentence(r, line);
    pthread_mutex_lock(&lock);
    ++arrived;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&lock);
  end_of_input = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  for (int64_t i = 0; i < sessions; ++i)
    pthread_join(servers[i], NULL);
  pthread_join(printer, NULL);
  for (int i = 0; i < WAITING; ++i) {
    free(ring[i].ids);
    free(ring[i].embedding);
  }
  attune_model_close(model);
  return 0;
}
