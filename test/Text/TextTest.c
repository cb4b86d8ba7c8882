/*===- TextTest.c - Files, options, limits, streams -------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * attune-test-text OUT.text: opens a .text file in wrong ways, encodes with wrong options, with too little memory and
 * with damaged tables, and compares decode streams with decoding of all ids at once. The C compiler links the program,
 * which shows that the library needs no C++ library.
 *===-----------------------------------------------------------------------===*/
#include "attune/text.h"
#include "Check.h"

#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned char *fileBytes;
static size_t fileSize;

static void readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file);
  fseek(file, 0, SEEK_END);
  fileSize = (size_t)ftell(file);
  rewind(file);
  fileBytes = aligned_alloc(64, (fileSize + 63) / 64 * 64);
  CHECK(fread(fileBytes, 1, fileSize, file) == fileSize);
  fclose(file);
}

static attune_text_input makeInput(const char *text) { return (attune_text_input){text, strlen(text), NULL, 0}; }

/* A linear congruential generator with a fixed first state, so that failures repeat. */
static uint32_t randomState = 1;
static uint32_t nextRandom(void) {
  randomState = randomState * 1664525u + 1013904223u;
  return randomState >> 8;
}

/* Returns the offset of the padding after the first section that needs padding, 0 if there is none. */
static size_t findPadding(void) {
  uint32_t sections;
  memcpy(&sections, fileBytes + 12, sizeof(sections));
  for (uint32_t i = 0; i < sections; ++i) {
    uint64_t extent[2];
    memcpy(extent, fileBytes + 64 + 32 * i + 8, sizeof(extent));
    if (extent[1] % 64)
      return (size_t)(extent[0] + extent[1]);
  }
  return 0;
}

static void testOpen(const char *path) {
  attune_text *text = (attune_text *)&text;
  CHECK_FAILS(attune_text_open("/nonexistent/x.text", &text), ATTUNE_NOT_FOUND, "cannot open '/nonexistent/x.text'");
  CHECK(!text);
  CHECK_FAILS(attune_text_open(NULL, &text), ATTUNE_INVALID_ARGUMENT, "path is null");
  CHECK_FAILS(attune_text_open(path, NULL), ATTUNE_INVALID_ARGUMENT, "out_text is null");
  CHECK_FAILS(attune_text_open("/dev/null", &text), ATTUNE_CORRUPT, "is not a .text file");
  /* A pipe without a writer does not block. */
  char pipePath[4096];
  snprintf(pipePath, sizeof(pipePath), "%s.pipe", path);
  unlink(pipePath);
  CHECK(mkfifo(pipePath, 0600) == 0);
  alarm(60);
  CHECK_FAILS(attune_text_open(pipePath, &text), ATTUNE_CORRUPT, "is not a .text file");
  alarm(0);
  unlink(pipePath);
  CHECK_FAILS(attune_text_open_memory(fileBytes, 10, &text), ATTUNE_CORRUPT, "10 bytes, at least 64 expected");
  CHECK_FAILS(attune_text_open_memory(fileBytes, fileSize - 64, &text), ATTUNE_CORRUPT, "it is truncated");
  CHECK_FAILS(attune_text_open_memory(fileBytes + 1, fileSize - 1, &text), ATTUNE_INVALID_ARGUMENT, "at a multiple of 64");
  unsigned char kept = fileBytes[0];
  fileBytes[0] ^= 1;
  CHECK_FAILS(attune_text_open_memory(fileBytes, fileSize, &text), ATTUNE_CORRUPT, "magic is");
  fileBytes[0] = kept;
  kept = fileBytes[8];
  fileBytes[8] = 99;
  CHECK_FAILS(attune_text_open_memory(fileBytes, fileSize, &text), ATTUNE_INCOMPATIBLE,
              "has version 99.0 of the format, this runtime reads 2");
  fileBytes[8] = kept;
  fileBytes[70] ^= 1;
  CHECK_FAILS(attune_text_open_memory(fileBytes, fileSize, &text), ATTUNE_CORRUPT, "a header with checksum");
  fileBytes[70] ^= 1;
  CHECK_OK(attune_text_open_memory(fileBytes, fileSize, &text));
  CHECK_OK(attune_text_verify(text));
  attune_text_close(text);
  /* A flipped bit is found wherever it is: attune_text_open_memory checks the header and the section table,
   * attune_text_verify the sections and the padding between them. */
  for (size_t i = 0; i < 500; ++i) {
    size_t place = fileSize / 500 * i;
    fileBytes[place] ^= 1 << i % 8;
    if (attune_text_open_memory(fileBytes, fileSize, &text) == ATTUNE_OK) {
      CHECK(attune_text_verify(text) == ATTUNE_CORRUPT);
      CHECK(strstr(attune_last_error(), "has checksum") || strstr(attune_last_error(), "between sections"));
      attune_text_close(text);
    }
    fileBytes[place] ^= 1 << i % 8;
  }
  size_t padding = findPadding();
  CHECK(padding);
  fileBytes[padding] ^= 4;
  CHECK_OK(attune_text_open_memory(fileBytes, fileSize, &text));
  CHECK_FAILS(attune_text_verify(text), ATTUNE_CORRUPT, "between sections, is 4, expected 0");
  fileBytes[padding] ^= 4;
  attune_text_close(text);
  attune_text_close(NULL);
}

static void testTokens(const attune_text *text) {
  int64_t size = attune_text_vocab_size(text);
  CHECK(size > 10);
  for (int64_t id = 0; id < size; ++id) {
    size_t bytes;
    const char *token = attune_text_token(text, id, &bytes);
    if (token)
      CHECK(attune_text_token_id(text, token, bytes) == id);
  }
  CHECK(!attune_text_token(text, size, NULL) && !attune_text_token(text, -1, NULL));
  CHECK(attune_text_token_id(text, "no such token", 13) == -1);
  CHECK(!attune_text_is_special(text, -1) && !attune_text_is_special(text, size));
}

static void testOptions(const attune_text *text) {
  attune_tokenizer *tokenizer;
  attune_tokenizer_options options;
  attune_tokenizer_options_init(&options);
  options.max_call_bytes = 100;
  options.struct_bytes = 1;
  CHECK_FAILS(attune_tokenizer_create(text, &options, &tokenizer), ATTUNE_INVALID_ARGUMENT, "call attune_tokenizer_options_init");
  options.struct_bytes = sizeof(options);
  size_t needed = attune_tokenizer_memory_bytes(text, &options);
  options.memory = aligned_alloc(64, (needed + 63) / 64 * 64);
  options.memory_bytes = needed - 1;
  CHECK_FAILS(attune_tokenizer_create(text, &options, &tokenizer), ATTUNE_INVALID_ARGUMENT, "bytes at a multiple of 64");
  options.memory_bytes = needed;
  memset(options.memory, 0xAB, needed);
  CHECK_OK(attune_tokenizer_create(text, &options, &tokenizer));

  const attune_encoding *encodings;
  size_t count;
  attune_text_input input = makeInput("Hello world, hello");
  CHECK_OK(attune_tokenizer_encode(tokenizer, &input, 1, NULL, &encodings, &count));
  CHECK(count == 1 && encodings[0].length > 1 && encodings[0].input == 0 && !encodings[0].offsets);
  attune_text_input invalid = {"ab\xC3(", 4, NULL, 0};
  CHECK_FAILS(attune_tokenizer_encode(tokenizer, &invalid, 1, NULL, &encodings, &count), ATTUNE_INVALID_ARGUMENT, "byte 0xC3 at offset 2");
  CHECK(!encodings && !count);
  char longText[101];
  memset(longText, 'a', sizeof(longText));
  attune_text_input tooLong = {longText, sizeof(longText), NULL, 0};
  CHECK_FAILS(attune_tokenizer_encode(tokenizer, &tooLong, 1, NULL, &encodings, &count), ATTUNE_LIMIT_EXCEEDED, "more than 100 bytes");
  attune_text_input null = {NULL, 3, NULL, 0};
  CHECK_FAILS(attune_tokenizer_encode(tokenizer, &null, 1, NULL, &encodings, &count), ATTUNE_INVALID_ARGUMENT, "the text is null");

  attune_encode_options encode;
  attune_encode_options_init(text, &encode);
  encode.max_length = 1;
  encode.add_special_tokens = 0;
  encode.truncation = 9;
  CHECK_FAILS(attune_tokenizer_encode(tokenizer, &input, 1, &encode, &encodings, &count), ATTUNE_INVALID_ARGUMENT,
              "truncation: expected 0 to 2, got 9");
  encode.truncation = ATTUNE_TRUNCATE_ONLY_SECOND;
  CHECK_FAILS(attune_tokenizer_encode(tokenizer, &input, 1, &encode, &encodings, &count), ATTUNE_INVALID_ARGUMENT,
              "expected a second text");
  encode.truncation = ATTUNE_TRUNCATE_LONGEST_FIRST;
  encode.stride = 1;
  CHECK_FAILS(attune_tokenizer_encode(tokenizer, &input, 1, &encode, &encodings, &count), ATTUNE_INVALID_ARGUMENT,
              "stride: expected less than the 1 tokens");
  encode.max_length = -2;
  CHECK_FAILS(attune_tokenizer_encode(tokenizer, &input, 1, &encode, &encodings, &count), ATTUNE_INVALID_ARGUMENT,
              "max_length: expected -1 or more, got -2");

  /* A batch, padded to a multiple of 8, in windows of two tokens. */
  attune_encode_options_init(text, &encode);
  encode.add_special_tokens = 0;
  encode.max_length = 2;
  encode.want_overflow = 1;
  encode.pad_to_longest = 1;
  encode.pad_to_multiple_of = 8;
  encode.pad_id = 3;
  attune_text_input batch[2] = {makeInput("a"), makeInput("hello hello hello")};
  CHECK_OK(attune_tokenizer_encode(tokenizer, batch, 2, &encode, &encodings, &count));
  CHECK(count >= 3 && encodings[0].input == 0 && encodings[1].input == 1 && encodings[count - 1].input == 1);
  for (size_t i = 0; i < count; ++i)
    CHECK(encodings[i].length == 8 && encodings[i].ids[7] == 3 && encodings[i].attention_mask[7] == 0 &&
          encodings[i].special_tokens_mask[7] == 1);
  CHECK_OK(attune_tokenizer_encode(tokenizer, NULL, 0, NULL, &encodings, &count));
  CHECK(count == 0);
  attune_tokenizer_destroy(tokenizer);
  free(options.memory);
}

/* Checks that memory of the size that attune_tokenizer_memory_bytes returns is enough for max_call_bytes inputs, each a
 * text of one byte or a pair of empty texts. */
static void testManyInputs(const attune_text *text) {
  enum { most = 1 << 15 };
  attune_tokenizer *tokenizer;
  attune_tokenizer_options options;
  attune_tokenizer_options_init(&options);
  options.max_call_bytes = most;
  options.memory_bytes = attune_tokenizer_memory_bytes(text, &options);
  options.memory = aligned_alloc(64, (options.memory_bytes + 63) / 64 * 64);
  CHECK_OK(attune_tokenizer_create(text, &options, &tokenizer));
  attune_encode_options encode;
  attune_encode_options_init(text, &encode);
  encode.want_offsets = 1;
  attune_text_input *inputs = calloc(most, sizeof(*inputs));
  for (int run = 0; run < 2; ++run) {
    for (size_t i = 0; i < most; ++i)
      inputs[i] = run ? (attune_text_input){"", 0, "", 0} : (attune_text_input){"a", 1, NULL, 0};
    const attune_encoding *encodings;
    size_t count;
    CHECK_OK(attune_tokenizer_encode(tokenizer, inputs, most, &encode, &encodings, &count));
    CHECK(count == most && encodings[most - 1].input == most - 1);
    size_t bytes = (size_t)encodings[0].length * sizeof(int32_t);
    CHECK(encodings[most - 1].length == encodings[0].length && memcmp(encodings[most - 1].ids, encodings[0].ids, bytes) == 0);
    CHECK(memcmp(encodings[most - 1].offsets, encodings[0].offsets, 2 * bytes) == 0);
  }
  free(inputs);
  attune_tokenizer_destroy(tokenizer);
  free(options.memory);
}

/* A text of n bytes that the normalizer makes longer than 4 * n + 65536 bytes fails with an error that names this
 * limit. With a normalizer that does not, the text may be encoded. */
static void testLongerTexts(const attune_text *text) {
  enum { repeats = 20000 };
  attune_tokenizer *tokenizer;
  CHECK_OK(attune_tokenizer_create(text, NULL, &tokenizer));
  char *longText = malloc(3 * repeats);
  for (int i = 0; i < repeats; ++i)
    memcpy(longText + 3 * i, "\xEF\xB7\xBA", 3); /* U+FDFA: 33 bytes in NFKC */
  attune_text_input input = {longText, 3 * repeats, NULL, 0};
  const attune_encoding *encodings;
  size_t count;
  attune_status status = attune_tokenizer_encode(tokenizer, &input, 1, NULL, &encodings, &count);
  if (status == ATTUNE_LIMIT_EXCEEDED)
    CHECK(strstr(attune_last_error(), "the texts (60000 bytes) become longer than 305536 bytes, the limit for texts of this size"));
  free(longText);
  attune_tokenizer_destroy(tokenizer);
}

/* Checks that a decode stream gives the text of decoding all ids at once, for random ids and for the ids of texts. */
static void testStreams(const attune_text *text) {
  attune_tokenizer *tokenizer;
  CHECK_OK(attune_tokenizer_create(text, NULL, &tokenizer));
  attune_decode_stream *stream;
  static const char *const texts[] = {"Hello world, it's naïve 中文 🙂👍🏽 \n\n ok", "  two  spaces ", "🙂", "x"};
  for (int run = 0; run < 3000; ++run) {
    int32_t ids[64];
    int64_t length;
    if (run < 8) {
      attune_text_input input = makeInput(texts[run % 4]);
      const attune_encoding *encodings;
      size_t count;
      CHECK_OK(attune_tokenizer_encode(tokenizer, &input, 1, NULL, &encodings, &count));
      length = encodings[0].length < 64 ? encodings[0].length : 64;
      memcpy(ids, encodings[0].ids, (size_t)length * sizeof(*ids));
    } else {
      length = nextRandom() % 12;
      /* Low ids are often bytes and special tokens. */
      for (int64_t i = 0; i < length; ++i)
        ids[i] = (int32_t)(nextRandom() % (run % 2 ? 300 : attune_text_vocab_size(text) + 3)) - 1;
    }
    int skip = run % 3 == 0;
    CHECK_OK(attune_decode_stream_create(text, skip, &stream));
    char joined[4096];
    size_t size = 0, bytes;
    const char *part;
    for (int64_t i = 0; i <= length; ++i) {
      CHECK_OK(i < length ? attune_decode_stream_push(stream, ids[i], &part, &bytes) : attune_decode_stream_finish(stream, &part, &bytes));
      CHECK(size + bytes < sizeof(joined));
      memcpy(joined + size, part, bytes);
      size += bytes;
    }
    attune_decode_stream_destroy(stream);
    CHECK_OK(attune_tokenizer_decode(tokenizer, ids, (size_t)length, skip, &part, &bytes));
    if (bytes != size || memcmp(part, joined, size)) {
      fprintf(stderr, "stream '%.*s', whole '%.*s', ids", (int)size, joined, (int)bytes, part);
      for (int64_t i = 0; i < length; ++i)
        fprintf(stderr, " %d", ids[i]);
      fprintf(stderr, "\n");
      exit(1);
    }
  }
  attune_tokenizer_destroy(tokenizer);
  attune_tokenizer_destroy(NULL);
  attune_decode_stream_destroy(NULL);
}

/* Damaged tables may give wrong ids or an error, but must not crash. The header and the section table stay as they are,
 * since their checksum shows any damage. */
static void testDamage(void) {
  static const char *const sample = "Hello <s>wörld</s>, it's 中文 e\xCC\x81 🙂 123 [MASK] ﬁ a\n\nb";
  uint32_t sections;
  memcpy(&sections, fileBytes + 12, sizeof(sections));
  size_t first = 64 + sections * 32;
  unsigned char *copy = aligned_alloc(64, (fileSize + 63) / 64 * 64);
  for (int run = 0; run < 400; ++run) {
    memcpy(copy, fileBytes, fileSize);
    int flips = 1 + (int)(nextRandom() % 200);
    for (int i = 0; i < flips; ++i) {
      /* Chooses the section first, so that small sections are damaged as often as large ones. */
      uint64_t place[2];
      memcpy(place, copy + 64 + nextRandom() % sections * 32 + 8, sizeof(place));
      if (place[1] == 0)
        continue;
      size_t at = place[0] + nextRandom() % place[1];
      CHECK(at >= first && at < fileSize);
      copy[at] = nextRandom() % 4 ? (unsigned char)nextRandom() : copy[at] ^ (unsigned char)(1u << nextRandom() % 8);
    }
    attune_text *text;
    if (attune_text_open_memory(copy, fileSize, &text) != ATTUNE_OK)
      continue;
    attune_tokenizer *tokenizer;
    attune_tokenizer_options options;
    attune_tokenizer_options_init(&options);
    options.max_call_bytes = 4096;
    CHECK_OK(attune_tokenizer_create(text, &options, &tokenizer));
    attune_text_input input = {sample, strlen(sample), sample, 20};
    attune_encode_options encode;
    attune_encode_options_init(text, &encode);
    encode.want_offsets = run % 2;
    const attune_encoding *encodings;
    size_t count, bytes;
    const char *decoded;
    if (attune_tokenizer_encode(tokenizer, &input, 1, &encode, &encodings, &count) == ATTUNE_OK) {
      int32_t ids[512];
      size_t length = encodings[0].length < 512 ? (size_t)encodings[0].length : 512;
      memcpy(ids, encodings[0].ids, length * sizeof(*ids));
      (void)attune_tokenizer_decode(tokenizer, ids, length, 0, &decoded, &bytes);
    }
    attune_tokenizer_destroy(tokenizer);
    attune_text_close(text);
  }
  free(copy);
}

/* Returns the first byte of the section of |file| that is called |name|, null if there is none. */
static unsigned char *findSection(unsigned char *file, const char *name) {
  uint32_t sections;
  memcpy(&sections, file + 12, sizeof(sections));
  for (uint32_t i = 0; i < sections; ++i) {
    uint64_t offset;
    memcpy(&offset, file + 64 + i * 32 + 8, sizeof(offset));
    if (memcmp(file + 64 + i * 32, name, 4) == 0)
      return file + offset;
  }
  return NULL;
}

static uint32_t getNumber(const unsigned char *at) {
  uint32_t number;
  memcpy(&number, at, sizeof(number));
  return number;
}
static void setNumber(unsigned char *at, uint32_t number) { memcpy(at, &number, sizeof(number)); }

/* Encodes |input| twice with the tokenizer of |file|, which has fileSize bytes: with an empty cache of pieces, then
 * with a filled one. Checks that both calls return the same status. Returns the number of tokens, -1 for an error. */
static int64_t encodeTwice(const unsigned char *file, attune_text_input input) {
  attune_text *text;
  attune_tokenizer *tokenizer;
  CHECK_OK(attune_text_open_memory(file, fileSize, &text));
  CHECK_OK(attune_tokenizer_create(text, NULL, &tokenizer));
  const attune_encoding *encodings;
  size_t count;
  attune_status first = attune_tokenizer_encode(tokenizer, &input, 1, NULL, &encodings, &count);
  CHECK(attune_tokenizer_encode(tokenizer, &input, 1, NULL, &encodings, &count) == first);
  int64_t length = first == ATTUNE_OK ? encodings[0].length : -1;
  attune_tokenizer_destroy(tokenizer);
  attune_text_close(text);
  return length;
}

/* Tests tables that the compiler never writes. Each of them once made the encoder read or write out of bounds, or
 * return wrong ids. */
static void testWrongTables(void) {
  unsigned char *copy = aligned_alloc(64, (fileSize + 63) / 64 * 64);
  /* A template of the post-processor in which every piece is the first text. */
  memcpy(copy, fileBytes, fileSize);
  unsigned char *steps = findSection(copy, "PIPE"), *pool = findSection(copy, "POOL");
  uint32_t numSteps = getNumber(steps) + getNumber(steps + 4) + getNumber(steps + 8), pieces = 0;
  for (uint32_t i = 0; i < numSteps; ++i) {
    unsigned char *step = steps + 32 + i * 32;
    if (getNumber(step) != 65)
      continue;
    pieces = getNumber(step + 8);
    for (uint32_t k = 0; k < pieces; ++k)
      setNumber(pool + getNumber(step + 4) + k * 12, 0);
  }
  char longText[2000];
  memset(longText, 'a', sizeof(longText));
  attune_text_input input = {longText, sizeof(longText), NULL, 0};
  if (pieces)
    CHECK(encodeTwice(copy, input) == pieces * (encodeTwice(fileBytes, input) - (pieces - 1)));
  /* Settings without the id of the unknown token, for a model that may need it. */
  memcpy(copy, fileBytes, fileSize);
  setNumber(findSection(copy, "CONF") + 12, UINT32_MAX);
  (void)encodeTwice(copy, makeInput("\xE2\x98\x83"));
  /* Replacements of characters by numbers that are no characters of Unicode. */
  memcpy(copy, fileBytes, fileSize);
  unsigned char *unicode = findSection(copy, "UNIC");
  for (uint32_t i = 0; i < getNumber(unicode + 28); ++i)
    setNumber(unicode + getNumber(unicode + 24) + i * 4, UINT32_MAX - i);
  (void)encodeTwice(copy, makeInput("\xC3\xA9 \xEF\xAC\x81 \xED\x95\x9C"));
  free(copy);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  readFile(argv[1]);
  testOpen(argv[1]);
  attune_text *text;
  CHECK_OK(attune_text_open(argv[1], &text));
  testTokens(text);
  testOptions(text);
  testManyInputs(text);
  testLongerTexts(text);
  testStreams(text);
  attune_text_close(text);
  testDamage();
  testWrongTables();
  free(fileBytes);
  printf("ok\n");
  return 0;
}
