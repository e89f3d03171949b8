// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/audit_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "proto/audit/chain.h"
#include "proto/base/file.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

class AuditFilesTest : public testing::Test {
 protected:
  AuditFilesTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  absl::Status Open() {
    files_.reset();
    auto files = AuditFiles::Open(options_);
    if (files.ok()) files_ = *std::move(files);
    return files.status();
  }

  // The next entry of the chain, as a line with its break.
  std::string Next() {
    const std::string line = EncodeAuditLine({.entry = {.sequence = ++sequence_}, .prev = head_});
    head_ = AuditHash(line);
    return line + "\n";
  }

  // The next two lines.
  std::string NextTwo() {
    std::string first = Next();
    return first + Next();
  }

  void Append(int count) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(files_->Append(Next()), absl::OkStatus());
  }

  std::string Content(const std::string& suffix = "") const { return *ReadFile(options_.path + suffix); }
  void Write(const std::string& text, const std::string& suffix = "") const {
    std::ofstream(options_.path + suffix) << text;
  }
  bool Exists(const std::string& suffix) const { return std::filesystem::exists(options_.path + suffix); }

  std::vector<uint64_t> ReadAfter(uint64_t after, size_t bytes_max = 1 << 20) {
    const auto text = files_->ReadAfter(after, bytes_max);
    EXPECT_TRUE(text.ok()) << text.status();
    EXPECT_LE(text->size(), bytes_max);
    std::vector<uint64_t> sequences;
    for (absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
      sequences.push_back(DecodeAuditLine(line)->entry.sequence);
    }
    return sequences;
  }

  const std::string folder_ = testing::TempDir() + "audit_files/";
  AuditFiles::Options options_{.path = folder_ + "audit.jsonl", .max_bytes = 1000, .files = 3};
  std::unique_ptr<AuditFiles> files_;
  uint64_t sequence_ = 0;
  std::string head_ = kAuditNoPrev;
};

TEST_F(AuditFilesTest, ANewLogIsForItsOwnerOnly) {
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_EQ(files_->end().sequence, 0u);
  EXPECT_EQ(files_->end().head, kAuditNoPrev);
  struct stat file;
  ASSERT_EQ(::stat(options_.path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(AuditFilesTest, AnOldLogIsMadeForItsOwnerOnly) {
  Write(Next());
  ASSERT_EQ(::chmod(options_.path.c_str(), 0644), 0);
  ASSERT_EQ(Open(), absl::OkStatus());
  struct stat file;
  ASSERT_EQ(::stat(options_.path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(AuditFilesTest, FindsTheEndOfTheChain) {
  ASSERT_EQ(Open(), absl::OkStatus());
  Append(3);
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_EQ(files_->end().sequence, 3u);
  EXPECT_EQ(files_->end().head, head_);
  EXPECT_EQ(files_->end().bytes_cut_off, 0u);
}

TEST_F(AuditFilesTest, EveryUnfinishedLineIsCutOff) {
  const std::string whole = NextTwo(), third = Next();
  for (size_t size = 1; size < third.size(); ++size) {
    Write(whole + third.substr(0, size));
    ASSERT_EQ(Open(), absl::OkStatus());
    EXPECT_EQ(files_->end().sequence, 2u);
    EXPECT_EQ(files_->end().bytes_cut_off, size);
    ASSERT_EQ(files_->Append(third), absl::OkStatus());
    EXPECT_EQ(Content(), whole + third);
  }
}

TEST_F(AuditFilesTest, AnUnfinishedFirstLineIsCutOff) {
  const std::string first = Next();
  for (size_t size = 1; size < first.size(); ++size) {
    Write(first.substr(0, size));
    ASSERT_EQ(Open(), absl::OkStatus()) << first.substr(0, size);
    EXPECT_EQ(files_->end().sequence, 0u);
    EXPECT_EQ(files_->end().bytes_cut_off, size);
    ASSERT_EQ(files_->Append(first), absl::OkStatus());
    EXPECT_EQ(Content(), first);
  }
}

TEST_F(AuditFilesTest, WhatIsNotALogIsLeftAlone) {
  struct Row {
    std::string text, error;
  };
  for (const Row& row : {
           Row{"key: value", "audit.jsonl: not an audit log"},
           Row{std::string(100'000, 'x'), "audit.jsonl: not an audit log"},
           Row{"{\"sequence\":" + std::string(100'000, '1'), "audit.jsonl: not an audit log"},
           Row{"\n",
               "audit.jsonl: the last entry cannot be continued: not a JSON object; move the file away to begin a "
               "new log"},
           Row{"key: value\n",
               "audit.jsonl: the last entry cannot be continued: not a JSON object; move the file away "
               "to begin a new log"},
       }) {
    Write(row.text);
    EXPECT_EQ(Open(), absl::InvalidArgumentError(folder_ + row.error));
    EXPECT_EQ(Content(), row.text);
  }
}

TEST_F(AuditFilesTest, OnlyRegularFiles) {
  options_.path = "/dev/null";
  EXPECT_EQ(Open(), absl::InvalidArgumentError("/dev/null: not a regular file"));
  options_.path = folder_;
  EXPECT_FALSE(Open().ok());
  std::filesystem::create_symlink("/etc/passwd", folder_ + "link");
  options_.path = folder_ + "link";
  EXPECT_FALSE(Open().ok());
  options_.path = folder_ + "none/audit.jsonl";
  EXPECT_EQ(Open().code(), absl::StatusCode::kNotFound);
}

TEST_F(AuditFilesTest, OneWriterAtATime) {
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_EQ(AuditFiles::Open(options_).status(),
            absl::FailedPreconditionError(options_.path + ": another process writes this audit log"));
}

TEST_F(AuditFilesTest, RotatesAndKeepsTheNewest) {
  ASSERT_EQ(Open(), absl::OkStatus());
  Append(40);
  EXPECT_FALSE(Exists(".4"));
  for (const char* suffix : {"", ".1", ".2", ".3"}) {
    EXPECT_LE(Content(suffix).size(), options_.max_bytes) << suffix;
    EXPECT_GT(Content(suffix).size(), 0u) << suffix;
  }
  const std::vector<uint64_t> kept = ReadAfter(0);
  EXPECT_EQ(kept.back(), 40u);
  for (size_t i = 1; i < kept.size(); ++i) EXPECT_EQ(kept[i], kept[i - 1] + 1);
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_EQ(files_->end().head, head_);
}

TEST_F(AuditFilesTest, TheChainGoesOnAfterARotationThatWasCutShort) {
  Write(NextTwo(), ".1");
  ASSERT_EQ(Open(), absl::OkStatus()) << "killed before the new file was made";
  EXPECT_EQ(files_->end().sequence, 2u);
  EXPECT_EQ(files_->end().head, head_);
  Append(1);
  EXPECT_EQ(ReadAfter(0), std::vector<uint64_t>({1, 2, 3}));
  // Killed in the middle of a line: the line is removed, and the chain ends in the older file.
  Write("{\"sequ");
  sequence_ = 2;
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_EQ(files_->end().sequence, 2u);
  EXPECT_EQ(files_->end().bytes_cut_off, 6u);
}

TEST_F(AuditFilesTest, AFileThatIsTakenAwayIsMadeAnew) {
  ASSERT_EQ(Open(), absl::OkStatus());
  Append(1);
  std::filesystem::remove(options_.path);
  Append(1);
  EXPECT_EQ(ReadAfter(0), (std::vector<uint64_t>{2}));
  std::filesystem::rename(options_.path, folder_ + "elsewhere");
  Append(1);
  EXPECT_EQ(ReadAfter(0), (std::vector<uint64_t>{3})) << "the chain goes on";
}

TEST_F(AuditFilesTest, AFilePutInItsPlaceIsMadeForItsOwnerOnly) {
  ASSERT_EQ(Open(), absl::OkStatus());
  Append(1);
  std::filesystem::remove(options_.path);
  std::ofstream(options_.path).flush();
  ASSERT_EQ(::chmod(options_.path.c_str(), 0644), 0);
  Append(1);
  struct stat file;
  ASSERT_EQ(::stat(options_.path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(AuditFilesTest, AGapInTheNamesIsClosed) {
  ASSERT_EQ(Open(), absl::OkStatus());
  Append(10);
  ASSERT_TRUE(Exists(".2"));
  std::filesystem::rename(options_.path + ".2", options_.path + ".3");
  std::filesystem::rename(options_.path + ".1", options_.path + ".2");
  Append(5);
  EXPECT_EQ(ReadAfter(0).back(), 15u);
  EXPECT_TRUE(Exists(".1"));
}

TEST_F(AuditFilesTest, ReadsAfterASequenceInPieces) {
  options_.files = 100;
  ASSERT_EQ(Open(), absl::OkStatus());
  EXPECT_TRUE(ReadAfter(0).empty());
  Append(50);
  EXPECT_EQ(ReadAfter(0).size(), 50u);
  EXPECT_EQ(ReadAfter(48), std::vector<uint64_t>({49, 50}));
  EXPECT_TRUE(ReadAfter(50).empty());
  EXPECT_TRUE(ReadAfter(UINT64_MAX).empty());
  uint64_t after = 0, pieces = 0;
  for (; after < 50; ++pieces) {
    const std::vector<uint64_t> piece = ReadAfter(after, 1500);
    ASSERT_FALSE(piece.empty());
    EXPECT_EQ(piece.front(), after + 1);
    after = piece.back();
  }
  EXPECT_GT(pieces, 5u);
}

TEST_F(AuditFilesTest, ADamagedFileIsNamed) {
  ASSERT_EQ(Open(), absl::OkStatus());
  Append(6);
  ASSERT_TRUE(Exists(".1"));
  Write("something else\n", ".1");
  EXPECT_EQ(files_->ReadAfter(0, 1 << 20).status(), absl::DataLossError(options_.path + ".1: a line is not an entry"));
}

// The part of a line that fitted on a full disk is removed.
TEST_F(AuditFilesTest, AFullDiskLeavesWholeLines) {
  options_.max_bytes = 1 << 20;
  ASSERT_EQ(Open(), absl::OkStatus());
  Append(3);
  const std::string before = Content();
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{}, small{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  small = {.rlim_cur = before.size() + 10, .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string next = Next();
  const absl::Status full = files_->Append(next);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_FALSE(full.ok());
  EXPECT_TRUE(absl::StartsWith(std::string(full.message()), options_.path));
  EXPECT_EQ(Content(), before);
  EXPECT_EQ(files_->Append(next), absl::OkStatus());
  EXPECT_EQ(Content(), before + next);
}

TEST_F(AuditFilesTest, ReadersSeeWholeLinesWhileItIsWrittenAndRotated) {
  options_.max_bytes = 5000;
  ASSERT_EQ(Open(), absl::OkStatus());
  const TimeLimit limit("3000 lines");
  std::thread writer([this] { Append(3000); });
  uint64_t newest = 0;
  while (newest < 3000) {
    const std::vector<uint64_t> read = ReadAfter(newest);
    for (size_t i = 1; i < read.size(); ++i) ASSERT_EQ(read[i], read[i - 1] + 1);
    if (!read.empty()) newest = read.back();
  }
  writer.join();
}

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
