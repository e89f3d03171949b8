// SPDX-License-Identifier: Apache-2.0
#include "proto/audit/chain.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

absl::StatusOr<File> Open(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(Descriptor opened, OpenForReading(path));
  File file(fdopen(opened.get(), "rb"));
  if (file == nullptr) return ErrnoStatus(errno, path);
  opened.Release();
  return file;
}

// Reads up to `size` bytes; fewer only at the end of the file.
absl::StatusOr<std::string> Read(std::FILE* file, const std::string& path, size_t size) {
  std::string bytes(size, '\0');
  bytes.resize(std::fread(bytes.data(), 1, size, file));
  return std::ferror(file) == 0 ? absl::StatusOr<std::string>(bytes) : ErrnoStatus(errno, path);
}

// The sequence of the first entry; 0 for an empty file.
absl::StatusOr<uint64_t> FirstSequence(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const File file, Open(path));
  // One byte more than the longest line, so that a longer line is rejected.
  SIDEBAND_ASSIGN_OR_RETURN(const std::string start, Read(file.get(), path, kAuditLineBytesMax + 1));
  if (start.empty()) return 0;
  const auto line = DecodeAuditLine(absl::string_view(start).substr(0, start.find('\n')));
  if (!line.ok()) return AtLine(absl::DataLossError(line.status().message()), path, 1);
  return line->entry.sequence;
}

}  // namespace

void ChainVerifier::BeginFile(absl::string_view name) {
  file_ = std::string(name);
  line_number_ = 0;
  rest_.clear();
}

void ChainVerifier::Feed(absl::string_view bytes) {
  while (!bytes.empty() && !is_broken()) {
    const size_t line_break = bytes.find('\n');
    const absl::string_view piece = bytes.substr(0, line_break);
    // One byte beyond the maximum is enough to reject the line.
    rest_.append(piece.data(), std::min(piece.size(), kAuditLineBytesMax + 1 - rest_.size()));
    if (rest_.size() > kAuditLineBytesMax) {
      ++line_number_;
      return Break("the line is too long");
    }
    if (line_break == absl::string_view::npos) return;
    bytes.remove_prefix(line_break + 1);
    Line(std::exchange(rest_, std::string()));
  }
}

void ChainVerifier::EndFile() {
  if (is_broken() || rest_.empty()) return;
  ++line_number_;
  Break("the line is unfinished: the daemon is writing it, or was killed while writing it");
}

absl::Status ChainVerifier::End() const {
  SIDEBAND_RETURN_IF_ERROR(broken_);
  // A head that occurs in the chain proves that the log was not truncated before it.
  if (options_.head.empty() || !summary_.anchor_at.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("no entry has the head ", options_.head,
                                          ": entries after the last one were cut off, or the log was rewritten"));
}

void ChainVerifier::Line(absl::string_view text) {
  ++line_number_;
  const auto line = DecodeAuditLine(text);
  if (!line.ok()) return Break(std::string(line.status().message()));
  if (const absl::Status placed = CheckPlace(*line); !placed.ok()) return Break(std::string(placed.message()));
  Take(*line, text);
}

absl::Status ChainVerifier::CheckPlace(const AuditLine& line) const {
  const uint64_t sequence = line.entry.sequence;
  const bool is_first_ever = sequence == 1;
  // Only the first entry of a log has no predecessor.
  if (is_first_ever != (line.prev == kAuditNoPrev)) {
    return absl::DataLossError("'prev' must be zero in entry 1, and only there");
  }
  if (summary_.entries == 0) return absl::OkStatus();
  if (sequence != summary_.last_sequence + 1) {
    return absl::DataLossError(absl::StrCat("sequence ", sequence, " after ", summary_.last_sequence));
  }
  if (line.prev != summary_.head) {
    return absl::DataLossError(
        absl::StrCat("'prev' is not the hash of entry ", summary_.last_sequence, ": one of the two was changed"));
  }
  return absl::OkStatus();
}

void ChainVerifier::Take(const AuditLine& line, absl::string_view text) {
  const AuditEntry& entry = line.entry;
  if (summary_.entries == 0) {
    summary_.first_sequence = entry.sequence;
    summary_.first_time = entry.time;
    // A clock that was set back is not evidence of tampering, so it is only noted.
  } else if (entry.time < summary_.last_time) {
    Note(absl::StrCat("the time goes back by ", absl::FormatDuration(summary_.last_time - entry.time)));
  }
  ++summary_.entries;
  summary_.last_sequence = entry.sequence;
  summary_.last_time = entry.time;
  summary_.lost += entry.lost;
  summary_.repeated += entry.repeated;
  summary_.head = AuditHash(text);
  if (!summary_.anchor_at.empty()) ++summary_.entries_after_anchor;
  if (summary_.head == options_.head) summary_.anchor_at = absl::StrCat(file_, ":", line_number_);
  if (options_.on_line) options_.on_line(line);
}

void ChainVerifier::Break(absl::string_view what) {
  broken_ = AtLine(absl::DataLossError(what), file_, line_number_);
  rest_.clear();
}

void ChainVerifier::Note(absl::string_view what) {
  if (summary_.notes.size() < kAuditNotesMax) {
    summary_.notes.push_back(absl::StrCat(file_, ":", line_number_, ": ", what));
  } else {
    ++summary_.notes_left_out;
  }
}

absl::StatusOr<std::vector<std::string>> OrderedAuditFiles(std::vector<std::string> paths) {
  std::vector<std::pair<uint64_t, std::string>> found;
  for (std::string& path : paths) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t sequence, FirstSequence(path));
    found.emplace_back(sequence, std::move(path));
  }
  std::ranges::stable_sort(found, {}, &std::pair<uint64_t, std::string>::first);
  std::vector<std::string> ordered;
  for (auto& [sequence, path] : found) ordered.push_back(std::move(path));
  return ordered;
}

absl::Status FeedAuditFiles(const std::vector<std::string>& paths, ChainVerifier& chain) {
  constexpr size_t kPieceBytes = 64 << 10;
  for (const std::string& path : paths) {
    SIDEBAND_ASSIGN_OR_RETURN(const File file, Open(path));
    chain.BeginFile(path);
    while (!chain.is_broken()) {
      SIDEBAND_ASSIGN_OR_RETURN(const std::string piece, Read(file.get(), path, kPieceBytes));
      if (piece.empty()) break;
      chain.Feed(piece);
    }
    chain.EndFile();
  }
  return absl::OkStatus();
}

}  // namespace sideband
