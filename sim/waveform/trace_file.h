// SPDX-License-Identifier: Apache-2.0
//
// A waveform file read sequentially as the text of a VCD file: decompressed if it is gzip or zstd, converted if it is
// FST, unchanged otherwise.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto file, OpenTraceFile("t.vcd.zst"));
//   SIDEBAND_ASSIGN_OR_RETURN(const size_t size, file->Read(buffer));
#ifndef SIDEBAND_SIM_WAVEFORM_TRACE_FILE_H_
#define SIDEBAND_SIM_WAVEFORM_TRACE_FILE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

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

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TRACE_FILE_H_
