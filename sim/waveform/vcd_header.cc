// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_header.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

template <typename Map, typename Key>
uint32_t FindIn(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? CodeTable::kNone : found->second;
}

// Larger indexes are treated as part of the name; the limit keeps differences from overflowing.
constexpr int64_t kIndexMax = int64_t{1} << 40;

bool ParseIndex(absl::string_view text, int64_t* index) {
  return absl::SimpleAtoi(text, index) && *index <= kIndexMax && *index >= -kIndexMax;
}

// Removes "[l:r]" from the end of the text.
std::optional<BitRange> ConsumeRange(absl::string_view* text) {
  absl::string_view rest = *text;
  if (!absl::ConsumeSuffix(&rest, "]")) return std::nullopt;
  const size_t open = rest.rfind('[');
  if (open == absl::string_view::npos) return std::nullopt;
  const absl::string_view inside = rest.substr(open + 1);
  const size_t colon = inside.find(':');
  BitRange range;
  if (colon == absl::string_view::npos || !ParseIndex(inside.substr(0, colon), &range.left) ||
      !ParseIndex(inside.substr(colon + 1), &range.right)) {
    return std::nullopt;
  }
  *text = rest.substr(0, open);
  return range;
}

// The size of all names that may be suggested: with kSuggestionSizeMax the comparison stays below a second.
constexpr size_t kSuggestionBytesMax = size_t{4} << 20;
// Full names are built for each signal. Real designs have some hundred characters.
constexpr size_t kScopeSizeMax = size_t{1} << 16;
constexpr size_t kWordsMax = 64;
constexpr size_t kPartsMax = 4096;  // each is compared with each

// The range of `[7:0]` in the place of a width, as extended VCD files have it.
std::optional<BitRange> RangeInPlaceOfWidth(const std::string& word) {
  const VarName parsed = ParseShownName(word);
  return parsed.name.empty() ? parsed.range : std::nullopt;
}

BitRange RangeOf(const VcdVar& var) { return {var.left, var.right}; }
int64_t LowOf(const VcdVar& var) { return std::min(var.left, var.right); }
int64_t HighOf(const VcdVar& var) { return std::max(var.left, var.right); }

// Whether both can be parts of one vector. A part of one bit has both directions.
bool CanJoin(const VcdVar& one, const VcdVar& other) {
  const bool is_same_way = one.width == 1 || other.width == 1 || (one.left > one.right) == (other.left > other.right);
  return is_same_way && (LowOf(one) > HighOf(other) || LowOf(other) > HighOf(one));
}

class HeaderReader {
 public:
  HeaderReader(VcdLexer& lexer, absl::flat_hash_set<std::string> wanted) : lexer_(lexer), wanted_(std::move(wanted)) {}

  absl::StatusOr<VcdHeader> Read() &&;

 private:
  absl::Status Section(const std::string& keyword);
  absl::Status Scope();
  absl::Status Upscope();
  absl::Status Var();
  // Declares the wanted signal name_.
  absl::Status WantVar(const std::string& type, const std::string& width, const std::string& code,
                       std::optional<BitRange> range);
  absl::Status Want(const std::string& code, VcdVar var, bool has_range);
  // Adds the signal, which is declared under another code already, to the parts of a vector.
  absl::Status AddPart(const VcdVar& var);
  absl::Status JoinParts();
  absl::StatusOr<VcdVar> Join(const std::string& name, const std::vector<VcdVar>& parts);
  // Whether the keyword belongs to the body of a file without $enddefinitions.
  bool BeginsBody(absl::string_view keyword) const;
  absl::Status CheckWidth(const std::string& name, uint64_t width) const;
  absl::Status DeclaredTwice() const;
  absl::StatusOr<uint32_t> SlotOf(const std::string& code, uint64_t width);
  absl::StatusOr<uint32_t> AddSlot(const std::string& name, uint64_t width);
  void Suggest();
  // The words up to $end, the end of the section.
  absl::StatusOr<std::vector<std::string>> Words();
  absl::Status SkipToEnd();
  // Moves to the next word within a section; the end of the file is an error.
  absl::Status NextWord();

  VcdLexer& lexer_;
  const absl::flat_hash_set<std::string> wanted_;
  VcdHeader header_;
  std::string name_;                 // the scopes, each followed by a dot; while a signal is read, its full name
  std::vector<size_t> scope_sizes_;  // the size of name_ before each open scope
  size_t suggestion_bytes_ = 0;
  uint64_t bits_ = 0;                                 // of all slots
  bool has_vars_ = false;                             // some $var has been read
  std::map<std::string, std::vector<VcdVar>> parts_;  // by full name: wanted signals with a range
};

absl::StatusOr<VcdHeader> HeaderReader::Read() && {
  if (!lexer_.Next()) {
    SIDEBAND_RETURN_IF_ERROR(lexer_.status());
    return lexer_.Error("not a VCD file: it is empty");
  }
  // Some editors write a byte order mark at the start of UTF-8 text.
  std::string keyword(absl::StripPrefix(lexer_.token(), "\xef\xbb\xbf"));
  if (keyword.empty()) {
    SIDEBAND_RETURN_IF_ERROR(NextWord());
    keyword = std::string(lexer_.token());
  }
  if (keyword[0] != '$') return lexer_.Error("not a VCD file: it does not start with a $keyword");
  while (!BeginsBody(keyword)) {
    SIDEBAND_RETURN_IF_ERROR(Section(keyword));
    if (keyword == "$enddefinitions") break;
    SIDEBAND_RETURN_IF_ERROR(NextWord());
    keyword = std::string(lexer_.token());
  }
  if (keyword != "$enddefinitions") lexer_.Return();
  SIDEBAND_RETURN_IF_ERROR(JoinParts());
  return std::move(header_);
}

bool HeaderReader::BeginsBody(absl::string_view keyword) const {
  if (!has_vars_) return false;
  const bool is_time =
      keyword.size() > 1 && keyword[0] == '#' && absl::ascii_isdigit(static_cast<unsigned char>(keyword[1]));
  return is_time || absl::StartsWith(keyword, "$dump");
}

absl::Status HeaderReader::Section(const std::string& keyword) {
  if (keyword == "$scope") return Scope();
  if (keyword == "$upscope") return Upscope();
  if (keyword == "$var") return Var();
  // fst2vcd writes a second $end behind a scope without a name.
  if (keyword == "$end") return absl::OkStatus();
  if (keyword[0] == '$') return SkipToEnd();
  return lexer_.Error(absl::StrCat("expected a $keyword before $enddefinitions, not ", Excerpt(keyword)));
}

absl::Status HeaderReader::Scope() {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<std::string> words, Words());
  if (words.empty()) return lexer_.Error("$scope needs a type and a name");
  // An unnamed scope is not part of names.
  const std::string name = absl::StrJoin(words.begin() + 1, words.end(), "");
  scope_sizes_.push_back(name_.size());
  if (!name.empty()) absl::StrAppend(&name_, name, ".");
  if (name_.size() > kScopeSizeMax || scope_sizes_.size() > kScopeSizeMax) {
    return lexer_.Error("scopes are nested too deep");
  }
  return absl::OkStatus();
}

absl::Status HeaderReader::Upscope() {
  SIDEBAND_RETURN_IF_ERROR(SkipToEnd());
  if (scope_sizes_.empty()) return lexer_.Error("$upscope without a $scope");
  name_.resize(scope_sizes_.back());
  scope_sizes_.pop_back();
  return absl::OkStatus();
}

absl::Status HeaderReader::Var() {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<std::string> words, Words());
  if (words.size() < 3) return lexer_.Error("$var needs a type, a width, an identifier code and a name");
  has_vars_ = true;
  const std::string& code = words[2];
  // A signal without a name cannot be wanted.
  VarName name = words.size() == 3 ? VarName{} : ParseVarName(std::span(words).subspan(3));
  const size_t scope_size = name_.size();
  name_ += name.name;
  Suggest();
  absl::Status status;
  if (wanted_.contains(name_)) {
    status = WantVar(words[0], words[1], code, name.range);
  } else if (header_.codes.Find(code) == CodeTable::kNone) {
    // Several signals may share a code; that of a wanted signal keeps its slot.
    header_.codes.Set(code, VcdHeader::kIgnored);
  }
  name_.resize(scope_size);
  return status;
}

absl::Status HeaderReader::WantVar(const std::string& type, const std::string& width, const std::string& code,
                                   std::optional<BitRange> range) {
  VcdVar var{.type = type};
  if (const auto other = RangeInPlaceOfWidth(width)) {
    range = other;
    var.width = other->size();
  } else if (!absl::SimpleAtoi(width, &var.width) || var.width > std::numeric_limits<int64_t>::max()) {
    return lexer_.Error(absl::StrCat("expected a width in bits, not ", Excerpt(width)));
  }
  // Without a matching range, bits are numbered from the right.
  const bool fits = range && range->size() == var.width;
  var.left = fits ? range->left : static_cast<int64_t>(var.width) - 1;
  var.right = fits ? range->right : 0;
  return Want(code, std::move(var), fits);
}

absl::Status HeaderReader::Want(const std::string& code, VcdVar var, bool has_range) {
  if (var.HasBits()) {
    SIDEBAND_RETURN_IF_ERROR(CheckWidth(name_, var.width));
  } else {
    var.width = 1;
  }
  SIDEBAND_ASSIGN_OR_RETURN(var.slot, SlotOf(code, var.width));
  const auto [found, added] = header_.vars.emplace(name_, var);
  if (added && has_range) parts_[name_].push_back(var);
  // A second declaration under the same code is the same signal.
  if (added || found->second.slot == var.slot) return absl::OkStatus();
  if (has_range && parts_.contains(name_)) return AddPart(var);
  return DeclaredTwice();
}

absl::Status HeaderReader::CheckWidth(const std::string& name, uint64_t width) const {
  if (width >= 1 && width <= kVcdWidthMax) return absl::OkStatus();
  return lexer_.Error(
      absl::StrCat("signal ", Excerpt(name), " has ", width, " bits; from 1 to ", kVcdWidthMax, " can be used"));
}

absl::Status HeaderReader::AddPart(const VcdVar& var) {
  std::vector<VcdVar>& parts = parts_[name_];
  if (parts.size() >= kPartsMax) return lexer_.Error(absl::StrCat("a vector has more than ", kPartsMax, " parts"));
  for (const VcdVar& part : parts) {
    if (part.slot == var.slot && RangeOf(part) == RangeOf(var)) return absl::OkStatus();
    if (!CanJoin(part, var)) return DeclaredTwice();
  }
  parts.push_back(var);
  return absl::OkStatus();
}

absl::Status HeaderReader::JoinParts() {
  for (auto& [name, parts] : parts_) {
    if (parts.size() < 2) continue;
    std::ranges::sort(parts, {}, LowOf);
    SIDEBAND_ASSIGN_OR_RETURN(header_.vars[name], Join(name, parts));
    for (const VcdVar& part : parts)
      header_.vars.emplace(absl::StrCat(name, "[", part.left, ":", part.right, "]"), part);
  }
  return absl::OkStatus();
}

absl::StatusOr<VcdVar> HeaderReader::Join(const std::string& name, const std::vector<VcdVar>& parts) {
  VcdVar whole = parts.front();
  const int64_t low = LowOf(parts.front());
  const int64_t high = HighOf(parts.back());
  const bool ascends = std::ranges::any_of(parts, [](const VcdVar& part) { return part.left < part.right; });
  whole.left = ascends ? low : high;
  whole.right = ascends ? high : low;
  whole.width = RangeOf(whole).size();
  uint64_t width = 0;
  for (const VcdVar& part : parts) width += part.width;
  if (width != whole.width) {
    return lexer_.Error(absl::StrCat("signal ", Excerpt(name), " is declared in parts, which are not all of [",
                                     whole.left, ":", whole.right, "]"));
  }
  SIDEBAND_RETURN_IF_ERROR(CheckWidth(name, width));
  SIDEBAND_ASSIGN_OR_RETURN(whole.slot, AddSlot(name, width));
  for (const VcdVar& part : parts) {
    const int64_t offset = ascends ? high - HighOf(part) : LowOf(part) - low;
    header_.parts.push_back({.slot = part.slot, .whole = whole.slot, .offset = static_cast<uint32_t>(offset)});
  }
  return whole;
}

absl::Status HeaderReader::DeclaredTwice() const {
  return lexer_.Error(absl::StrCat("signal ", Excerpt(name_), " is declared twice, under different codes"));
}

absl::StatusOr<uint32_t> HeaderReader::SlotOf(const std::string& code, uint64_t width) {
  const uint32_t known = header_.codes.Find(code);
  if (known != CodeTable::kNone && known != VcdHeader::kIgnored) {
    if (header_.slot_widths[known] == width) return known;
    return lexer_.Error(absl::StrCat("signal ", Excerpt(name_), " has ", width, " bits, but its code ", Excerpt(code),
                                     " was declared with ", header_.slot_widths[known]));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t slot, AddSlot(name_, width));
  header_.codes.Set(code, slot);
  return slot;
}

absl::StatusOr<uint32_t> HeaderReader::AddSlot(const std::string& name, uint64_t width) {
  bits_ += width;
  // Bounds the memory for the values of all watched signals.
  if (bits_ > kVcdBitsMax) {
    return lexer_.Error(absl::StrCat("with signal ", Excerpt(name), " the watched signals have more than ", kVcdBitsMax,
                                     " bits together"));
  }
  const auto slot = static_cast<uint32_t>(header_.slot_widths.size());
  header_.slot_widths.push_back(static_cast<uint32_t>(width));
  return slot;
}

void HeaderReader::Suggest() {
  if (name_.size() > kSuggestionSizeMax || suggestion_bytes_ + name_.size() > kSuggestionBytesMax) return;
  suggestion_bytes_ += name_.size();
  header_.names.push_back(name_);
}

absl::StatusOr<std::vector<std::string>> HeaderReader::Words() {
  std::vector<std::string> words;
  for (;;) {
    SIDEBAND_RETURN_IF_ERROR(NextWord());
    if (lexer_.token() == "$end") return words;
    if (words.size() == kWordsMax) return lexer_.Error("$end is missing");
    words.emplace_back(lexer_.token());
  }
}

absl::Status HeaderReader::SkipToEnd() {
  do {
    SIDEBAND_RETURN_IF_ERROR(NextWord());
  } while (lexer_.token() != "$end");
  return absl::OkStatus();
}

absl::Status HeaderReader::NextWord() {
  if (lexer_.Next()) return absl::OkStatus();
  SIDEBAND_RETURN_IF_ERROR(lexer_.status());
  return lexer_.Error("the file ends before $enddefinitions $end");
}

}  // namespace

bool CodeTable::IsCode(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return DigitOf(c) < kCharacters; });
}

uint64_t CodeTable::NumberOf(absl::string_view code) {
  uint64_t number = 0;
  // Bijective numeration: codes of different lengths never share a number.
  for (const char c : code) number = number * kCharacters + DigitOf(c) + 1;
  return number;
}

void CodeTable::Set(absl::string_view code, uint32_t slot) {
  const uint64_t number = NumberOf(code);
  if (code.size() > kNumberSize || !IsCode(code)) {
    long_[code] = slot;
  } else if (code.size() > kShortSize) {
    numbered_[number] = slot;
  } else {
    if (number >= short_.size()) short_.resize(number + 1, kNone);
    short_[number] = slot;
  }
}

uint32_t CodeTable::Find(absl::string_view code) const {
  if (!IsCode(code)) return FindIn(long_, code);
  const uint64_t number = NumberOf(code);
  return code.size() <= kShortSize && number < short_.size() ? short_[number] : FindLong(number, code);
}

uint32_t CodeTable::FindLong(uint64_t number, absl::string_view code) const {
  if (code.size() <= kShortSize) return kNone;
  return code.size() <= kNumberSize ? FindIn(numbered_, number) : FindIn(long_, code);
}

uint64_t BitRange::size() const { return static_cast<uint64_t>(left > right ? left - right : right - left) + 1; }

VarName ParseVarName(std::span<const std::string> words) {
  const bool escaped = words[0].front() == '\\';
  const std::string joined = absl::StrJoin(words, "");
  // Brackets directly after an escaped name belong to it.
  const size_t fixed = escaped ? words[0].size() : 1;
  absl::string_view rest = absl::string_view(joined).substr(fixed);
  VarName result;
  result.range = ConsumeRange(&rest);
  while (ConsumeRange(&rest)) result.range.reset();
  result.name = joined.substr(0, fixed + rest.size());
  return result;
}

VarName ParseShownName(const std::string& name) {
  absl::string_view rest = name;
  const std::optional<BitRange> range = ConsumeRange(&rest);
  return {.name = std::string(rest), .range = range};
}

bool VcdVar::HasBits() const {
  return type != "real" && type != "shortreal" && type != "realtime" && type != "string" && type != "event" &&
         type != "real_parameter";
}

std::optional<uint32_t> VcdVar::BitPosition(int64_t index) const {
  const int64_t distance = left >= right ? index - right : right - index;
  if (distance < 0 || static_cast<uint64_t>(distance) >= width) return std::nullopt;
  return static_cast<uint32_t>(distance);
}

const VcdVar* VcdHeader::Find(absl::string_view name) const {
  const auto found = vars.find(name);
  return found == vars.end() ? nullptr : &found->second;
}

absl::StatusOr<VcdHeader> ReadVcdHeader(VcdLexer& lexer, absl::flat_hash_set<std::string> wanted) {
  return HeaderReader(lexer, std::move(wanted)).Read();
}

}  // namespace sideband::sim
