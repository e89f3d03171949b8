// SPDX-License-Identifier: Apache-2.0
//
// A file read from its beginning to its end, unpacked where it is gzip and as it is where it is not.
//   SIDEBAND_ASSIGN_OR_RETURN(GzFile file, GzFile::Open("t.vcd.gz"));
//   SIDEBAND_ASSIGN_OR_RETURN(const size_t size, file.Read(buffer));
#ifndef SIDEBAND_SIM_WAVEFORM_GZ_FILE_H_
#define SIDEBAND_SIM_WAVEFORM_GZ_FILE_H_

#include <zlib.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace sideband::sim {

// Movable, closes the file with its life. Not thread-safe.
class GzFile {
 public:
  // A missing file is NOT_FOUND, one that may not be read PERMISSION_DENIED.
  static absl::StatusOr<GzFile> Open(const std::string& path);

  // Fills the buffer from its start; what is less than the whole buffer is the rest of the file. gzip data that is cut
  // off or damaged is INVALID_ARGUMENT. Messages do not name the file.
  absl::StatusOr<size_t> Read(std::span<char> buffer);

 private:
  struct Closer {
    void operator()(gzFile file) const { gzclose(file); }
  };

  explicit GzFile(gzFile file) : file_(file) {}
  absl::Status ReadError() const;

  std::unique_ptr<gzFile_s, Closer> file_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_GZ_FILE_H_
