// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>

#include "sideband/error.h"
#include "sideband/time.h"

namespace sideband {
namespace {

TEST(ResultTest, HasAValueOrAnError) {
  Result<std::string> good(std::string("a"));
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(good);
  EXPECT_EQ(*good, "a");
  EXPECT_EQ(good->size(), 1u);
  *good += "b";
  EXPECT_EQ(good.value(), "ab");
  const Result<std::string> bad(Error{ErrorCode::kNotFound, "no such VM"});
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), (Error{ErrorCode::kNotFound, "no such VM"}));
}

TEST(ResultTest, HasValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  EXPECT_EQ(*std::move(result).value(), 3);
}

TEST(ResultDeathTest, WhatIsNotThereEndsTheProcess) {
  const Result<int> bad(Error{ErrorCode::kNotFound, "no such VM"});
  EXPECT_DEATH(static_cast<void>(*bad), "the value of a failed Result was used: no such VM");
  const Result<int> good(1);
  EXPECT_DEATH(static_cast<void>(good.error()), "there is no error");
}

TEST(ErrorCodeTest, EachHasItsName) {
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kInvalidArgument), "InvalidArgument");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kInternal), "Internal");
  EXPECT_STREQ(ErrorCodeName(static_cast<ErrorCode>(99)), "Unknown");
}

TEST(TimeTest, IsUtcToTheMillisecond) {
  EXPECT_EQ(FormatTime(Time()), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatTime(Time(std::chrono::nanoseconds(1'763'728'447'958'999'999))), "2025-11-21T12:34:07.958Z");
  EXPECT_EQ(FormatTime(Time(std::chrono::nanoseconds(-1))), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace sideband
