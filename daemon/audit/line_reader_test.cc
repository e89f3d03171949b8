// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/line_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "proto/audit/entry.h"
#include "proto/base/descriptor.h"

namespace sideband::daemon {
namespace {

class LineReaderTest : public testing::Test {
 protected:
  absl::Status Read(const std::string& text, uint64_t size, size_t lines_max = SIZE_MAX) {
    const std::string path = testing::TempDir() + "line_reader_test";
    std::ofstream(path) << text;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    lines_.clear();
    return ForEachLine(file.get(), size, "log", [&](absl::string_view line) {
      lines_.emplace_back(line);
      return lines_.size() < lines_max;
    });
  }

  std::vector<std::string> lines_;
};

TEST_F(LineReaderTest, GivesWholeLines) {
  EXPECT_EQ(Read("a\n\nbc\nd", 7), absl::OkStatus());
  EXPECT_EQ(lines_, std::vector<std::string>({"a\n", "\n", "bc\n"}));
  EXPECT_EQ(Read("a\n\nbc\nd", 5), absl::OkStatus()) << "only the first bytes count";
  EXPECT_EQ(lines_, std::vector<std::string>({"a\n", "\n"}));
  EXPECT_EQ(Read("a\nb\n", 4, 1), absl::OkStatus());
  EXPECT_EQ(lines_, std::vector<std::string>({"a\n"}));
  EXPECT_EQ(Read("a\n", 100), absl::OkStatus()) << "the file may be shorter";
  EXPECT_EQ(lines_, std::vector<std::string>({"a\n"}));
}

TEST_F(LineReaderTest, LinesCrossPieces) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += std::string(static_cast<size_t>(i % 91), 'x') + "\n";
  EXPECT_EQ(Read(text, text.size()), absl::OkStatus());
  EXPECT_EQ(lines_.size(), 30'000u);
  std::string together;
  for (const std::string& line : lines_) together += line;
  EXPECT_EQ(together, text);
}

TEST_F(LineReaderTest, AnEndlessLineIsAnError) {
  EXPECT_EQ(Read(std::string(1 << 20, 'x'), 1 << 20), absl::DataLossError("log: a line is too long"));
  const std::string longest = std::string(kAuditLineBytesMax, 'x') + "\n";
  EXPECT_EQ(Read(longest, longest.size()), absl::OkStatus());
  EXPECT_EQ(lines_, std::vector<std::string>{longest});
  EXPECT_EQ(Read("x" + longest, longest.size() + 1), absl::DataLossError("log: a line is too long"));
}

TEST_F(LineReaderTest, FindsTheSequence) {
  EXPECT_EQ(*SequenceOf(EncodeAuditLine({.entry = {.sequence = 18446744073709551615u}, .prev = kAuditNoPrev}), "log"),
            18446744073709551615u);
  for (const char* bad : {"", "{\"sequence\":", "{\"sequence\":,", "{\"sequence\":-1,", "{\"Sequence\":1,",
                          "{\"sequence\":18446744073709551616,", "{\"sequence\":1x,"}) {
    EXPECT_EQ(SequenceOf(bad, "log").status(), absl::DataLossError("log: a line is not an entry")) << bad;
  }
}

}  // namespace
}  // namespace sideband::daemon
