// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/zst_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {

absl::StatusOr<std::unique_ptr<TraceFile>> ZstFile::Take(std::unique_ptr<TraceFile> packed) {
  auto file = std::unique_ptr<ZstFile>(new ZstFile(std::move(packed)));
  if (file->stream_ == nullptr) return absl::ResourceExhaustedError("no memory to unpack zstd data");
  return file;
}

ZstFile::ZstFile(std::unique_ptr<TraceFile> packed)
    : packed_(std::move(packed)),
      stream_(ZSTD_createDStream()),
      buffer_(ZSTD_DStreamInSize()),
      input_{.src = buffer_.data(), .size = 0, .pos = 0} {}

absl::StatusOr<size_t> ZstFile::Read(std::span<char> buffer) {
  ZSTD_outBuffer out{.dst = buffer.data(), .size = buffer.size(), .pos = 0};
  while (out.pos < out.size) {
    const size_t before = out.pos;
    SIDEBAND_RETURN_IF_ERROR(Unpack(out));
    // The stream may hold decompressed data although input_ is used up.
    if (out.pos > before || input_.pos < input_.size) continue;
    SIDEBAND_ASSIGN_OR_RETURN(const bool has_more, Refill());
    if (has_more) continue;
    if (is_within_frame_) return absl::InvalidArgumentError("the zstd data is cut off");
    break;
  }
  return out.pos;
}

absl::Status ZstFile::Unpack(ZSTD_outBuffer& out) {
  // Between frames and without input there is nothing to decompress.
  if (input_.pos == input_.size && !is_within_frame_) return absl::OkStatus();
  const size_t wanted = ZSTD_decompressStream(stream_.get(), &out, &input_);
  if (ZSTD_isError(wanted) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the zstd data is damaged: ", ZSTD_getErrorName(wanted)));
  }
  is_within_frame_ = wanted != 0;
  return absl::OkStatus();
}

absl::StatusOr<bool> ZstFile::Refill() {
  SIDEBAND_ASSIGN_OR_RETURN(const size_t size, packed_->Read(buffer_));
  input_ = {.src = buffer_.data(), .size = size, .pos = 0};
  return size > 0;
}

}  // namespace sideband::sim
