// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/zst_file.h"

#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {

absl::StatusOr<std::unique_ptr<TraceFile>> ZstFile::Take(int descriptor) {
  auto file = std::unique_ptr<ZstFile>(new ZstFile(descriptor));
  if (file->stream_ == nullptr) return absl::ResourceExhaustedError("no memory to unpack zstd data");
  return file;
}

ZstFile::ZstFile(int descriptor)
    : descriptor_(descriptor),
      stream_(ZSTD_createDStream()),
      buffer_(ZSTD_DStreamInSize()),
      packed_{.src = buffer_.data(), .size = 0, .pos = 0} {}

ZstFile::~ZstFile() { ::close(descriptor_); }

absl::StatusOr<size_t> ZstFile::Read(std::span<char> buffer) {
  ZSTD_outBuffer out{.dst = buffer.data(), .size = buffer.size(), .pos = 0};
  while (out.pos < out.size) {
    const size_t before = out.pos;
    SIDEBAND_RETURN_IF_ERROR(Unpack(out));
    // The stream may hold decompressed data although packed_ is used up.
    if (out.pos > before || packed_.pos < packed_.size) continue;
    SIDEBAND_ASSIGN_OR_RETURN(const bool has_more, Refill());
    if (has_more) continue;
    if (is_within_frame_) return absl::InvalidArgumentError("the zstd data is cut off");
    break;
  }
  return out.pos;
}

absl::Status ZstFile::Unpack(ZSTD_outBuffer& out) {
  // Between frames and without input there is nothing to decompress.
  if (packed_.pos == packed_.size && !is_within_frame_) return absl::OkStatus();
  const size_t wanted = ZSTD_decompressStream(stream_.get(), &out, &packed_);
  if (ZSTD_isError(wanted) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the zstd data is damaged: ", ZSTD_getErrorName(wanted)));
  }
  is_within_frame_ = wanted != 0;
  return absl::OkStatus();
}

absl::StatusOr<bool> ZstFile::Refill() {
  ssize_t size = 0;
  do {
    size = ::read(descriptor_, buffer_.data(), buffer_.size());
  } while (size < 0 && errno == EINTR);
  if (size < 0) return absl::ErrnoToStatus(errno, "cannot be read");
  packed_ = {.src = buffer_.data(), .size = static_cast<size_t>(size), .pos = 0};
  return size > 0;
}

}  // namespace sideband::sim
