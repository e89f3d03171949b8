// SPDX-License-Identifier: Apache-2.0
//
// A zstd file (RFC 8878): one or more consecutive frames. Skippable frames, as of pzstd and of the seekable format,
// have no content.
#ifndef SIDEBAND_SIM_WAVEFORM_ZST_FILE_H_
#define SIDEBAND_SIM_WAVEFORM_ZST_FILE_H_

#include <zstd.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/waveform/trace_file.h"

namespace sideband::sim {

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

#endif  // SIDEBAND_SIM_WAVEFORM_ZST_FILE_H_
