// SPDX-License-Identifier: Apache-2.0
//
// A gzip file (RFC 1952): one or more consecutive members. What follows them and is none is ignored, as by gzip.
#ifndef SIDEBAND_SIM_WAVEFORM_GZ_FILE_H_
#define SIDEBAND_SIM_WAVEFORM_GZ_FILE_H_

#include <zlib.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/waveform/trace_file.h"

namespace sideband::sim {

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

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_GZ_FILE_H_
