//===- ChatValues.cpp - Conversations from JSON ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/ChatValues.h"
#include "compiler/Support/Json.h"

using namespace attune;

namespace {

/// Makes values while the JSON text is parsed. A list or dictionary is added to the one around it at its opening
/// bracket.
class ValueBuilder : public nlohmann::json_sax<Json> {
public:
  /// |root| is the dictionary that takes the members of the outermost object; null to make a new value, |result|.
  ValueBuilder(attune_chat *chat, attune_chat_value *root) : chat(chat), root(root) {}
  attune_chat_value *result = nullptr;
  std::string problem;

  bool null() override { return add(attune_chat_none(chat)); }
  bool boolean(bool value) override { return add(attune_chat_bool(chat, value)); }
  bool number_integer(number_integer_t value) override { return add(attune_chat_int(chat, value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return value > INT64_MAX ? tooLarge() : add(attune_chat_int(chat, static_cast<int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t &text) override {
    // The parser passes an integer that is too large for 64 bits as a float. The text of other floats has an exponent
    // or a decimal point, that of the locale.
    return text.find_first_not_of("-0123456789") == std::string::npos ? tooLarge() : add(attune_chat_float(chat, value));
  }
  bool string(string_t &value) override { return add(attune_chat_text(chat, value.data(), value.size())); }
  bool binary(binary_t &) override { return fail("binary values are not JSON"); }
  bool start_object(std::size_t) override { return open(root && stack.empty() ? root : attune_chat_dict(chat), true); }
  bool start_array(std::size_t) override { return open(attune_chat_list(chat), false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &name) override {
    stack.back().key = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string &, const nlohmann::detail::exception &) override {
    return fail("not JSON at byte " + std::to_string(position));
  }

private:
  struct Level {
    attune_chat_value *value;
    bool isObject;
    std::string key;
  };
  attune_chat *chat;
  attune_chat_value *root;
  std::vector<Level> stack;

  bool fail(const std::string &message) {
    if (problem.empty())
      problem = message;
    return false;
  }
  bool tooLarge() { return fail("expected integers of at most 64 bits"); }
  bool add(attune_chat_value *value) {
    if (!value)
      return fail(attune_last_error());
    if (stack.empty()) {
      if (root)
        return value == root || fail("expected an object");
      result = value;
      return true;
    }
    const Level &level = stack.back();
    bool added = level.isObject ? attune_chat_set_text(chat, level.value, level.key.data(), level.key.size(), value) != nullptr
                                : attune_chat_append(chat, level.value, value) != nullptr;
    return added || fail(attune_last_error());
  }
  bool open(attune_chat_value *value, bool isObject) {
    constexpr size_t MaxDepth = 100;
    if (stack.size() == MaxDepth)
      return fail("nested deeper than " + std::to_string(MaxDepth));
    if (!add(value))
      return false;
    stack.push_back({value, isObject, ""});
    return true;
  }
  bool close() {
    stack.pop_back();
    return true;
  }
};

} // namespace

static Status read(ValueBuilder &builder, std::string_view text, const std::string &file) {
  if (Json::sax_parse(text.begin(), text.end(), &builder) && builder.problem.empty())
    return Status();
  return Status::error(file + ": " + builder.problem);
}

Result<attune_chat_value *> attune::chatValueFromJson(attune_chat *chat, std::string_view text, const std::string &file) {
  ValueBuilder builder(chat, nullptr);
  if (Status status = read(builder, text, file); status.failed())
    return status;
  return builder.result;
}

Status attune::setChatVariables(attune_chat *chat, std::string_view text, const std::string &file) {
  ValueBuilder builder(chat, attune_chat_variables(chat));
  return read(builder, text, file);
}
