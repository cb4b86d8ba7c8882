//===- Decoder.cpp - From tokens to text ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each step makes a list of strings from the list of the step before, beginning with the strings of the tokens. The
// text is the strings of the last list, joined. All lists are written one after the other into one array, so that a
// step reads the previous list while it writes its own.
//===----------------------------------------------------------------------===//

#include "runtime/text/Decoder.h"
#include "runtime/text/ByteCharacters.h"
#include "runtime/text/PatternMatches.h"

using namespace attune::text;

static Bytes literal(const char *text) { return {reinterpret_cast<const uint8_t *>(text), __builtin_strlen(text)}; }

static bool equal(Bytes a, Bytes b) { return a.size == b.size && __builtin_memcmp(a.data, b.data, a.size) == 0; }

static bool endsWith(Bytes text, Bytes suffix) {
  return text.size >= suffix.size && __builtin_memcmp(text.data + text.size - suffix.size, suffix.data, suffix.size) == 0;
}

static bool startsWith(Bytes text, Bytes prefix) {
  return text.size >= prefix.size && __builtin_memcmp(text.data, prefix.data, prefix.size) == 0;
}

bool Decoder::run(const Tables &source, const int32_t *ids, size_t numIds, bool skipSpecial, Memory &memory, Bytes &out) {
  tables = &source;
  tokens = memory.take<Bytes>(numIds * 4 + 16);
  other = memory.take<Bytes>(numIds * 4 + 16);
  flags = memory.take<uint8_t>(numIds + 16);
  bytes = memory.take<uint8_t>(memory.left() > 128 ? memory.left() - 128 : 0);
  stringBegin = unstable = unstableTokens = 0;
  incomplete = false;
  for (size_t i = 0; i < numIds; ++i) {
    if (ids[i] < 0 || uint32_t(ids[i]) >= tables->settings.vocabSize)
      continue;
    uint8_t flag = tables->flags[size_t(ids[i])];
    if (!(flag & kTokenExists) || (skipSpecial && (flag & kTokenSkipped)))
      continue;
    tokens.push(tables->decodeStrings.get(size_t(ids[i])));
    flags.push(flag);
  }
  bool fits = !tokens.full;
  // As in Hugging Face's tokenizers, an empty list goes through no steps.
  for (uint32_t i = 0; i < tables->numSteps[3] && tokens.size; ++i) {
    apply(tables->steps[tables->firstStep[3] + i]);
    fits &= !tokens.full && !other.full && !bytes.full;
  }
  size_t begin = bytes.size;
  for (size_t i = 0; i < unstableTokens && i < tokens.size; ++i)
    unstable += tokens[tokens.size - 1 - i].size;
  for (size_t i = 0; i < tokens.size; ++i) {
    if (!tables->hasDecoder && i > 0)
      bytes.push(' ');
    put(tokens[i]);
  }
  out = {bytes.data + begin, bytes.size - begin};
  bytes.push(0);
  return fits && !bytes.full;
}

void Decoder::putReplaced(Bytes text, Bytes from, Bytes to) {
  const uint8_t *at = text.data, *end = at + text.size;
  while (at < end) {
    if (from.size && size_t(end - at) >= from.size && __builtin_memcmp(at, from.data, from.size) == 0) {
      put(to);
      at += from.size;
    } else {
      bytes.push(*at++);
    }
  }
}

void Decoder::putClean(Bytes text) {
  static constexpr const char *pairs[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                             {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                             {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (auto &pair : pairs) {
    size_t begin = bytes.size;
    putReplaced(text, literal(pair[0]), literal(pair[1]));
    text = {bytes.data + begin, bytes.size - begin};
    stringBegin = begin;
  }
}

void Decoder::putLossy(Bytes raw, bool drops) {
  const uint8_t *at = raw.data, *end = at + raw.size;
  while (at < end) {
    bool complete;
    size_t length = scanCharacter(at, end, complete);
    if (length && complete)
      put(at, length);
    else if (!drops)
      put(literal("\xEF\xBF\xBD"));
    at += length ? length : 1;
    incomplete = length && !complete && at == end;
    unstable = incomplete && !drops ? 3 : 0;
  }
}

void Decoder::apply(const CheckedStep &checked) {
  const Step &step = checked.step;
  switch (step.kind) {
  case StepKind::DecodeByteLevel:
    return applyByteLevel(step.a);
  case StepKind::DecodeByteFallback:
    return applyByteFallback();
  case StepKind::DecodeCtc:
    return applyCtc(checked);
  case StepKind::DecodePieces:
    return applyPieces(step.a);
  case StepKind::DecodeTrim:
    return applyTrim();
  case StepKind::DecodeContinued:
    return applyContinued(checked.text);
  case StepKind::DecodeStrip:
    return applyStrip(step);
  case StepKind::DecodeReplace:
    return applyReplace(checked);
  default:
    break;
  }
  beginStep();
  for (size_t i = 0; i < tokens.size; ++i) {
    Bytes token = tokens[i];
    switch (step.kind) {
    case StepKind::DecodeWordPiece: {
      size_t begin = bytes.size;
      if (i > 0 && startsWith(token, checked.text)) {
        token.data += checked.text.size;
        token.size -= checked.text.size;
      } else if (i > 0) {
        bytes.push(' ');
      }
      put(token);
      if (step.c)
        putClean({bytes.data + begin, bytes.size - begin});
      break;
    }
    case StepKind::DecodeMetaspace: {
      const uint8_t *end = token.data + token.size;
      for (const uint8_t *at = token.data; at < end;) {
        Character c = decodeCharacter(at, end);
        if (c.value != step.a)
          put(at, c.bytes);
        else if (i > 0 || !step.b)
          bytes.push(' ');
        at += c.bytes;
      }
      break;
    }
    case StepKind::DecodeBpe:
      putReplaced(token, checked.text, literal(i + 1 == tokens.size ? "" : " "));
      break;
    default: // DecodeFuse
      if (step.a && i > 0)
        bytes.push(' ');
      put(token);
      if (i + 1 < tokens.size)
        continue;
      for (size_t k = 0; k < unstableTokens && k <= i; ++k)
        unstable += tokens[i - k].size;
      unstableTokens = 0;
    }
    endToken();
  }
  endStep();
}

/// Converts characters to bytes and joins all tokens to one string, in which bytes that are not UTF-8 are U+FFFD, or
/// are left out if |drops|. A token with a character that stands for no byte is unchanged.
void Decoder::applyByteLevel(bool drops) {
  size_t begin = bytes.size;
  for (size_t i = 0; i < tokens.size; ++i) {
    const uint8_t *end = tokens[i].data + tokens[i].size;
    size_t start = bytes.size;
    for (const uint8_t *at = tokens[i].data; at < end;) {
      Character c = decodeCharacter(at, end);
      int byte = characterToByte(c.value);
      if (byte < 0) {
        bytes.size = start;
        put(tokens[i]);
        break;
      }
      bytes.push(uint8_t(byte));
      at += c.bytes;
    }
  }
  Bytes raw = {bytes.data + begin, bytes.size - begin};
  beginStep();
  putLossy(raw, drops);
  endToken();
  endStep();
}

// Like Hugging Face's tokenizers, accepts a plus sign as the first digit.
int attune::text::parseByteToken(Bytes token) {
  if (token.size != 6 || !startsWith(token, literal("<0x")) || token.data[5] != '>')
    return -1;
  auto digit = [](uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  int high = token.data[3] == '+' ? 0 : digit(token.data[3]), low = digit(token.data[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/// Appends the bytes of the tokens [begin, end), all of them byte tokens, with U+FFFD for each byte that is not UTF-8.
void Decoder::putByteTokens(size_t begin, size_t end) {
  uint8_t window[4];
  size_t size = 0;
  while (begin < end || size > 0) {
    while (begin < end && size < sizeof(window))
      window[size++] = uint8_t(parseByteToken(tokens[begin++]));
    bool complete;
    size_t length = scanCharacter(window, window + size, complete);
    if (length && complete) {
      put(window, length);
    } else {
      put(literal("\xEF\xBF\xBD"));
      length = 1;
    }
    size -= length;
    for (size_t i = 0; i < size; ++i)
      window[i] = window[i + length];
  }
}

/// Joins the strings of tokens as SentencePiece decodes pieces. Marks (U+2581) at the beginning of a text are dropped
/// as |decodeFlags| (DecodePiecesFlag) say; other marks become spaces. Tokens with kTokenLiteral or kTokenCuts keep
/// their strings. A new text begins after each token with kTokenCuts.
void Decoder::applyPieces(uint32_t decodeFlags) {
  beginStep();
  const bool drops = decodeFlags & (kDecodeDropsMark | kDecodeDropsMarks);
  size_t begin = bytes.size; // of the current text
  bool atBegin = true, droppedMark = false;
  for (size_t i = 0; i < tokens.size && i < flags.size; ++i) {
    Bytes token = tokens[i];
    if (flags[i] & kTokenCuts) {
      put(token);
      begin = bytes.size;
      atBegin = true;
      droppedMark = false;
      continue;
    }
    const bool isLiteral = flags[i] & kTokenLiteral;
    if ((decodeFlags & kDecodeByteTokens) && !isLiteral && parseByteToken(token) >= 0) {
      size_t end = i;
      while (end < tokens.size && end < flags.size && !(flags[end] & (kTokenLiteral | kTokenCuts)) && parseByteToken(tokens[end]) >= 0)
        ++end;
      putByteTokens(i, end);
      i = end - 1;
      continue;
    }
    if (droppedMark || bytes.size > begin)
      atBegin = false;
    droppedMark = false;
    const uint8_t *at = token.data, *end = at + token.size;
    bool isFirst = drops && atBegin;
    while (at < end) {
      Character c = decodeCharacter(at, end);
      if (c.value != 0x2581 || isLiteral)
        put(at, c.bytes);
      else if (isFirst)
        droppedMark = !(decodeFlags & kDecodeDropsMarks);
      else
        bytes.push(' ');
      isFirst = false;
      at += c.bytes;
    }
  }
  endToken();
  endStep();
}

/// Removes white space at both ends of each string.
void Decoder::applyTrim() {
  beginStep();
  for (size_t i = 0; i < tokens.size; ++i) {
    const uint8_t *begin = tokens[i].data, *end = begin + tokens[i].size;
    while (begin < end) {
      Character c = decodeCharacter(begin, end);
      if (!(tables->characters(c.value) & kCharWhiteSpace))
        break;
      begin += c.bytes;
    }
    while (begin < end) {
      Character c = decodeCharacterBefore(begin, end);
      if (!(tables->characters(c.value) & kCharWhiteSpace))
        break;
      end -= c.bytes;
    }
    put(begin, size_t(end - begin));
    endToken();
  }
  endStep();
}

/// Joins the tokens with spaces between them. The next token continues a token that ends with |suffix|: there is neither
/// suffix nor space between the two.
void Decoder::applyContinued(Bytes suffix) {
  beginStep();
  for (size_t i = 0; i < tokens.size; ++i) {
    const bool isLast = i + 1 == tokens.size, continues = suffix.size > 0 && endsWith(tokens[i], suffix);
    put(tokens[i].data, tokens[i].size - (continues && !isLast ? suffix.size : 0));
    if (!continues && !isLast)
      bytes.push(' ');
    if (continues && isLast)
      unstable = suffix.size;
  }
  endToken();
  endStep();
}

/// Joins each run of byte tokens to one string. A run that is not valid UTF-8 becomes one string U+FFFD for each byte.
void Decoder::applyByteFallback() {
  beginStep();
  for (size_t i = 0; i < tokens.size;) {
    if (parseByteToken(tokens[i]) < 0) {
      put(tokens[i++]);
      endToken();
      unstableTokens = 0;
      continue;
    }
    size_t begin = bytes.size, count = 0;
    for (int byte; i < tokens.size && (byte = parseByteToken(tokens[i])) >= 0; ++i, ++count)
      bytes.push(uint8_t(byte));
    bool valid = true;
    const uint8_t *end = bytes.data + bytes.size;
    for (const uint8_t *at = bytes.data + begin; at < end && valid;) {
      bool complete;
      size_t length = scanCharacter(at, end, complete);
      valid = length && complete;
      at += length;
    }
    if (valid) {
      endToken();
      unstableTokens = 1;
      continue;
    }
    unstableTokens = count;
    bytes.size = begin;
    for (size_t k = 0; k < count; ++k) {
      put(literal("\xEF\xBF\xBD"));
      endToken();
    }
  }
  endStep();
}

void Decoder::applyCtc(const CheckedStep &step) {
  beginStep();
  for (size_t i = 0; i < tokens.size; ++i) {
    if (i > 0 && equal(tokens[i], tokens[i - 1]))
      continue;
    size_t begin = bytes.size;
    putReplaced(tokens[i], step.text, {});
    if (step.step.e) {
      putClean({bytes.data + begin, bytes.size - begin});
      Bytes clean = {bytes.data + stringBegin, bytes.size - stringBegin};
      stringBegin = bytes.size;
      putReplaced(clean, step.literal, literal(" "));
    }
    if (bytes.size > stringBegin)
      endToken();
  }
  endStep();
}

void Decoder::applyStrip(const Step &step) {
  beginStep();
  for (size_t i = 0; i < tokens.size; ++i) {
    const uint8_t *begin = tokens[i].data, *end = begin + tokens[i].size;
    for (uint32_t k = 0; k < step.b && begin < end; ++k) {
      Character c = decodeCharacter(begin, end);
      if (c.value != step.a)
        break;
      begin += c.bytes;
    }
    for (uint32_t k = 0; k < step.c && begin < end; ++k) {
      Character c = decodeCharacterBefore(begin, end);
      if (c.value != step.a)
        break;
      end -= c.bytes;
    }
    put(begin, size_t(end - begin));
    endToken();
  }
  endStep();
}

void Decoder::applyReplace(const CheckedStep &step) {
  beginStep();
  for (size_t i = 0; i < tokens.size; ++i) {
    const uint8_t *last = tokens[i].data, *end = last + tokens[i].size, *matchBegin, *matchEnd;
    PatternMatches matches(step, last, end);
    while (matches.next(matchBegin, matchEnd)) {
      put(last, size_t(matchBegin - last));
      put(step.text);
      last = matchEnd;
    }
    put(last, size_t(end - last));
    endToken();
  }
  endStep();
}
