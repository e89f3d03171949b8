// SPDX-License-Identifier: Apache-2.0
#include "proto/base/program.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "absl/base/config.h"

namespace sideband {
namespace {

// Returns the standard error of a program that ends with 1.
template <typename Exception>
std::string LineOf(const Exception& exception) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunProgram("p", [&]() -> int { throw exception; }), 1);
  return testing::internal::GetCapturedStderr();
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
