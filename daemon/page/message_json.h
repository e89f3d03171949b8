// SPDX-License-Identifier: Apache-2.0
//
// Messages of the API in the JSON form of Protocol Buffers, with the names of the .proto file. Fields that have their
// defaults are there, too, so that a reader finds what it reads.
//   const std::string json = MessageJson(response);
#ifndef SIDEBAND_DAEMON_PAGE_MESSAGE_JSON_H_
#define SIDEBAND_DAEMON_PAGE_MESSAGE_JSON_H_

#include <google/protobuf/message.h>

#include <string>

namespace sideband::daemon {

std::string MessageJson(const google::protobuf::Message& message);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_PAGE_MESSAGE_JSON_H_
