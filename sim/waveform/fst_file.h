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
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/descriptor.h"
#include "sim/waveform/trace_file.h"

namespace sideband::sim {

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

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_FST_FILE_H_
