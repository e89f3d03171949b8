// SPDX-License-Identifier: Apache-2.0
//
// Messages as JSON for scripts: field names as in the .proto, zeros included, 64-bit numbers as decimal strings. Boot
// IDs are 16 hexadecimal digits (proto/base/text.h).
#ifndef SIDEBAND_CLIENT_CLI_JSON_H_
#define SIDEBAND_CLIENT_CLI_JSON_H_

#include <string>

namespace google::protobuf {
class Message;
}

namespace sideband::client {

// Several indented lines, with a line break at the end.
std::string ToJson(const google::protobuf::Message& message);
// One line, without a line break.
std::string ToJsonLine(const google::protobuf::Message& message);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_JSON_H_
