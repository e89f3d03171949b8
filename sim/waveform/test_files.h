// SPDX-License-Identifier: Apache-2.0
//
// Files for tests, in the test runner's temporary directory.
#ifndef SIDEBAND_SIM_WAVEFORM_TEST_FILES_H_
#define SIDEBAND_SIM_WAVEFORM_TEST_FILES_H_

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

namespace sideband::sim {

// Writes a new file and returns its path, which ends in `name`.
inline std::string WriteTestFile(const std::string& content, const std::string& name = "t.vcd") {
  static int count = 0;
  const std::string path = testing::TempDir() + "/" + std::to_string(count++) + "_" + name;
  std::ofstream file(path, std::ios::binary);
  file << content;
  EXPECT_TRUE(file.good()) << path;
  return path;
}

// `content` compressed with gzip.
inline std::string Gzipped(const std::string& content) {
  constexpr int kGzipWindow = 15 + 16;
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  std::string input = content;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TEST_FILES_H_
