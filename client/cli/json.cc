// SPDX-License-Identifier: Apache-2.0
#include "client/cli/json.h"

#include <google/protobuf/util/json_util.h>

namespace sideband::client {
namespace {

std::string Convert(const google::protobuf::Message& message, bool whitespace) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = whitespace;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  // It fails for types that it cannot find; ours are linked in. A time out of range prints as far as it got.
  (void)google::protobuf::util::MessageToJsonString(message, &text, options);
  return text;
}

}  // namespace

std::string ToJson(const google::protobuf::Message& message) {
  std::string text = Convert(message, true);
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

std::string ToJsonLine(const google::protobuf::Message& message) { return Convert(message, false); }

}  // namespace sideband::client
