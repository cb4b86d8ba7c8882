/*===- EncodeRecords.c - Encodes many texts for comparisons -----------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * attune-test-encode OUT.text [NAME=NUMBER…] < RECORDS: encodes the text or pair of each record, decodes the ids, and
 * prints a line of JSON for each record. A record is the size of the text in bytes (u32), the size of the second text
 * (u32, 0xFFFFFFFF for none) and both texts. Names are those of attune_encode_options, and:
 *
 *   ids_only=1        encodes without offsets
 *   skip_special=1    decodes without special tokens
 *   stream=1          decodes by a stream, id by id
 *   ids=1             texts are lists of ids between spaces; only decodes them
 *   repeat=N          encodes the whole input N times as one text; prints 10^6 bytes per second and the number of
 *                     tokens each time instead
 *   max_call_bytes=N  attune_tokenizer_options::max_call_bytes, at least the size of the input
 *===-----------------------------------------------------------------------===*/
#include "attune/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void fail(const char *what) {
  fprintf(stderr, "attune-test-encode: error: %s\n", what);
  exit(1);
}

static void printArray(const char *name, const int32_t *values, int64_t count) {
  printf("\"%s\":[", name);
  for (int64_t i = 0; i < count; ++i)
    printf(i ? ",%d" : "%d", values[i]);
  printf("]");
}

static void printText(const char *text, size_t bytes) {
  putchar('"');
  for (size_t i = 0; i < bytes; ++i) {
    unsigned char c = (unsigned char)text[i];
    if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F)
      printf("\\u%04x", c);
    else
      putchar(c);
  }
  putchar('"');
}

static size_t readAll(char **out) {
  size_t size = 0, capacity = 1 << 20;
  char *data = malloc(capacity);
  for (size_t got; (got = fread(data + size, 1, capacity - size, stdin)) > 0;) {
    size += got;
    if (size == capacity)
      data = realloc(data, capacity *= 2);
  }
  *out = data;
  return size;
}

static void measure(attune_tokenizer *tokenizer, const attune_encode_options *options, const char *text, size_t bytes, int64_t repeat) {
  attune_text_input input = {text, bytes, NULL, 0};
  for (int64_t i = 0; i < repeat; ++i) {
    const attune_encoding *encodings;
    size_t count;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (attune_tokenizer_encode(tokenizer, &input, 1, options, &encodings, &count) != ATTUNE_OK)
      fail(attune_last_error());
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("{\"mb_per_s\":%.2f,\"tokens\":%lld}\n", (double)bytes / seconds / 1e6, (long long)encodings[0].length);
  }
}

/* Prints the text that a decode stream gives for |ids|, pushed one by one. */
static void printStream(const attune_text *text, const int32_t *ids, int64_t length, int skipSpecial) {
  attune_decode_stream *stream;
  if (attune_decode_stream_create(text, skipSpecial, &stream) != ATTUNE_OK)
    fail(attune_last_error());
  char *all = NULL;
  size_t size = 0;
  for (int64_t i = 0; i <= length; ++i) {
    const char *part;
    size_t bytes;
    attune_status status =
        i < length ? attune_decode_stream_push(stream, ids[i], &part, &bytes) : attune_decode_stream_finish(stream, &part, &bytes);
    if (status != ATTUNE_OK)
      fail(attune_last_error());
    all = realloc(all, size + bytes + 1);
    memcpy(all + size, part, bytes);
    size += bytes;
  }
  printText(all, size);
  free(all);
  attune_decode_stream_destroy(stream);
}

static void printDecoded(attune_tokenizer *tokenizer, const attune_text *text, const int32_t *ids, int64_t length, int skipSpecial,
                         int streams) {
  const char *decoded;
  size_t bytes;
  if (streams)
    printStream(text, ids, length, skipSpecial);
  else if (attune_tokenizer_decode(tokenizer, ids, (size_t)length, skipSpecial, &decoded, &bytes) != ATTUNE_OK)
    fail(attune_last_error());
  else
    printText(decoded, bytes);
  printf("}\n");
}

static void decodeIds(attune_tokenizer *tokenizer, const attune_text *text, const attune_text_input *input, int skipSpecial, int streams) {
  char *list = calloc(input->bytes + 1, 1), *at = list, *end;
  int32_t *ids = malloc(sizeof(int32_t) * (input->bytes + 1));
  int64_t length = 0;
  memcpy(list, input->text, input->bytes);
  for (long id = strtol(at, &end, 10); end != at; id = strtol(at, &end, 10)) {
    ids[length++] = (int32_t)id;
    at = end;
  }
  printf("{\"decoded\":");
  printDecoded(tokenizer, text, ids, length, skipSpecial, streams);
  free(ids);
  free(list);
}

int main(int argc, char **argv) {
  attune_text *text;
  if (argc < 2)
    fail("expected OUT.text");
  if (attune_text_open(argv[1], &text) != ATTUNE_OK)
    fail(attune_last_error());
  attune_tokenizer_options tokenizerOptions;
  attune_tokenizer_options_init(&tokenizerOptions);
  attune_encode_options options;
  attune_encode_options_init(text, &options);
  options.want_offsets = 1;
  int64_t repeat = 0, skipSpecial = 0, streams = 0, areIds = 0;
  for (int i = 2; i < argc; ++i) {
    char *equals = strchr(argv[i], '=');
    if (!equals)
      fail("expected NAME=NUMBER");
    long long value = atoll(equals + 1);
    *equals = 0;
    const char *name = argv[i];
#define OPTION(field)                                                                                                                      \
  if (!strcmp(name, #field)) {                                                                                                             \
    options.field = value;                                                                                                                 \
    continue;                                                                                                                              \
  }
    OPTION(add_special_tokens)
    OPTION(split_special_tokens) OPTION(truncation) OPTION(max_length) OPTION(stride) OPTION(want_overflow) OPTION(truncate_left)
        OPTION(pad_to_longest) OPTION(pad_left) OPTION(pad_length) OPTION(pad_to_multiple_of) OPTION(pad_id)
            OPTION(pad_type_id) if (!strcmp(name, "ids_only")) options.want_offsets = !value;
    else if (!strcmp(name, "skip_special")) skipSpecial = value;
    else if (!strcmp(name, "stream")) streams = value;
    else if (!strcmp(name, "ids")) areIds = value;
    else if (!strcmp(name, "repeat")) repeat = value;
    else if (!strcmp(name, "max_call_bytes")) tokenizerOptions.max_call_bytes = (size_t)value;
    else fail("an unknown name");
  }
  char *data;
  size_t size = readAll(&data);
  if (tokenizerOptions.max_call_bytes < size)
    tokenizerOptions.max_call_bytes = size + 16;
  attune_tokenizer *tokenizer;
  if (attune_tokenizer_create(text, &tokenizerOptions, &tokenizer) != ATTUNE_OK)
    fail(attune_last_error());
  if (repeat > 0)
    measure(tokenizer, &options, data, size, repeat);
  for (size_t at = 0; !repeat && at + 8 <= size;) {
    uint32_t sizes[2];
    memcpy(sizes, data + at, sizeof(sizes));
    at += sizeof(sizes);
    attune_text_input input = {data + at, sizes[0], NULL, 0};
    at += sizes[0];
    if (sizes[1] != UINT32_MAX) {
      input.pair = data + at;
      input.pair_bytes = sizes[1];
      at += sizes[1];
    }
    if (at > size)
      fail("a truncated record");
    if (areIds) {
      decodeIds(tokenizer, text, &input, (int)skipSpecial, (int)streams);
      continue;
    }
    const attune_encoding *encodings;
    size_t count;
    if (attune_tokenizer_encode(tokenizer, &input, 1, &options, &encodings, &count) != ATTUNE_OK) {
      printf("{\"error\":");
      printText(attune_last_error(), strlen(attune_last_error()));
      printf("}\n");
      continue;
    }
    printf("{\"encodings\":[");
    for (size_t i = 0; i < count; ++i) {
      const attune_encoding *e = &encodings[i];
      printf(i ? ",{" : "{");
      printArray("ids", e->ids, e->length);
      printf(",");
      printArray("type_ids", e->type_ids, e->length);
      printf(",");
      printArray("attention_mask", e->attention_mask, e->length);
      printf(",");
      printArray("special_tokens_mask", e->special_tokens_mask, e->length);
      if (e->offsets) {
        printf(",");
        printArray("offsets", e->offsets, e->length * 2);
        printf(",");
        printArray("word_ids", e->word_ids, e->length);
      }
      printf("}");
    }
    int64_t length = encodings[0].length;
    int32_t *ids = malloc(sizeof(int32_t) * (size_t)(length + 1));
    memcpy(ids, encodings[0].ids, sizeof(int32_t) * (size_t)length);
    printf("],\"decoded\":");
    printDecoded(tokenizer, text, ids, length, (int)skipSpecial, (int)streams);
    free(ids);
  }
  attune_tokenizer_destroy(tokenizer);
  attune_text_close(text);
  free(data);
  return 0;
}
