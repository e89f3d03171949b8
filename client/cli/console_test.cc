// SPDX-License-Identifier: Apache-2.0
#include "client/cli/console.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace sideband::client {
namespace {

TEST(FdOutputTest, WritesEverything) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  FdOutput out(ends[1], "standard output");
  EXPECT_EQ(out.Write("hello"), absl::OkStatus());
  char buffer[8];
  EXPECT_EQ(std::string(buffer, ::read(ends[0], buffer, sizeof(buffer))), "hello");
  EXPECT_FALSE(out.closed());
}

TEST(FdOutputTest, AReaderThatLeftIsNoError) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  FdOutput out(ends[1], "standard output");
  EXPECT_EQ(out.Write("hello").code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(out.closed());
}

TEST(FdOutputTest, AFullDiskIs) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  FdOutput out(full, "standard output");
  const absl::Status status = out.Write("hello");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message().substr(0, 17), "standard output: ");
  EXPECT_FALSE(out.closed());
  ::close(full);
}

}  // namespace
}  // namespace sideband::client
