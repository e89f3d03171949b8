// SPDX-License-Identifier: Apache-2.0
#include "client/bus/stream_follower.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/command_text.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/stream.h"

namespace sideband::client {

using mailbox::Opcode;

namespace {

// The facts of a stream's header.
struct Summary {
  std::string name;
  std::string base{};
  std::string tag{};
};

Summary SummaryOf(const mailbox::StreamHeader& header) {
  const uint32_t id = header.snapshot_id;
  switch (header.kind) {
    case mailbox::StreamKind::kCatalog:
      return {"catalogue"};
    case mailbox::StreamKind::kSnapshot:
      return {absl::StrCat("snapshot ", id),
              header.base_id == 0 ? "" : absl::StrCat(" since snapshot ", header.base_id)};
    case mailbox::StreamKind::kPeek:
      return {.name = "live counters", .tag = absl::StrCat(", tag ", id)};
    case mailbox::StreamKind::kTimeline:
      return {absl::StrCat("timeline from trigger ", id, " on")};
    case mailbox::StreamKind::kHulls:
      return {absl::StrCat("hulls from trigger ", id, " on")};
    case mailbox::StreamKind::kConfig:
      return {"configuration"};
    case mailbox::StreamKind::kPlan:
      return {"plan"};
    case mailbox::StreamKind::kExchange:
      return {"exchange of keys"};
  }
  return {absl::StrFormat("kind 0x%02X", static_cast<uint8_t>(header.kind))};
}

}  // namespace

void StreamFollower::Command(const mailbox::CommandWord& command, const DataRegisters& in) {
  if (!OpensStream(command)) return;
  const bool is_at_start = command.opcode == Opcode::kLatch || command.opcode == Opcode::kPeek;
  const bool is_offset_extended = command.opcode == Opcode::kRotate || command.opcode == Opcode::kTrigger;
  const auto& given = is_offset_extended ? in.extended_data : in.data;
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
  const Summary summary = SummaryOf(header);
  return absl::StrFormat("%s complete: %d bytes%s, CRC ok%s, boot %016x", summary.name, *length_, summary.base,
                         summary.tag, header.boot_id);
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
