// SPDX-License-Identifier: Apache-2.0
//
// The audit log: its lines, whose format README.md defines with an example, and the hash chain through them, whose
// first break is found.
//   const std::string line = EncodeAuditLine({.entry = entry, .prev = head});   // without its line break
//   head = AuditHash(line);
//   SIDEBAND_ASSIGN_OR_RETURN(const AuditLine read, DecodeAuditLine(line));
//
// Files are verified oldest first:
//   SIDEBAND_ASSIGN_OR_RETURN(const auto files, OrderedAuditFiles({"audit.jsonl", "audit.jsonl.1"}));
//   ChainVerifier chain({.head = head_noted_elsewhere});
//   SIDEBAND_RETURN_IF_ERROR(FeedAuditFiles(files, chain));
//   SIDEBAND_RETURN_IF_ERROR(chain.End());   // DATA_LOSS "audit.jsonl:12: sequence 12 after 10"
//
// Bytes from elsewhere:
//   chain.BeginFile("audit.jsonl");
//   while (ReadMore(bytes)) chain.Feed(bytes);
//   chain.EndFile();
#ifndef SIDEBAND_PROTO_AUDIT_CHAIN_H_
#define SIDEBAND_PROTO_AUDIT_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband {

inline constexpr size_t kAuditTextBytesMax = 256;
inline constexpr size_t kAuditDetailMax = 32;
// Escaping of quotation marks can double the size of texts.
inline constexpr size_t kAuditLineBytesMax = 32 << 10;
// `prev` of a log's first entry.
inline constexpr char kAuditNoPrev[] = "0000000000000000000000000000000000000000000000000000000000000000";

enum class AuditKind : uint8_t {
  kStart,   // the daemon starts logging
  kStop,    // the daemon stops in order
  kAccess,  // a request for data
  kPolicy,  // the policy file was read
  kView,    // a group's view of a device was computed
  kLost,    // entries could not be written
  kDevice,  // a device reported implausible data
};

enum class AuditDecision : uint8_t { kNone, kAllow, kDeny };

// Texts may come from untrusted peers; AuditText() escapes them in the log.
struct AuditEntry {
  uint64_t sequence = 0;  // from 1, without gaps, across restarts and rotations
  absl::Time time;        // microsecond resolution
  AuditKind kind = AuditKind::kAccess;
  std::string principal;  // an identity; empty: unauthenticated, or the daemon itself
  std::string role;       // "operator", "tenant:NAME", …; empty if unauthenticated
  std::string endpoint;   // "GET /metrics", "Telemetry/GetSnapshot", …
  std::string resource;   // the requested resource
  AuditDecision decision = AuditDecision::kNone;
  std::string reason;
  uint64_t policy_version = 0;      // counted in this run of the daemon; 0 if the policy was not consulted
  uint64_t lost = 0;                // kLost: number of entries not written
  uint64_t repeated = 0;            // kAccess: number of further entries like this one, which is the last
  std::vector<std::string> detail;  // at most kAuditDetailMax

  bool operator==(const AuditEntry&) const = default;
};

// An entry with the hash of its predecessor.
struct AuditLine {
  AuditEntry entry;
  std::string prev;  // AuditHash() of the line before, or kAuditNoPrev

  bool operator==(const AuditLine&) const = default;
};

// "start", "access", …; "", "allow", "deny".
const char* AuditKindName(AuditKind kind);
const char* AuditDecisionName(AuditDecision decision);

// Escapes `text` for the log. Printable ASCII is kept; a backslash and every other byte become \xNN, so that different
// texts never look alike. A result longer than kAuditTextBytesMax is cut and ends in "...".
std::string AuditText(absl::string_view text);

// RFC 3339 in UTC with six digits of a second. Times outside the years 0000 to 9999 are clamped.
std::string AuditTimeText(absl::Time time);

// One line of JSON without its line break; at most kAuditLineBytesMax bytes.
std::string EncodeAuditLine(const AuditLine& line);

// Accepts a line only if its entry, encoded again, is identical byte for byte. INVALID_ARGUMENT, with a one-line
// message, for all other lines.
absl::StatusOr<AuditLine> DecodeAuditLine(absl::string_view text);

// SHA-256 of the line without its line break, as 64 lower-case hexadecimal digits.
std::string AuditHash(absl::string_view line);
bool IsAuditHash(absl::string_view text);

inline constexpr size_t kAuditNotesMax = 16;

// Summary of the entries verified so far.
struct ChainSummary {
  uint64_t entries = 0;
  uint64_t first_sequence = 0;  // above 1: older files are missing, their content is unknown
  uint64_t last_sequence = 0;
  absl::Time first_time;
  absl::Time last_time;
  uint64_t lost = 0;                  // number of entries that the daemon reports as not written
  uint64_t repeated = 0;              // number of unauthenticated denials that were counted instead of written
  std::string head = kAuditNoPrev;    // the hash of the last line
  std::string anchor_at;              // "FILE:LINE" of the line whose hash is Options::head
  uint64_t entries_after_anchor = 0;  // valid only with anchor_at
  std::vector<std::string> notes;     // irregularities that break nothing, "FILE:LINE: …"; at most kAuditNotesMax
  uint64_t notes_left_out = 0;
};

// Verifies a chain. The chain alone does not show that its end was cut off, or that the whole log was rewritten; this
// needs a head that was stored out of the log writer's reach. Memory is bounded for any input. Not thread-safe.
class ChainVerifier {
 public:
  struct Options {
    std::string head;                               // a hash that some line must have; empty: not checked
    std::function<void(const AuditLine&)> on_line;  // called for each line that continues the chain; may be empty
  };
  explicit ChainVerifier(Options options) : options_(std::move(options)) {}

  // `name` appears in messages.
  void BeginFile(absl::string_view name);
  // Takes the file's bytes in pieces of any size, in order. Input after a break is ignored.
  void Feed(absl::string_view bytes);
  // A file that does not end with a line break is a break.
  void EndFile();
  // OK, or DATA_LOSS for the first break, or if no line has Options::head.
  absl::Status End() const;

  bool is_broken() const { return !broken_.ok(); }
  const ChainSummary& summary() const { return summary_; }

 private:
  void Line(absl::string_view line);
  // Checks the line's sequence and `prev` against the chain.
  absl::Status CheckPlace(const AuditLine& line) const;
  void Take(const AuditLine& line, absl::string_view text);
  void Break(absl::string_view what);
  void Note(absl::string_view what);

  const Options options_;
  std::string file_;
  uint64_t line_number_ = 0;
  std::string rest_;  // an unfinished line; at most kAuditLineBytesMax and one byte
  absl::Status broken_;
  ChainSummary summary_;
};

// Sorts the files by the sequence of their first entries; empty files come first. Returns ReadFile's error for an
// unreadable file, INVALID_ARGUMENT for a file that is not regular (it could not be read twice), and DATA_LOSS "FILE:1:
// reason" for a file that does not begin with an entry.
absl::StatusOr<std::vector<std::string>> OrderedAuditFiles(std::vector<std::string> paths);

// Reads all files, in bounded memory. Returns read errors only; the verification's result is in `chain`.
absl::Status FeedAuditFiles(const std::vector<std::string>& paths, ChainVerifier& chain);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_AUDIT_CHAIN_H_
