// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zstd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/wait_until.h"
#include "sim/waveform/test_files.h"

namespace sideband::sim {
namespace {

std::string Zstd(const std::string& content) {
  std::string packed(ZSTD_compressBound(content.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), content.data(), content.size(), 3));
  return packed;
}

// A frame of the seekable format or of pzstd, which a reader passes over.
std::string Skippable(char low_bits = 0) {
  return {static_cast<char>(0x50 | low_bits), 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 'a', 'b'};
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
       {text, Gzipped(text), Gzipped(text.substr(0, 99)) + Gzipped(text.substr(99)), Zstd(text),
        Zstd(text.substr(0, 99)) + Zstd(text.substr(99)), Skippable() + Zstd(text),
        Skippable(15) + Zstd(text.substr(0, 99)) + Skippable() + Zstd(text.substr(99)) + Skippable()}) {
    const std::string path = WriteTestFile(content, "t");
    for (const size_t piece : {size_t{1} << 18, size_t{4093}}) EXPECT_EQ(*ReadInPieces(path, piece), text);
  }
  EXPECT_EQ(*ReadInPieces(WriteTestFile(Zstd("ab"), "t"), 1), "ab");
  EXPECT_EQ(*ReadInPieces(WriteTestFile("", "t.zst")), "");
}

TEST(TraceFileTest, PaddingBehindGzipIsIgnored) {
  for (const char* padding : {"", "x", "padding"}) {
    EXPECT_EQ(*ReadInPieces(WriteTestFile(Gzipped("ab") + std::string(3, '\0') + padding, "t")), "ab");
  }
  EXPECT_EQ(ReadInPieces(WriteTestFile(Gzipped("ab") + "\x1f", "t")).status().message(), "the gzip data is cut off");
}

// The content of a named pipe, whose writer writes the first bytes alone.
absl::StatusOr<std::string> ReadThroughPipe(const std::string& content) {
  const std::string path = WriteTestFile("", "name") + ".pipe";
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const TimeLimit limit("the content of a pipe");
  std::thread writer([&] {
    std::ofstream pipe(path, std::ios::binary);
    pipe << content.substr(0, 3) << std::flush << content.substr(3);
  });
  auto text = ReadInPieces(path);
  writer.join();
  return text;
}

TEST(TraceFileTest, APipeMayHaveEveryFormat) {
  const std::string text = Lines(10'000);
  for (const std::string& content : {text, Gzipped(text), Zstd(text), Skippable() + Zstd(text), std::string("#12")}) {
    EXPECT_EQ(*ReadThroughPipe(content), content.size() == 3 ? content : text);
  }
}

TEST(TraceFileTest, AFormatThatIsNotReadIsNamed) {
  const struct {
    std::string start;
    std::string what;
  } kRows[] = {
      {std::string("\xfd\x37zXZ\0\0\4", 8), "an xz file: unpack it (xz -dc), also into a pipe"},
      {"BZh91AY&SY", "a bzip2 file: unpack it (bzip2 -dc), also into a pipe"},
      {"\x04\x22\x4d\x18\x64\x40", "an lz4 file: unpack it (lz4 -dc), also into a pipe"},
      {"PK\x03\x04\x14", "a zip file: unpack it (unzip -p), also into a pipe"},
      {"GHDLwave\n\x10", "a GHW file of GHDL: write VCD (--vcd=FILE) or FST (--fst=FILE) instead"},
      {std::string("\x13\x80\0\1\x40", 5), "an LXT2 file of GTKWave: convert it with lxt2vcd"},
      {std::string("\x01\x38\0\4\3", 5), "an LXT file of GTKWave: write VCD or FST instead"},
      {std::string("VZ\0\1\x20", 5), "a VZT file of GTKWave: convert it with vzt2vcd"},
  };
  for (const auto& row : kRows) {
    const std::string path = WriteTestFile(row.start + "more", "t");
    const absl::Status status = OpenTraceFile(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), absl::StrCat(path, ": this is ", row.what));
  }
  EXPECT_FALSE(ReadThroughPipe("BZh91AY&SY").ok());
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

TEST(FstFileTest, IsReadFromAPipeThroughACopy) {
  const std::string text = Lines(100'000);
  const FakeFst2Vcd program("[ \"$1\" = -f ] || exit 3\nexec tail -c +10 \"$2\"\n");
  EXPECT_EQ(*ReadThroughPipe(Fst(text)), text);
  const std::string packed = "\xfe" + std::string(16, '\1') + "\x1f\x8b";
  EXPECT_EQ(*ReadThroughPipe(packed + text), packed.substr(9) + text) << "packed as a whole, without a name";
}

TEST(FstFileTest, AProgramThatFailsIsAnError) {
  const auto message = [](const std::string& script) {
    const FakeFst2Vcd program(script);
    return std::string(ReadInPieces(WriteTestFile(Fst(""), "t.fst")).status().message());
  };
  const std::string failed = "fst2vcd does not read the FST data to its end; it may be damaged or cut off";
  EXPECT_EQ(message("echo some text\nexit 1\n"), failed);
  EXPECT_EQ(message("echo \"Could not open 't', exiting.\" >&2\nexit 255\n"),
            failed + ": Could not open 't', exiting.");
  EXPECT_EQ(message("printf 'one\\n\\ntwo\\n' >&2\nexit 1\n"), failed + ": one; two");
  EXPECT_EQ(message("yes e | head -c 400000 >&2 2>/dev/null\nexit 1\n").size(), failed.size() + 2 + 298)
      << "more than a pipe holds: the start, and no waiting";
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
