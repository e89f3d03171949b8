// SPDX-License-Identifier: Apache-2.0
#include "proto/audit/chain.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband {
namespace {

using nlohmann::ordered_json;

constexpr const char* kKinds[] = {"start", "stop", "access", "policy", "view", "lost", "device"};
constexpr const char* kDecisions[] = {"", "allow", "deny"};
constexpr char kTimeFormat[] = "%E4Y-%m-%dT%H:%M:%E6SZ";
constexpr size_t kTimeSize = sizeof("2026-01-02T03:04:05.123456Z") - 1;
constexpr char kCut[] = "...";

bool IsPlain(char byte) { return absl::ascii_isprint(static_cast<unsigned char>(byte)) && byte != '\\'; }

template <size_t N>
std::optional<size_t> IndexOf(const char* const (&names)[N], absl::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<size_t>(found - std::begin(names));
}

// Reads the mandatory members of an object and records the first error. Order and notation are not checked here:
// DecodeAuditLine() compares the whole line.
class Members {
 public:
  explicit Members(const ordered_json& json) : json_(json) {}

  // nullptr if the member is absent or of another type.
  const ordered_json* Find(const char* name, ordered_json::value_t type) {
    const auto member = json_.find(name);
    if (member != json_.end() && member->type() == type) return &*member;
    if (wrong_.empty()) wrong_ = name;
    return nullptr;
  }
  std::string Text(const char* name) {
    const ordered_json* member = Find(name, ordered_json::value_t::string);
    return member == nullptr ? "" : member->get<std::string>();
  }
  uint64_t Number(const char* name) {
    const ordered_json* member = Find(name, ordered_json::value_t::number_unsigned);
    return member == nullptr ? 0 : member->get<uint64_t>();
  }
  template <typename Enum, size_t N>
  Enum OneOf(const char* name, const char* const (&names)[N]) {
    const auto index = IndexOf(names, Text(name));
    if (!index && wrong_.empty()) wrong_ = name;
    return static_cast<Enum>(index.value_or(0));
  }
  std::vector<std::string> Texts(const char* name) {
    std::vector<std::string> texts;
    if (!json_.contains(name)) return texts;
    const ordered_json* list = Find(name, ordered_json::value_t::array);
    if (list == nullptr) return texts;
    for (const ordered_json& text : *list) {
      if (!text.is_string() && wrong_.empty()) wrong_ = name;
      if (text.is_string()) texts.push_back(text.get<std::string>());
    }
    return texts;
  }
  absl::Time Time(const char* name) {
    const std::string text = Text(name);
    absl::Time time;
    const bool good = text.size() == kTimeSize && absl::ParseTime(absl::RFC3339_full, text, &time, nullptr);
    if (!good && wrong_.empty()) wrong_ = name;
    return time;
  }

  absl::Status status() const {
    return wrong_.empty() ? absl::OkStatus()
                          : absl::InvalidArgumentError(absl::StrCat("'", wrong_, "' is missing or invalid"));
  }

 private:
  const ordered_json& json_;
  std::string wrong_;  // the first missing or malformed member
};

AuditLine ReadMembers(const ordered_json& json, Members& members) {
  AuditLine line;
  AuditEntry& entry = line.entry;
  entry.sequence = members.Number("sequence");
  entry.time = members.Time("time");
  entry.kind = members.OneOf<AuditKind>("kind", kKinds);
  entry.principal = members.Text("principal");
  entry.role = members.Text("role");
  entry.endpoint = members.Text("endpoint");
  entry.resource = members.Text("resource");
  entry.decision = members.OneOf<AuditDecision>("decision", kDecisions);
  entry.reason = members.Text("reason");
  entry.policy_version = members.Number("policy_version");
  // `lost` and `repeated` are written only if they are not 0.
  if (json.contains("lost")) entry.lost = members.Number("lost");
  if (json.contains("repeated")) entry.repeated = members.Number("repeated");
  entry.detail = members.Texts("detail");
  line.prev = members.Text("prev");
  return line;
}

// The texts of a decoded line are already escaped.
std::string TakenText(const std::string& text) { return text; }

template <typename ToText>
std::string Write(const AuditLine& line, ToText to_text) {
  const AuditEntry& entry = line.entry;
  ordered_json json;
  json["sequence"] = entry.sequence;
  json["time"] = AuditTimeText(entry.time);
  json["kind"] = AuditKindName(entry.kind);
  json["principal"] = to_text(entry.principal);
  json["role"] = to_text(entry.role);
  json["endpoint"] = to_text(entry.endpoint);
  json["resource"] = to_text(entry.resource);
  json["decision"] = AuditDecisionName(entry.decision);
  json["reason"] = to_text(entry.reason);
  json["policy_version"] = entry.policy_version;
  if (entry.lost != 0) json["lost"] = entry.lost;
  if (entry.repeated != 0) json["repeated"] = entry.repeated;
  // With at most so many texts no line exceeds kAuditLineBytesMax.
  for (size_t i = 0; i < std::min(entry.detail.size(), kAuditDetailMax); ++i) {
    json["detail"].push_back(to_text(entry.detail[i]));
  }
  json["prev"] = line.prev;
  return json.dump(-1, ' ', /*ensure_ascii=*/true, ordered_json::error_handler_t::replace);
}

bool IsAuditText(absl::string_view text) {
  return text.size() <= kAuditTextBytesMax && std::all_of(text.begin(), text.end(), absl::ascii_isprint);
}

absl::Status CheckTexts(const AuditEntry& entry) {
  const auto good = [](const std::string& text) { return IsAuditText(text); };
  const std::initializer_list<std::string> texts = {entry.principal, entry.role, entry.endpoint, entry.resource,
                                                    entry.reason};
  if (std::all_of(texts.begin(), texts.end(), good) && std::all_of(entry.detail.begin(), entry.detail.end(), good)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("a text is too long or not printable");
}

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

const char* AuditKindName(AuditKind kind) { return kKinds[static_cast<size_t>(kind)]; }
const char* AuditDecisionName(AuditDecision decision) { return kDecisions[static_cast<size_t>(decision)]; }

std::string AuditText(absl::string_view text) {
  constexpr size_t kCutAt = kAuditTextBytesMax - (sizeof(kCut) - 1);
  std::string plain;
  size_t uncut = 0;  // size after the last whole byte of `text` that leaves space for kCut
  for (const char byte : text) {
    if (plain.size() <= kCutAt) uncut = plain.size();
    if (plain.size() > kAuditTextBytesMax) break;
    plain += IsPlain(byte) ? std::string(1, byte) : absl::StrFormat("\\x%02x", static_cast<uint8_t>(byte));
  }
  return plain.size() <= kAuditTextBytesMax ? plain : plain.substr(0, uncut) + kCut;
}

std::string AuditTimeText(absl::Time time) {
  static const absl::Time kFirst = absl::FromCivil(absl::CivilSecond(0), absl::UTCTimeZone());
  static const absl::Time kLast = absl::FromCivil(absl::CivilSecond(9999, 12, 31, 23, 59, 59), absl::UTCTimeZone());
  // Other years have more digits, but a time in a line has a fixed length.
  return absl::FormatTime(kTimeFormat, std::clamp(time, kFirst, kLast), absl::UTCTimeZone());
}

std::string EncodeAuditLine(const AuditLine& line) { return Write(line, AuditText); }

absl::StatusOr<AuditLine> DecodeAuditLine(absl::string_view text) {
  if (text.size() > kAuditLineBytesMax) return absl::InvalidArgumentError("the line is too long");
  const auto json = ordered_json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("not a JSON object");
  Members members(json);
  AuditLine line = ReadMembers(json, members);
  SIDEBAND_RETURN_IF_ERROR(members.status());
  SIDEBAND_RETURN_IF_ERROR(CheckTexts(line.entry));
  if (!IsAuditHash(line.prev)) return absl::InvalidArgumentError("'prev' is not a hash");
  if (line.entry.sequence == 0) return absl::InvalidArgumentError("'sequence' begins at 1");
  // A canonical encoding: no member may be reordered, repeated or written differently.
  if (Write(line, TakenText) != text) return absl::InvalidArgumentError("not in canonical form");
  return line;
}

std::string AuditHash(absl::string_view line) {
  std::array<uint8_t, SHA256_DIGEST_LENGTH> hash;
  SHA256(reinterpret_cast<const uint8_t*>(line.data()), line.size(), hash.data());
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

bool IsAuditHash(absl::string_view text) {
  return text.size() == sizeof(kAuditNoPrev) - 1 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

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
