// SPDX-License-Identifier: Apache-2.0
//
// Follows the chain through an audit log's files, oldest first, and tells where it breaks.
//   ChainVerifier chain({.head = head_noted_elsewhere});
//   chain.BeginFile("audit.jsonl");
//   while (…) chain.Feed(bytes);
//   chain.EndFile();
//   SIDEBAND_RETURN_IF_ERROR(chain.End());   // DATA_LOSS "audit.jsonl:12: sequence 12 after 10"
#ifndef SIDEBAND_PROTO_AUDIT_CHAIN_H_
#define SIDEBAND_PROTO_AUDIT_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/audit/entry.h"

namespace sideband {

inline constexpr size_t kAuditNotesMax = 16;

// What a chain is, as far as it has been followed.
struct ChainSummary {
  uint64_t entries = 0;
  uint64_t first_sequence = 0;  // above 1: older files are not there, and what was in them is unknown
  uint64_t last_sequence = 0;
  absl::Time first_time;
  absl::Time last_time;
  uint64_t lost = 0;                  // how many entries the daemon itself says it could not write
  uint64_t repeated = 0;              // how many denials of nobody it has counted instead of writing each
  std::string head = kAuditNoPrev;    // the hash of the last line
  std::string anchor_at;              // "FILE:LINE" of the line whose hash was asked for
  uint64_t entries_after_anchor = 0;  // meaningful with anchor_at
  std::vector<std::string> notes;     // what is odd but breaks nothing: "FILE:LINE: …"; at most kAuditNotesMax
  uint64_t notes_left_out = 0;
};

// What the chain alone cannot tell: whether the end was cut off, or everything rewritten. For that it needs a head that
// was noted where the log's writer cannot reach it. Bounded memory, whatever it is fed. Not thread-safe.
class ChainVerifier {
 public:
  struct Options {
    std::string head;                               // a hash that some line must have; empty: none
    std::function<void(const AuditLine&)> on_line;  // of each line that continues the chain; may be empty
  };
  explicit ChainVerifier(Options options) : options_(std::move(options)) {}

  // `name` is for messages.
  void BeginFile(absl::string_view name);
  // Any piece of the file, in order. After a break nothing more is looked at.
  void Feed(absl::string_view bytes);
  // A file that does not end in a line break is a break.
  void EndFile();
  // OK, or DATA_LOSS with the first break; or that Options::head is of no line.
  absl::Status End() const;

  bool is_broken() const { return !broken_.ok(); }
  const ChainSummary& summary() const { return summary_; }

 private:
  void Line(absl::string_view line);
  // What is wrong with the line, or OK.
  absl::Status CheckPlace(const AuditLine& line) const;
  void Take(const AuditLine& line, absl::string_view text);
  void Break(absl::string_view what);
  void Note(absl::string_view what);

  const Options options_;
  std::string file_;
  uint64_t line_number_ = 0;
  std::string rest_;  // of a line whose break has not come yet; at most kAuditLineBytesMax and one byte
  absl::Status broken_;
  ChainSummary summary_;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_AUDIT_CHAIN_H_
