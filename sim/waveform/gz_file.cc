// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/gz_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

constexpr size_t kPackedBytes = size_t{1} << 16;
// The largest window, and a gzip header.
constexpr int kWindow = MAX_WBITS + 16;

absl::Status UnpackError(int code, const char* message) {
  if (code == Z_MEM_ERROR) return absl::ResourceExhaustedError("no memory to unpack the gzip data");
  return absl::InvalidArgumentError(
      absl::StrCat("the gzip data is damaged: ", message == nullptr ? "it needs a dictionary" : message));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceFile>> GzFile::Take(std::unique_ptr<TraceFile> packed) {
  auto file = std::unique_ptr<GzFile>(new GzFile(std::move(packed)));
  if (inflateInit2(&file->stream_, kWindow) != Z_OK) return UnpackError(Z_MEM_ERROR, nullptr);
  return file;
}

GzFile::GzFile(std::unique_ptr<TraceFile> packed) : packed_(std::move(packed)), buffer_(kPackedBytes) {}

GzFile::~GzFile() { inflateEnd(&stream_); }

absl::StatusOr<size_t> GzFile::Read(std::span<char> buffer) {
  stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
  stream_.avail_out = static_cast<uInt>(buffer.size());
  while (stream_.avail_out > 0 && !at_end_) SIDEBAND_RETURN_IF_ERROR(Unpack());
  return buffer.size() - stream_.avail_out;
}

absl::Status GzFile::Unpack() {
  if (stream_.avail_in == 0) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool has_more, Refill());
    if (!has_more) return absl::InvalidArgumentError("the gzip data is cut off");
  }
  const int code = inflate(&stream_, Z_NO_FLUSH);
  if (code == Z_OK) return absl::OkStatus();
  if (code != Z_STREAM_END) return UnpackError(code, stream_.msg);
  SIDEBAND_ASSIGN_OR_RETURN(const bool has_member, FindMember());
  at_end_ = !has_member;
  inflateReset(&stream_);
  return absl::OkStatus();
}

absl::StatusOr<bool> GzFile::FindMember() {
  if (stream_.avail_in == 0) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool has_more, Refill());
    if (!has_more) return false;
  }
  // The first byte of a member; padding is of NUL bytes.
  return *stream_.next_in == 0x1f;
}

absl::StatusOr<bool> GzFile::Refill() {
  SIDEBAND_ASSIGN_OR_RETURN(const size_t size, packed_->Read(buffer_));
  stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
  stream_.avail_in = static_cast<uInt>(size);
  return size > 0;
}

}  // namespace sideband::sim
