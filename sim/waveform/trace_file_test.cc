// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zstd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/waveform/test_files.h"

namespace sideband::sim {
namespace {

std::string Zstd(const std::string& content) {
  std::string packed(ZSTD_compressBound(content.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), content.data(), content.size(), 3));
  return packed;
}

// The whole file, read in parts of `piece` bytes.
absl::StatusOr<std::string> ReadInPieces(const std::string& path, size_t piece = 1000) {
  const auto file = OpenTraceFile(path);
  if (!file.ok()) return file.status();
  std::string text;
  for (std::vector<char> buffer(piece);;) {
    const auto size = (*file)->Read(buffer);
    if (!size.ok()) return size.status();
    text.append(buffer.data(), *size);
    if (*size < piece) return text;
  }
}

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, "#", i * 7919 % 10'007, "\n");
  return text;
}

TEST(TraceFileTest, TheFirstBytesSayWhatItIs) {
  const std::string text = Lines(100'000);
  for (const std::string& content :
       {text, Gzipped(text), Zstd(text), Zstd(text.substr(0, 99)) + Zstd(text.substr(99))}) {
    const std::string path = WriteTestFile(content, "t");
    for (const size_t piece : {size_t{1} << 18, size_t{4093}}) EXPECT_EQ(*ReadInPieces(path, piece), text);
  }
  EXPECT_EQ(*ReadInPieces(WriteTestFile(Zstd("ab"), "t"), 1), "ab");
  EXPECT_EQ(*ReadInPieces(WriteTestFile("", "t.zst")), "");
}

TEST(TraceFileTest, DamagedZstdIsRefused) {
  const std::string packed = Zstd(Lines(10'000));
  for (const size_t size : {packed.size() - 1, packed.size() / 2, size_t{5}, size_t{4}}) {
    EXPECT_EQ(ReadInPieces(WriteTestFile(packed.substr(0, size), "t")).status().message(), "the zstd data is cut off")
        << size;
  }
  std::string damaged = packed;
  damaged[damaged.size() / 2] ^= 1;
  damaged[5] ^= 0x40;
  const absl::Status status = ReadInPieces(WriteTestFile(damaged, "t")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().substr(0, 25), "the zstd data is damaged:") << status;
  EXPECT_FALSE(ReadInPieces(WriteTestFile(packed + "garbage", "t")).ok());
}

// A folder with a program fst2vcd, first in $PATH during the object's lifetime.
class FakeFst2Vcd {
 public:
  explicit FakeFst2Vcd(const std::string& script) : path_(std::getenv("PATH")) {
    const std::string folder = WriteTestFile("", "folder") + ".d";
    ::mkdir(folder.c_str(), 0755);
    const std::string program = folder + "/fst2vcd";
    FILE* const file = std::fopen(program.c_str(), "w");
    std::fputs(("#!/bin/sh\n" + script).c_str(), file);
    std::fclose(file);
    ::chmod(program.c_str(), 0755);
    ::setenv("PATH", absl::StrCat(folder, ":", path_).c_str(), 1);
  }
  ~FakeFst2Vcd() { ::setenv("PATH", path_.c_str(), 1); }

 private:
  const std::string path_;
};

// A header as in real FST files: a block of type 0 with 329 bytes.
std::string Fst(const std::string& rest) { return std::string("\0\0\0\0\0\0\0\x01\x49", 9) + rest; }

TEST(FstFileTest, IsReadThroughTheProgram) {
  const std::string text = Lines(100'000);
  const FakeFst2Vcd program("[ \"$1\" = -f ] || exit 3\nexec tail -c +10 \"$2\"\n");
  EXPECT_EQ(*ReadInPieces(WriteTestFile(Fst(text), "t; $(touch x).fst")), text) << "no shell sees the name";
  EXPECT_EQ(*ReadInPieces(WriteTestFile("\xfe"
                                        "12345678" +
                                            text,
                                        "t.fst")),
            text)
      << "packed as a whole";
}

TEST(FstFileTest, AProgramThatFailsIsAnError) {
  const FakeFst2Vcd program("echo some text\nexit 1\n");
  EXPECT_EQ(ReadInPieces(WriteTestFile(Fst(""), "t.fst")).status().message(),
            "fst2vcd does not read the FST data to its end");
}

TEST(FstFileTest, AProgramThatIsNotReadToItsEndIsEnded) {
  const FakeFst2Vcd program("exec yes\n");
  const auto file = OpenTraceFile(WriteTestFile(Fst(""), "t.fst"));
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<char> buffer(100);
  EXPECT_EQ((*file)->Read(buffer).value_or(0), 100u);
}

TEST(FstFileTest, AMissingProgramIsNamed) {
  const std::string path = WriteTestFile(Fst(""), "t.fst");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", testing::TempDir().c_str(), 1);
  const absl::Status status = ReadInPieces(path).status();
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), absl::StrCat(path,
                                           ": an FST file is read through the program fst2vcd, which is not installed "
                                           "(Debian's package gtkwave)"));
}

TEST(TraceFileTest, AFileThatIsNotThereIsNotFound) {
  EXPECT_EQ(ReadInPieces("/nonexistent/t.fst").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::sim
