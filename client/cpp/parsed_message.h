// SPDX-License-Identifier: Apache-2.0
//
// Messages of the API from their text, for tests.
#ifndef SIDEBAND_CLIENT_CPP_PARSED_MESSAGE_H_
#define SIDEBAND_CLIENT_CPP_PARSED_MESSAGE_H_

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

namespace sideband::library {

template <typename Message>
Message Parsed(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_PARSED_MESSAGE_H_
