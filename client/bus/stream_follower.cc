// SPDX-License-Identifier: Apache-2.0
#include "client/bus/stream_follower.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/stream.h"

namespace sideband::client {

using mailbox::Opcode;

void StreamFollower::Command(const mailbox::CommandWord& command, const DataRegisters& in) {
  if (!OpensStream(command)) return;
  const bool is_at_start = command.opcode == Opcode::kLatch || command.opcode == Opcode::kPeek;
  const auto& given = command.opcode == Opcode::kRotate ? in.extended_data : in.data;
  const std::optional<uint32_t> offset = is_at_start ? 0 : given;
  const std::string name = StreamSubject(command, in);
  // A READ from a later byte of the same stream continues it; any other command starts anew.
  if (!open_.has_value() || open_->name != name || offset.value_or(0) == 0) Forget();
  open_ = Open{.name = name, .offset = offset};
  if (command.arg2 != 0) open_->window_bytes = command.arg2;
  // Controllers do not have to read a peek's length, which follows from its bitmap.
  if (command.opcode == Opcode::kPeek && in.data && in.extended_data) {
    length_ = mailbox::PeekStreamBytes(static_cast<size_t>(std::popcount(*in.data)) + std::popcount(*in.extended_data));
  }
}

void StreamFollower::Latched(uint32_t snapshot_id) {
  if (open_.has_value()) open_->name = absl::StrCat("snapshot ", snapshot_id);
}

void StreamFollower::Forget() {
  budget_.bytes_left += kept_.size();
  kept_ = {};
  length_.reset();
  is_told_ = false;
}

void StreamFollower::Keep(uint64_t begin, ByteSpan bytes) {
  if (begin > kept_.size() || begin + bytes.size() <= kept_.size()) return;  // a gap, or no new bytes
  const ByteSpan fresh = bytes.subspan(kept_.size() - begin);
  // Without space in the budget the stream is never complete.
  if (fresh.size() > budget_.bytes_left) return;
  budget_.bytes_left -= fresh.size();
  kept_.insert(kept_.end(), fresh.begin(), fresh.end());
}

std::string StreamFollower::Completed() {
  if (is_told_ || !length_.has_value() || *length_ == 0 || kept_.size() != *length_) return "";
  is_told_ = true;
  const auto stream = mailbox::DecodeStream(kept_);
  if (!stream.ok()) return absl::StrCat(*length_, " bytes complete, but ", stream.status().message());
  const mailbox::StreamHeader& header = stream->header;
  if (header.kind == mailbox::StreamKind::kCatalog) {
    return absl::StrFormat("catalogue complete: %d bytes, CRC ok, boot %016x", *length_, header.boot_id);
  }
  if (header.kind == mailbox::StreamKind::kPeek) {
    return absl::StrFormat("live counters complete: %d bytes, CRC ok, tag %d, boot %016x", *length_, header.snapshot_id,
                           header.boot_id);
  }
  if (header.kind == mailbox::StreamKind::kConfig) {
    return absl::StrFormat("configuration complete: %d bytes, CRC ok, boot %016x", *length_, header.boot_id);
  }
  if (header.kind == mailbox::StreamKind::kPlan) {
    return absl::StrFormat("plan complete: %d bytes, CRC ok, boot %016x", *length_, header.boot_id);
  }
  const std::string base = header.base_id == 0 ? "" : absl::StrCat(" since snapshot ", header.base_id);
  return absl::StrFormat("snapshot %d complete: %d bytes%s, CRC ok, boot %016x", header.snapshot_id, *length_, base,
                         header.boot_id);
}

StreamFollower::WindowText StreamFollower::Window(uint8_t index, ByteSpan bytes) {
  if (bytes.empty()) return {"nothing there", ""};
  // The stream was opened before the trace began, or its offset is unknown.
  if (!open_.has_value() || !open_->offset.has_value()) return {absl::StrCat(bytes.size(), " bytes"), ""};
  const uint64_t begin = uint64_t{*open_->offset} + uint64_t{index} * open_->window_bytes;
  const std::string of = length_.has_value() ? absl::StrCat(" of ", *length_) : "";
  WindowText result{absl::StrCat("bytes ", begin, " to ", begin + bytes.size() - 1, of, " of ", open_->name), ""};
  Keep(begin, bytes);
  result.completed = Completed();
  return result;
}

}  // namespace sideband::client
