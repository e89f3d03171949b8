// SPDX-License-Identifier: Apache-2.0
//
// A line of the audit log; README.md defines the format, with an example.
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

}  // namespace sideband

#endif  // SIDEBAND_PROTO_AUDIT_ENTRY_H_
