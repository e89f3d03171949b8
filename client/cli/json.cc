// SPDX-License-Identifier: Apache-2.0
#include "client/cli/json.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

// Cannot occur within a JSON string, where quotation marks are escaped.
constexpr char kBootIdKey[] = "\"boot_id\":";

// "boot_id": "45063" becomes "boot_id": "000000000000b007".
std::string WithBootIds(absl::string_view json) {
  std::string text;
  for (size_t key; (key = json.find(kBootIdKey)) != absl::string_view::npos;) {
    const size_t from = json.find('"', key + sizeof(kBootIdKey) - 1) + 1;
    const size_t to = json.find('"', from);
    uint64_t boot_id = 0;
    const bool is_number = absl::SimpleAtoi(json.substr(from, to - from), &boot_id);
    absl::StrAppend(&text, json.substr(0, from), is_number ? BootIdText(boot_id) : "");
    json.remove_prefix(is_number ? to : from);
  }
  return absl::StrCat(text, json);
}

std::string Convert(const google::protobuf::Message& message, bool whitespace) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = whitespace;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  // The conversion fails for unknown types, but all types are linked in; and for a time out of range, where the text
  // ends.
  (void)google::protobuf::util::MessageToJsonString(message, &text, options);
  return WithBootIds(text);
}

}  // namespace

std::string ToJson(const google::protobuf::Message& message) {
  std::string text = Convert(message, true);
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

std::string ToJsonLine(const google::protobuf::Message& message) { return Convert(message, false); }

}  // namespace sideband::client
