// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/process.h"

#include <gtest/gtest.h>
#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>

#include <chrono>
#include <string>

namespace sideband::daemon {
namespace {

std::string Line(LogFormat format, const std::string& text) {
  const spdlog::log_clock::time_point at(std::chrono::milliseconds(1'763'806'811'482));
  const spdlog::details::log_msg message(at, spdlog::source_loc{}, "", spdlog::level::warn, text);
  spdlog::memory_buf_t out;
  MakeLogFormatter(format)->clone()->format(message, out);
  return {out.data(), out.size()};
}

TEST(LogFormatterTest, EachFormatHasTheSameFields) {
  EXPECT_EQ(Line(LogFormat::kText, "device gpu0: away"), "2025-11-22T10:20:11.482Z warning device gpu0: away\n");
  EXPECT_EQ(Line(LogFormat::kLogfmt, "device gpu0: away"),
            "time=2025-11-22T10:20:11.482Z level=warning msg=\"device gpu0: away\"\n");
  EXPECT_EQ(Line(LogFormat::kJson, "device gpu0: away"),
            "{\"time\":\"2025-11-22T10:20:11.482Z\",\"level\":\"warning\",\"msg\":\"device gpu0: away\"}\n");
}

TEST(LogFormatterTest, WhatCouldEndAStringIsEscaped) {
  EXPECT_EQ(Line(LogFormat::kLogfmt, "a \"b\"\n\\c\xff"),
            "time=2025-11-22T10:20:11.482Z level=warning msg=\"a \\\"b\\\"\\\\x0a\\\\c\\\\xff\"\n");
}

TEST(LogFormatterTest, ATerminalInterpretsNothing) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kLogfmt, LogFormat::kJson}) {
    const std::string line = Line(format, "vm \x1b[2J\r\xE2\x80\xAE\xE2\x81\xA6");
    EXPECT_EQ(line.find_first_of("\x1b\r\xE2"), std::string::npos) << line;
  }
  EXPECT_EQ(Line(LogFormat::kText, "a\nb\x1b"), "2025-11-22T10:20:11.482Z warning a\\x0ab\\x1b\n");
}

}  // namespace

}  // namespace sideband::daemon
