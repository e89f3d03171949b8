// SPDX-License-Identifier: Apache-2.0
//
// A file in GTKWave's FST format, which GTKWave's program fst2vcd converts during the read.
#ifndef SIDEBAND_SIM_WAVEFORM_FST_FILE_H_
#define SIDEBAND_SIM_WAVEFORM_FST_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/waveform/trace_file.h"

namespace sideband::sim {

// The program is searched for in $PATH and runs as long as this object lives; its error output is discarded. It runs
// with the user's rights, like the user's own call of it on the file.
class FstFile final : public TraceFile {
 public:
  // NOT_FOUND if fst2vcd is not installed.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Open(const std::string& path);
  ~FstFile() override;

  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  FstFile(pid_t program, int output) : program_(program), output_(output) {}
  // Waits for the program's end. OK if it succeeded.
  absl::Status End();

  pid_t program_;  // 0: already waited for
  const int output_;
  absl::Status ended_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_FST_FILE_H_
