// SPDX-License-Identifier: Apache-2.0
#include "proto/base/errors.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>

#include "absl/base/config.h"
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

// Returns the standard error of a program that ends with 1.
template <typename Exception>
std::string LineOf(const Exception& exception) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunProgram("p", [&]() -> int { throw exception; }), 1);
  return testing::internal::GetCapturedStderr();
}

TEST(TextTest, LineErrorNamesTheLine) {
  EXPECT_EQ(LineError("a.yaml", 7, "what").message(), "a.yaml:7: what");
  EXPECT_EQ(LineError("a.yaml", 0, "what").message(), "a.yaml: what");
}

TEST(TextTest, ExitCodeTellsInputFromRuntime) {
  EXPECT_EQ(ReportAndExitCode("p", absl::OkStatus()), 0);
  EXPECT_EQ(ReportAndExitCode("p", absl::InvalidArgumentError("x")), 2);
  EXPECT_EQ(ReportAndExitCode("p", absl::NotFoundError("x")), 2);
  EXPECT_EQ(ReportAndExitCode("p", absl::UnavailableError("x")), 1);
}

TEST(TextTest, EveryErrorOfAListHasItsLine) {
  ErrorList errors;
  EXPECT_EQ(ReportAndExitCode("p", errors), 0);
  errors.Add(absl::UnavailableError("y"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(ReportAndExitCode("p", errors), 1);
  errors.Add(absl::InvalidArgumentError("x"));
  EXPECT_EQ(ReportAndExitCode("p", errors), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "p: y\np: y\np: x\n");
}

TEST(TextTest, ReportStaysOnOneLine) {
  testing::internal::CaptureStderr();
  ReportAndExitCode("p", absl::InvalidArgumentError("bad\nname"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "p: bad\\x0aname\n");
}

TEST(ProgramTest, ReturnsWhatMainDoes) {
  for (const int code : {0, 2, 130}) EXPECT_EQ(RunProgram("p", [code] { return code; }), code);
}

TEST(ProgramTest, AnExceptionIsOneLine) {
  const auto not_there = std::make_error_code(std::errc::no_such_file_or_directory);
  EXPECT_EQ(LineOf(std::filesystem::filesystem_error("cannot", "/no\npe", not_there)),
            "p: /no\\x0ape: No such file or directory\n");
  EXPECT_EQ(LineOf(std::filesystem::filesystem_error("cannot", not_there)),
            "p: filesystem error: cannot: No such file or directory\n");
  EXPECT_EQ(LineOf(std::bad_alloc()), "p: out of memory\n");
  EXPECT_EQ(LineOf(std::runtime_error("two\nlines")), "p: two\\x0alines\n");
}

// More memory than any machine has.
void AllocateTooMuch() { ::operator delete(::operator new (size_t{1} << 62)); }

TEST(ProgramDeathTest, WantOfMemoryHasALastLine) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
  GTEST_SKIP() << "the sanitizer ends the process first, with a report of its own";
#endif
  EXPECT_EXIT(
      {
        AbortWhenOutOfMemory("p");
        AllocateTooMuch();
      },
      testing::KilledBySignal(SIGABRT), "^p: out of memory\n$");
}

}  // namespace
}  // namespace sideband
