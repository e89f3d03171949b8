// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_header.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"
#include "sim/waveform/var_name.h"

namespace sideband::sim {
namespace {

// Of all names that may be suggested: with kSuggestionSizeMax this keeps the comparison below a second.
constexpr size_t kSuggestionBytesMax = size_t{4} << 20;
// Full names are built for each signal. Real designs have some hundred characters.
constexpr size_t kScopeSizeMax = size_t{1} << 16;
constexpr size_t kWordsMax = 64;

class HeaderReader {
 public:
  HeaderReader(VcdLexer& lexer, absl::flat_hash_set<std::string> wanted) : lexer_(lexer), wanted_(std::move(wanted)) {}

  absl::StatusOr<VcdHeader> Read() &&;

 private:
  absl::Status Section(const std::string& keyword);
  absl::Status Scope();
  absl::Status Upscope();
  absl::Status Var();
  absl::Status Want(const std::string& code, VcdVar var);
  absl::StatusOr<uint32_t> SlotOf(const std::string& code, uint64_t width);
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
  uint64_t bits_ = 0;  // of all slots
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
  for (;;) {
    SIDEBAND_RETURN_IF_ERROR(Section(keyword));
    if (keyword == "$enddefinitions") return std::move(header_);
    SIDEBAND_RETURN_IF_ERROR(NextWord());
    keyword = std::string(lexer_.token());
  }
}

absl::Status HeaderReader::Section(const std::string& keyword) {
  if (keyword == "$scope") return Scope();
  if (keyword == "$upscope") return Upscope();
  if (keyword == "$var") return Var();
  if (keyword[0] == '$' && keyword != "$end") return SkipToEnd();
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
  if (words.size() < 4) return lexer_.Error("$var needs a type, a width, an identifier code and a name");
  if (words[0] == "port") return lexer_.Error(kVcdPortsRefused);
  const std::string& code = words[2];
  VcdVar var{.type = words[0]};
  if (!absl::SimpleAtoi(words[1], &var.width)) {
    return lexer_.Error(absl::StrCat("expected a width in bits, not ", Excerpt(words[1])));
  }
  if (!CodeTable::IsCode(code)) return lexer_.Error(absl::StrCat(Excerpt(code), " is not an identifier code"));
  const VarName name = ParseVarName(std::span(words).subspan(3));
  // Without a matching range, bits are numbered from the right.
  const bool fits = name.range && name.range->size() == var.width;
  var.left = fits ? name.range->left : static_cast<int64_t>(var.width) - 1;
  var.right = fits ? name.range->right : 0;

  const size_t scope_size = name_.size();
  name_ += name.name;
  Suggest();
  absl::Status status;
  if (wanted_.contains(name_)) {
    status = Want(code, std::move(var));
  } else if (header_.codes.Find(code) == CodeTable::kNone) {
    // Several signals may share a code; that of a wanted signal keeps its slot.
    header_.codes.Set(code, VcdHeader::kIgnored);
  }
  name_.resize(scope_size);
  return status;
}

absl::Status HeaderReader::Want(const std::string& code, VcdVar var) {
  if (var.HasBits()) {
    if (var.width < 1 || var.width > kVcdWidthMax) {
      return lexer_.Error(absl::StrCat("signal ", Excerpt(name_), " has ", var.width, " bits; from 1 to ", kVcdWidthMax,
                                       " can be used"));
    }
  } else {
    var.width = 1;
  }
  SIDEBAND_ASSIGN_OR_RETURN(var.slot, SlotOf(code, var.width));
  const auto [found, added] = header_.vars.emplace(name_, var);
  // A second declaration under the same code is the same signal.
  if (added || found->second.slot == var.slot) return absl::OkStatus();
  return lexer_.Error(absl::StrCat("signal ", Excerpt(name_), " is declared twice, under different codes"));
}

absl::StatusOr<uint32_t> HeaderReader::SlotOf(const std::string& code, uint64_t width) {
  const uint32_t known = header_.codes.Find(code);
  if (known != CodeTable::kNone && known != VcdHeader::kIgnored) {
    if (header_.slot_widths[known] == width) return known;
    return lexer_.Error(absl::StrCat("signal ", Excerpt(name_), " has ", width, " bits, but its code ", Excerpt(code),
                                     " was declared with ", header_.slot_widths[known]));
  }
  bits_ += width;
  // Bounds the memory for the values of all watched signals.
  if (bits_ > kVcdBitsMax) {
    return lexer_.Error(absl::StrCat("with signal ", Excerpt(name_), " the watched signals have more than ",
                                     kVcdBitsMax, " bits together"));
  }
  const auto slot = static_cast<uint32_t>(header_.slot_widths.size());
  header_.slot_widths.push_back(static_cast<uint32_t>(width));
  header_.codes.Set(code, slot);
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

bool VcdVar::HasBits() const {
  return type != "real" && type != "shortreal" && type != "realtime" && type != "string" && type != "event" &&
         type != "real_parameter";
}

std::optional<uint32_t> VcdVar::BitPosition(uint32_t index) const {
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
