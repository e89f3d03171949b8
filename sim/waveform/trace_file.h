// SPDX-License-Identifier: Apache-2.0
//
// A waveform file read sequentially as the text of a VCD file: decompressed if it is gzip or zstd, converted if it is
// FST, unchanged otherwise.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto file, OpenTraceFile("t.vcd.zst"));
//   SIDEBAND_ASSIGN_OR_RETURN(const size_t size, file->Read(buffer));
#ifndef SIDEBAND_SIM_WAVEFORM_TRACE_FILE_H_
#define SIDEBAND_SIM_WAVEFORM_TRACE_FILE_H_

#include <sys/types.h>
#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/file.h"

namespace sideband::sim {

// The destructor closes the file. Not thread-safe.
class TraceFile {
 public:
  virtual ~TraceFile() = default;
  // Fills the buffer from its start. A shorter result is the rest of the file. INVALID_ARGUMENT if compressed data is
  // truncated or damaged. Messages do not name the file.
  virtual absl::StatusOr<size_t> Read(std::span<char> buffer) = 0;
};

// The first bytes determine the format, also of a pipe; an FST file from a pipe is first copied to $TMPDIR (/tmp).
// NOT_FOUND: the file is missing, or it is an FST file and the program fst2vcd (package gtkwave) is not installed.
// PERMISSION_DENIED: the file is not readable. INVALID_ARGUMENT: it is in a known format that is not read (xz, GHW …).
absl::StatusOr<std::unique_ptr<TraceFile>> OpenTraceFile(const std::string& path);

// A file in GTKWave's FST format, which GTKWave's program fst2vcd converts during the read.
// The program is searched for in $PATH and runs as long as this object lives. It runs with the user's rights, like the
// user's own call of it on the file. The error of a program that fails has what it wrote to its error output.
class FstFile final : public TraceFile {
 public:
  // If `input` is open, the program reads that file, and `path` is for messages. NOT_FOUND if fst2vcd is not installed.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Open(const std::string& path, Descriptor input = {});
  ~FstFile() override;

  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  FstFile(pid_t program, Descriptor output, Descriptor errors)
      : program_(program), output_(std::move(output)), errors_(std::move(errors)) {}
  // Waits for the program's end. OK if it succeeded.
  absl::Status End();

  pid_t program_;  // 0: already waited for
  Descriptor output_;
  const Descriptor errors_;  // does not block
  absl::Status ended_;
};

// A gzip file (RFC 1952): one or more consecutive members. What follows them and is none is ignored, as by gzip.
class GzFile final : public TraceFile {
 public:
  // `packed` is the compressed file.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Take(std::unique_ptr<TraceFile> packed);
  ~GzFile() override;

  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  explicit GzFile(std::unique_ptr<TraceFile> packed);
  // Decompresses into the rest of stream_'s output.
  absl::Status Unpack();
  // Reads the next part of the file. False at its end.
  absl::StatusOr<bool> Refill();
  // Whether another member follows the last.
  absl::StatusOr<bool> FindMember();

  const std::unique_ptr<TraceFile> packed_;
  std::vector<char> buffer_;
  z_stream stream_{};  // its input is the part of buffer_ that is not decompressed yet
  bool at_end_ = false;
};

// A zstd file (RFC 8878): one or more consecutive frames. Skippable frames, as of pzstd and of the seekable format,
// have no content.
// Allows windows of up to 128 MiB, zstd's default limit; larger windows are rejected.
class ZstFile final : public TraceFile {
 public:
  // `packed` is the compressed file.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Take(std::unique_ptr<TraceFile> packed);

  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  struct Freer {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  explicit ZstFile(std::unique_ptr<TraceFile> packed);
  // Reads the next part of the file. False at the end of the file.
  absl::StatusOr<bool> Refill();
  // Decompresses input_ into the rest of `out`.
  absl::Status Unpack(ZSTD_outBuffer& out);

  const std::unique_ptr<TraceFile> packed_;
  const std::unique_ptr<ZSTD_DStream, Freer> stream_;
  std::vector<char> buffer_;
  ZSTD_inBuffer input_;  // the part of buffer_ that is not decompressed yet
  bool is_within_frame_ = false;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TRACE_FILE_H_
