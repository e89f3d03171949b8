// SPDX-License-Identifier: Apache-2.0
#include "proto/base/error_list.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace sideband {
namespace {

TEST(ErrorListTest, KeepsErrorsInTheirOrder) {
  ErrorList errors;
  EXPECT_TRUE(errors.empty());
  EXPECT_TRUE(errors.First().ok());
  EXPECT_TRUE(errors.Add(absl::OkStatus()));
  EXPECT_FALSE(errors.Add(absl::NotFoundError("one")));
  EXPECT_FALSE(errors.Add(absl::InvalidArgumentError("two")));
  EXPECT_EQ(errors.count(), 2u);
  EXPECT_EQ(errors.First(), absl::NotFoundError("one"));
  EXPECT_EQ(errors.All(), (std::vector<absl::Status>{absl::NotFoundError("one"), absl::InvalidArgumentError("two")}));
}

TEST(ErrorListTest, TakesAValueOrKeepsTheDefault) {
  ErrorList errors;
  int number = 7;
  EXPECT_FALSE(errors.Take(absl::StatusOr<int>(absl::InvalidArgumentError("no number")), number));
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(errors.Take(absl::StatusOr<int>(8), number));
  EXPECT_EQ(number, 8);
  EXPECT_EQ(errors.count(), 1u);
}

TEST(ErrorListTest, KeepsARepeatedErrorOnce) {
  ErrorList errors;
  EXPECT_FALSE(errors.Add(absl::NotFoundError("f:5: one")));
  EXPECT_FALSE(errors.Add(absl::NotFoundError("f:6: one")));
  EXPECT_FALSE(errors.Add(absl::NotFoundError("f:5: one")));
  EXPECT_EQ(errors.count(), 2u);
}

TEST(ErrorListTest, IsBounded) {
  ErrorList errors;
  for (size_t i = 0; i < ErrorList::kErrorsMax; ++i) errors.Add(absl::InvalidArgumentError(absl::StrCat(i)));
  EXPECT_EQ(errors.All().size(), ErrorList::kErrorsMax) << "none is left out";
  errors.Add(absl::InvalidArgumentError("101st"));
  errors.Add(absl::InvalidArgumentError("102nd"));
  EXPECT_EQ(errors.count(), ErrorList::kErrorsMax + 2);
  EXPECT_EQ(errors.All().back().message(), "and 2 more errors");
}

}  // namespace
}  // namespace sideband
