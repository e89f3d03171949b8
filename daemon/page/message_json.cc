// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/message_json.h"

#include <google/protobuf/util/json_util.h>

namespace sideband::daemon {

std::string MessageJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails only for messages of unknown types, which the API has not.
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "{}";
  return json;
}

}  // namespace sideband::daemon
