// SPDX-License-Identifier: Apache-2.0
//
// A line of the audit log; README.md has the format with a worked example.
//   const std::string line = EncodeAuditLine({.entry = entry, .prev = head});   // without its line break
//   head = AuditHash(line);
//   SIDEBAND_ASSIGN_OR_RETURN(const AuditLine read, DecodeAuditLine(line));
#ifndef SIDEBAND_PROTO_AUDIT_ENTRY_H_
#define SIDEBAND_PROTO_AUDIT_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband {

inline constexpr size_t kAuditTextBytesMax = 256;
inline constexpr size_t kAuditDetailMax = 32;
// Texts may double when quotation marks in them are escaped.
inline constexpr size_t kAuditLineBytesMax = 32 << 10;
// The `prev` of the first entry of all.
inline constexpr char kAuditNoPrev[] = "0000000000000000000000000000000000000000000000000000000000000000";

enum class AuditKind : uint8_t {
  kStart,   // the daemon begins to log
  kStop,    // it ends as it should
  kAccess,  // somebody asked for data
  kPolicy,  // the policy file was read
  kView,    // what a group may see of a device was worked out
  kLost,    // entries could not be written
};

enum class AuditDecision : uint8_t { kNone, kAllow, kDeny };

// All texts may come from anywhere: what is written of them is AuditText().
struct AuditEntry {
  uint64_t sequence = 0;  // from 1, without gaps, over restarts and rotations
  absl::Time time;        // a microsecond is the finest
  AuditKind kind = AuditKind::kAccess;
  std::string principal;  // an identity; empty: nobody, or the daemon itself
  std::string role;       // "operator", "tenant:NAME", …; empty for nobody
  std::string endpoint;   // "GET /metrics", "Telemetry/GetSnapshot", …
  std::string resource;   // what was asked for
  AuditDecision decision = AuditDecision::kNone;
  std::string reason;
  uint64_t policy_version = 0;      // counted in this run of the daemon; 0 where no policy was asked
  uint64_t lost = 0;                // of kLost
  uint64_t repeated = 0;            // of kAccess: how many more there were like this one, which is the last of them
  std::vector<std::string> detail;  // at most kAuditDetailMax

  bool operator==(const AuditEntry&) const = default;
};

// An entry and what binds it to the one before.
struct AuditLine {
  AuditEntry entry;
  std::string prev;  // AuditHash() of the line before, or kAuditNoPrev

  bool operator==(const AuditLine&) const = default;
};

// "start", "access", …; "", "allow", "deny".
const char* AuditKindName(AuditKind kind);
const char* AuditDecisionName(AuditDecision decision);

// `text` as the log takes it: printable ASCII stays, a backslash and every other byte is \xNN, so that no two texts
// look alike; what is longer than kAuditTextBytesMax then ends in "...".
std::string AuditText(absl::string_view text);

// RFC 3339 in UTC with six digits of a second. Times outside the years 0000 to 9999 are the nearest in them.
std::string AuditTimeText(absl::Time time);

// One line of JSON without its line break, at most kAuditLineBytesMax bytes.
std::string EncodeAuditLine(const AuditLine& line);

// Takes a line only if its entry, encoded again, is the same byte for byte: there is one way to write each.
// INVALID_ARGUMENT, in one line, for all else.
absl::StatusOr<AuditLine> DecodeAuditLine(absl::string_view text);

// SHA-256 of the line without its break, as 64 lower-case hexadecimal digits.
std::string AuditHash(absl::string_view line);
bool IsAuditHash(absl::string_view text);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_AUDIT_ENTRY_H_
