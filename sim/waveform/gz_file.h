// SPDX-License-Identifier: Apache-2.0
//
// A gzip or plain file.
#ifndef SIDEBAND_SIM_WAVEFORM_GZ_FILE_H_
#define SIDEBAND_SIM_WAVEFORM_GZ_FILE_H_

#include <zlib.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "sim/waveform/trace_file.h"

namespace sideband::sim {

class GzFile final : public TraceFile {
 public:
  // Takes ownership of the descriptor; `path` is for messages.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Take(int descriptor, const std::string& path);

  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  struct Closer {
    void operator()(gzFile file) const { gzclose(file); }
  };

  explicit GzFile(gzFile file) : file_(file) {}
  absl::Status ReadError() const;

  const std::unique_ptr<gzFile_s, Closer> file_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_GZ_FILE_H_
