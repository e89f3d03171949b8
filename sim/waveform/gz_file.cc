// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/gz_file.h"

#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sideband::sim {

absl::StatusOr<std::unique_ptr<TraceFile>> GzFile::Take(int descriptor, const std::string& path) {
  const gzFile file = gzdopen(descriptor, "rb");
  if (file == nullptr) {
    ::close(descriptor);
    return absl::ResourceExhaustedError(absl::StrCat(path, ": no memory to read it"));
  }
  // zlib's default of 8 KiB costs a tenth of the speed. Plain files are read directly into buffers of at least twice
  // this size.
  gzbuffer(file, 1 << 16);
  return std::unique_ptr<TraceFile>(new GzFile(file));
}

absl::StatusOr<size_t> GzFile::Read(std::span<char> buffer) {
  errno = 0;
  const int size = gzread(file_.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
  if (size == static_cast<int>(buffer.size())) return buffer.size();
  // gzread returns the available bytes at the end of its input; gzerror distinguishes a complete stream from a
  // truncated stream.
  if (absl::Status status = ReadError(); !status.ok()) return status;
  return static_cast<size_t>(size);
}

absl::Status GzFile::ReadError() const {
  int code = Z_OK;
  const absl::string_view message = gzerror(file_.get(), &code);
  switch (code) {
    case Z_OK:
    case Z_STREAM_END:
      return absl::OkStatus();
    case Z_ERRNO:
      return absl::ErrnoToStatus(errno, "cannot be read");
    case Z_BUF_ERROR:
      return absl::InvalidArgumentError("the gzip data is cut off");
    case Z_MEM_ERROR:
      return absl::ResourceExhaustedError("no memory to unpack the gzip data");
    default:
      return absl::InvalidArgumentError(absl::StrCat("the gzip data is damaged: ", message));
  }
}

}  // namespace sideband::sim
