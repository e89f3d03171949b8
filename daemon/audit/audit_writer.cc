// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/audit_writer.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// The bytes that are appended at once, so that they are stored as a whole or not at all. The smallest file holds one
// piece.
constexpr size_t kPieceBytes = kAuditLineBytesMax + 1;

}  // namespace

AuditWriter::AuditWriter(const AuditFiles::ChainEnd& end, AuditStorage& storage, const Clock& clock,
                         AuditMetrics& metrics, Options options)
    : storage_(storage),
      clock_(clock),
      metrics_(metrics),
      options_(options),
      sequence_(end.sequence),
      head_(end.head) {}

void AuditWriter::Lose(uint64_t entries) {
  if (entries == 0) return;
  lost_ += entries;
  metrics_.AuditLost(entries);
}

absl::Status AuditWriter::AppendPiece(std::vector<AuditEntry>& entries, size_t& begin) {
  std::string piece, head = head_;
  size_t end = begin;
  for (; end < entries.size(); ++end) {
    entries[end].sequence = sequence_ + (end - begin) + 1;
    const std::string line = EncodeAuditLine({.entry = entries[end], .prev = head});
    // The longest line fits into an empty piece, so that every piece has an entry.
    if (piece.size() + line.size() + 1 > kPieceBytes) break;
    head = AuditHash(line);
    piece += line + "\n";
  }
  // The chain advances only after a successful append.
  SIDEBAND_RETURN_IF_ERROR(storage_.Append(piece));
  metrics_.AuditWritten(end - begin);
  sequence_ += end - begin;
  head_ = std::move(head);
  is_dirty_ = true;
  begin = end;
  return absl::OkStatus();
}

absl::Status AuditWriter::AppendLostEntry() {
  if (lost_ == 0) return absl::OkStatus();
  std::vector<AuditEntry> entry = {{.time = clock_.Now(), .kind = AuditKind::kLost, .lost = lost_}};
  size_t begin = 0;
  SIDEBAND_RETURN_IF_ERROR(AppendPiece(entry, begin));
  lost_ = 0;
  return absl::OkStatus();
}

absl::Status AuditWriter::Write(std::vector<AuditEntry> entries) {
  size_t written = 0;
  absl::Status status = AppendLostEntry();
  while (status.ok() && written < entries.size()) status = AppendPiece(entries, written);
  for (; written < entries.size(); ++written) Lose(RepresentedEntries(entries[written]));
  return status;
}

absl::Status AuditWriter::SyncIfDue() {
  const bool is_due = clock_.Steady() - last_sync_ >= options_.sync_interval;
  return is_due ? Sync() : sync_status_;
}

absl::Status AuditWriter::Sync() {
  if (!is_dirty_) return absl::OkStatus();
  // Set for a failed sync, too, so that it is retried once an interval.
  last_sync_ = clock_.Steady();
  sync_status_ = storage_.Sync();
  is_dirty_ = !sync_status_.ok();
  return sync_status_;
}

}  // namespace sideband::daemon
