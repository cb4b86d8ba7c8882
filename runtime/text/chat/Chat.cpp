//===- Chat.cpp - The C interface of chat templates -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chat has one block of address space. It holds the chat itself, the stack and the spans of renderings, the values
// that the host (the calling program) has made, the memory of a rendering and, at the end, the output. Pages become
// memory when they are used. Each rendering reuses the memory of the one before.
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Unicode.h"

#include <cstdlib>
#include <new>
#include <sys/mman.h>

using namespace attune;
using namespace attune::chat;

namespace {
constexpr size_t StackValues = 1 << 15, MaxSpans = 4096;
constexpr size_t Page = 4096;
} // namespace

struct attune_chat_value {
  Value value;
};

struct attune_chat {
  Program program;
  Text templateName; ///< empty = "tool_use" if there is one and the variable `tools` is set, else "default"
  uint64_t maxSteps;
  size_t blockBytes;
  Memory memory;
  OutputText output;
  Value *stack;
  attune_chat_span *spans;
  size_t firstMark; ///< bytes of the memory in use before the host makes any value
  Table *variables;
  attune_chat_value *variablesValue;
  attune_chat_date date;
  bool hasDate;
};

void attune_chat_options_init(attune_chat_options *options) {
  if (!options)
    return;
  *options = {sizeof(attune_chat_options), nullptr, size_t(256) << 20, size_t(64) << 20, 100000000};
}

/// Returns a machine that makes and changes values outside of a rendering, with unlimited steps.
static Machine hostMachine(attune_chat &chat) {
  Machine machine(chat.program, chat.memory, chat.output);
  machine.steps = UINT64_MAX;
  return machine;
}

/// Frees all values of the host, forgets the output and the date, and makes an empty table of variables.
static attune_status resetValues(attune_chat &chat) {
  chat.memory.release(chat.firstMark);
  chat.output.bytes = 0;
  chat.hasDate = false;
  Machine machine = hostMachine(chat);
  ATTUNE_TRY(machine.makeTable(8, chat.variables));
  ATTUNE_TRY(machine.take(1, chat.variablesValue));
  chat.variablesValue->value = Value::ofTable(Tag::Dict, chat.variables);
  return ATTUNE_OK;
}

attune_status attune_chat_open(const void *program, size_t bytes, const attune_chat_options *options, attune_chat **out_chat) {
  if (!out_chat)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_chat is null");
  *out_chat = nullptr;
  attune_chat_options used;
  attune_chat_options_init(&used);
  if (options && options->struct_bytes != sizeof(attune_chat_options))
    return fail(ATTUNE_INVALID_ARGUMENT, "the options of the chat have %zu bytes, expected %zu: call attune_chat_options_init",
                options->struct_bytes, sizeof(attune_chat_options));
  if (options)
    used = *options;
  constexpr size_t Least = size_t(1) << 20, Most = size_t(1) << 40;
  if (used.memory_bytes < Least || used.memory_bytes > Most || used.output_bytes == 0 || used.output_bytes > Most || used.max_steps == 0)
    return fail(ATTUNE_INVALID_ARGUMENT,
                "the options of the chat: expected memory_bytes from %zu and output_bytes from 1 to %zu, and max_steps above 0", Least,
                Most);
  Program read;
  ATTUNE_TRY(read.open(program, bytes));
  size_t nameBytes = used.template_name ? strlen(used.template_name) : 0;
  size_t fixed = sizeof(attune_chat) + StackValues * sizeof(Value) + MaxSpans * sizeof(attune_chat_span) + nameBytes + 64;
  size_t total = (fixed + used.memory_bytes + used.output_bytes + 1 + 2 * Page) / Page * Page;
  void *block = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED)
    return fail(ATTUNE_OUT_OF_MEMORY, "cannot get %zu bytes of address space for a chat", total);
  auto *chat = new (block) attune_chat();
  char *begin = static_cast<char *>(block) + sizeof(attune_chat);
  chat->program = read;
  chat->maxSteps = used.max_steps;
  chat->blockBytes = total;
  chat->output = {static_cast<char *>(block) + total - (used.output_bytes + 1), 0, used.output_bytes + 1};
  chat->memory = Memory(begin, static_cast<size_t>(chat->output.data - begin));
  Machine machine = hostMachine(*chat);
  char *name = nullptr;
  attune_status status = machine.take(StackValues, chat->stack);
  if (status == ATTUNE_OK)
    status = machine.take(MaxSpans, chat->spans);
  if (status == ATTUNE_OK)
    status = machine.takeText(nameBytes, name);
  if (status == ATTUNE_OK) {
    if (nameBytes)
      memcpy(name, used.template_name, nameBytes);
    chat->templateName = {name, nameBytes};
    chat->firstMark = chat->memory.mark();
    chat->memory.setRoom(used.memory_bytes);
    status = resetValues(*chat);
  }
  if (status == ATTUNE_OK && nameBytes && !chat->program.find(chat->templateName))
    status = fail(ATTUNE_NOT_FOUND, "the model has no chat template '%s'", used.template_name);
  if (status != ATTUNE_OK) {
    munmap(block, total);
    return status;
  }
  *out_chat = chat;
  return ATTUNE_OK;
}

void attune_chat_close(attune_chat *chat) {
  if (chat)
    munmap(chat, chat->blockBytes);
}

void attune_chat_clear(attune_chat *chat) {
  // resetValues cannot fail here: the table of variables had room in the same memory when the chat was opened.
  if (chat)
    (void)resetValues(*chat);
}

//===--- Values ------------------------------------------------------------===//

static attune_chat_value *invalid(const char *what) {
  fail(ATTUNE_INVALID_ARGUMENT, "%s", what);
  return nullptr;
}

static attune_chat_value *keep(attune_chat *chat, const Value &value) {
  if (!chat)
    return invalid("the chat is null");
  attune_chat_value *kept;
  return hostMachine(*chat).take(1, kept) == ATTUNE_OK ? new (kept) attune_chat_value{value} : nullptr;
}

attune_chat_value *attune_chat_none(attune_chat *chat) { return keep(chat, Value::none()); }
attune_chat_value *attune_chat_bool(attune_chat *chat, int value) { return keep(chat, Value::boolean(value != 0)); }
attune_chat_value *attune_chat_int(attune_chat *chat, int64_t value) { return keep(chat, Value::ofInt(value)); }
attune_chat_value *attune_chat_float(attune_chat *chat, double value) { return keep(chat, Value::ofFloat(value)); }

/// Sets |value| to a copy of the |bytes| bytes of the host at |text|. Returns false, with a message in
/// attune_last_error, for null arguments, for bytes that are not UTF-8, or if the memory is full.
static bool copyHostText(attune_chat *chat, const char *text, size_t bytes, Value &value) {
  if (!chat || (!text && bytes))
    return invalid("the chat or the text is null") != nullptr;
  if (!isUtf8({text, bytes}))
    return invalid("the text is not UTF-8") != nullptr;
  return hostMachine(*chat).copyText({text ? text : "", bytes}, value) == ATTUNE_OK;
}

attune_chat_value *attune_chat_text(attune_chat *chat, const char *text, size_t bytes) {
  Value value;
  return copyHostText(chat, text, bytes, value) ? keep(chat, value) : nullptr;
}

attune_chat_value *attune_chat_list(attune_chat *chat) {
  Array *array;
  if (!chat)
    return invalid("the chat is null");
  return hostMachine(*chat).makeArray(0, array) == ATTUNE_OK ? keep(chat, Value::ofArray(Tag::List, array)) : nullptr;
}

attune_chat_value *attune_chat_dict(attune_chat *chat) {
  Table *table;
  if (!chat)
    return invalid("the chat is null");
  return hostMachine(*chat).makeTable(0, table) == ATTUNE_OK ? keep(chat, Value::ofTable(Tag::Dict, table)) : nullptr;
}

attune_chat_value *attune_chat_append(attune_chat *chat, attune_chat_value *list, const attune_chat_value *value) {
  if (!chat || !list || !value)
    return nullptr;
  if (!list->value.is(Tag::List) || list == value)
    return invalid("attune_chat_append: expected a list, and another value");
  return hostMachine(*chat).push(*list->value.array, value->value) == ATTUNE_OK ? list : nullptr;
}

attune_chat_value *attune_chat_set_text(attune_chat *chat, attune_chat_value *dict, const char *key, size_t key_bytes,
                                        const attune_chat_value *value) {
  if (!chat || !dict || !value)
    return nullptr;
  if (!dict->value.is(Tag::Dict) || dict == value)
    return invalid("attune_chat_set: expected a dictionary, and another value");
  Value name;
  if (!copyHostText(chat, key, key_bytes, name))
    return nullptr;
  return hostMachine(*chat).set(*dict->value.table, name, value->value) == ATTUNE_OK ? dict : nullptr;
}

attune_chat_value *attune_chat_set(attune_chat *chat, attune_chat_value *dict, const char *key, const attune_chat_value *value) {
  if (!key)
    return invalid("the key is null");
  return attune_chat_set_text(chat, dict, key, strlen(key), value);
}

attune_chat_value *attune_chat_variables(attune_chat *chat) { return chat ? chat->variablesValue : invalid("the chat is null"); }

attune_chat_value *attune_chat_message(attune_chat *chat, const char *role, const char *content) {
  if (!chat || !role || !content)
    return invalid("the chat, the role or the content is null");
  Pair *messages = find(*chat->variables, "messages");
  if (messages && !messages->value.is(Tag::List))
    return invalid("the variable 'messages' is not a list");
  attune_chat_value *message = attune_chat_dict(chat);
  attune_chat_set(chat, message, "role", attune_chat_text(chat, role, strlen(role)));
  if (!attune_chat_set(chat, message, "content", attune_chat_text(chat, content, strlen(content))) || message->value.table->count != 2)
    return nullptr;
  if (!messages) {
    if (!attune_chat_set(chat, chat->variablesValue, "messages", attune_chat_list(chat)))
      return nullptr;
    messages = find(*chat->variables, "messages");
  }
  return hostMachine(*chat).push(*messages->value.array, message->value) == ATTUNE_OK ? message : nullptr;
}

attune_status attune_chat_set_date(attune_chat *chat, const attune_chat_date *date) {
  if (!chat || !date)
    return fail(ATTUNE_INVALID_ARGUMENT, "the chat or the date is null");
  if (!isDate(*date))
    return fail(ATTUNE_INVALID_ARGUMENT, "there is no date %d-%d-%d %d:%d:%d", date->year, date->month, date->day, date->hour, date->minute,
                date->second);
  chat->date = *date;
  chat->hasDate = true;
  return ATTUNE_OK;
}

//===--- Rendering ---------------------------------------------------------===//

/// Sets |result| to a copy of |messages| in the form that transformers gives to templates. Keys whose value is none are
/// dropped. Of the keys `reasoning_content`, `thinking` and `reasoning`, the first whose value is not none has the
/// reasoning of a message. The copy of the message has this reasoning as `reasoning_content`, and as `thinking` unless
/// the message has a `thinking` of its own. Fails unless |messages| is a list of dictionaries that is not empty.
static attune_status prepareMessages(Machine &machine, const Value &messages, Value &result) {
  static const char *const reasoningNames[] = {"reasoning_content", "thinking", "reasoning"};
  if (!messages.is(Tag::List) || messages.array->count == 0)
    return machine.error("a conversation needs at least one message: expected a list of them in 'messages'");
  Array *prepared;
  ATTUNE_TRY(machine.makeArray(messages.array->count, prepared));
  for (uint32_t i = 0; i < messages.array->count; ++i) {
    const Value &message = messages.array->items[i];
    if (!message.is(Tag::Dict))
      return machine.error("message %u: expected a dictionary, got %s", i, typeName(message.tag));
    const Table &given = *message.table;
    const Value *reasoning = nullptr;
    for (const char *name : reasoningNames)
      if (Pair *pair = find(given, name); pair && !pair->value.is(Tag::None) && !reasoning)
        reasoning = &pair->value;
    Table *table;
    ATTUNE_TRY(machine.makeTable(given.count + 2, table));
    if (reasoning)
      ATTUNE_TRY(machine.set(*table, Value::ofText("thinking"), *reasoning));
    for (uint32_t j = 0; j < given.count; ++j)
      if (!given.pairs[j].value.is(Tag::None))
        ATTUNE_TRY(machine.set(*table, given.pairs[j].key, given.pairs[j].value));
    if (reasoning)
      ATTUNE_TRY(machine.set(*table, Value::ofText("reasoning_content"), *reasoning));
    ATTUNE_TRY(machine.push(*prepared, Value::ofTable(Tag::Dict, table)));
  }
  result = Value::ofArray(Tag::List, prepared);
  return ATTUNE_OK;
}

/// Sets |table| to the variables of a rendering: the tokenizer's special tokens, the defaults of transformers, the
/// host's variables, and last the prepared messages. A later one replaces an earlier one of the same name.
static attune_status prepareVariables(Machine &machine, const attune_chat &chat, Table *&table) {
  const Program &program = chat.program;
  uint32_t defaults = program.header->num_defaults, first = program.header->num_names - 2 * defaults;
  ATTUNE_TRY(machine.makeTable(chat.variables->count + defaults + 4, table));
  for (uint32_t i = 0; i < defaults; ++i)
    ATTUNE_TRY(machine.set(*table, program.constant(program.names[first + 2 * i]), program.constant(program.names[first + 2 * i + 1])));
  ATTUNE_TRY(machine.set(*table, Value::ofText("tools"), Value::none()));
  ATTUNE_TRY(machine.set(*table, Value::ofText("documents"), Value::none()));
  ATTUNE_TRY(machine.set(*table, Value::ofText("add_generation_prompt"), Value::boolean(false)));
  for (uint32_t i = 0; i < chat.variables->count; ++i)
    ATTUNE_TRY(machine.set(*table, chat.variables->pairs[i].key, chat.variables->pairs[i].value));
  Pair *messages = find(*chat.variables, "messages");
  Value prepared;
  ATTUNE_TRY(prepareMessages(machine, messages ? messages->value : Value::none(), prepared));
  return machine.set(*table, Value::ofText("messages"), prepared);
}

/// Sets |chosen| to the template to render, as transformers chooses it. Fails with NOT_FOUND if there is none, or if it
/// could not be compiled.
static attune_status chooseTemplate(const attune_chat &chat, const attune_chat_template *&chosen) {
  const Program &program = chat.program;
  chosen = nullptr;
  if (chat.templateName.bytes)
    chosen = program.find(chat.templateName);
  Pair *tools = find(*chat.variables, "tools");
  if (!chosen && tools && !tools->value.is(Tag::None))
    chosen = program.find("tool_use");
  if (!chosen)
    chosen = program.find("default");
  if (!chosen)
    return fail(ATTUNE_NOT_FOUND, "the model has no chat template 'default': name one by template_name");
  if (chosen->function == ATTUNE_CHAT_NO_FUNCTION) {
    Text why = program.string(chosen->text);
    return fail(ATTUNE_NOT_FOUND, "the model's chat template could not be compiled: %.*s",
                static_cast<int>(why.bytes < 700 ? why.bytes : 700), why.data);
  }
  return ATTUNE_OK;
}

/// Renders in the memory of |chat|. The caller releases the memory that this takes, also after a failure.
static attune_status render(attune_chat &chat, attune_chat_rendered &rendered) {
  const attune_chat_template *chosen;
  ATTUNE_TRY(chooseTemplate(chat, chosen));
  Machine machine(chat.program, chat.memory, chat.output);
  machine.steps = chat.maxSteps;
  machine.date = chat.hasDate ? &chat.date : nullptr;
  machine.spans = chat.spans;
  machine.maxSpans = MaxSpans;
  machine.stackTop = chat.stack;
  machine.stackEnd = chat.stack + StackValues;
  ATTUNE_TRY(prepareVariables(machine, chat, machine.variables));
  Frame *frame;
  Value ignored;
  ATTUNE_TRY(machine.makeFrame(chosen->function, nullptr, frame));
  ATTUNE_TRY(machine.run(chosen->function, *frame, ignored));
  if (machine.captures)
    return fail(ATTUNE_CORRUPT, "the chat template is damaged: it does not end what it captures");
  chat.output.data[chat.output.bytes] = 0;
  // A template may discard text that it has marked as the assistant's, so spans are clipped to the output.
  for (size_t i = 0; i < machine.numSpans; ++i) {
    attune_chat_span &span = chat.spans[i];
    span.begin = span.begin < chat.output.bytes ? span.begin : chat.output.bytes;
    span.end = span.end < chat.output.bytes ? span.end : chat.output.bytes;
  }
  rendered = {chat.output.data, chat.output.bytes, chat.spans, machine.numSpans};
  return ATTUNE_OK;
}

attune_status attune_chat_render(attune_chat *chat, attune_chat_rendered *out_rendered) {
  if (!chat || !out_rendered)
    return fail(ATTUNE_INVALID_ARGUMENT, "the chat or out_rendered is null");
  *out_rendered = {nullptr, 0, nullptr, 0};
  chat->output.bytes = 0;
  size_t mark = chat->memory.mark();
  attune_status status = render(*chat, *out_rendered);
  chat->memory.release(mark);
  return status;
}
