// SPDX-License-Identifier: Apache-2.0
#include "proto/base/yaml_bounds.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/text.h"

namespace sideband {
namespace {

// A scanner that knows enough YAML syntax to distinguish structure from text.
class Scan {
 public:
  Scan(absl::string_view text, const YamlBounds& bounds) : text_(text), bounds_(bounds) {}

  // Returns whether the text is within the bounds.
  bool Run() {
    for (; at_ < text_.size(); ++at_) {
      Look(text_[at_]);
      if (depth_ > bounds_.depth_max || entries_in_line_ > bounds_.depth_max || nodes_ > bounds_.nodes_max) {
        return false;
      }
    }
    return true;
  }
  bool is_too_deep() const { return nodes_ <= bounds_.nodes_max; }
  size_t line() const { return line_; }

 private:
  char Previous() const { return at_ == 0 ? '\n' : text_[at_ - 1]; }
  char Next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\n'; }
  bool IsAfterSpace() const { return absl::ascii_isspace(Previous()); }
  // Whether a value may begin here. Elsewhere a quote or bracket is part of a plain scalar, as in don't.
  bool IsAtStartOfValue() const {
    return IsAfterSpace() || absl::StrContains("[{,:", absl::string_view(&text_[at_ - 1], 1));
  }

  void Look(char c) {
    if (c == '\n') return StartLine();
    if (c == '#' && IsAfterSpace()) return SkipComment();
    if ((c == '"' || c == '\'') && IsAtStartOfValue()) return SkipQuoted(c);
    if (c == '[' || c == '{') return Open();
    if (c == ']' || c == '}') return Close();
    if (c == ',' && depth_ > 0) ++nodes_;
    if (c == ':' && (depth_ > 0 || absl::ascii_isspace(Next()))) ++nodes_;
    if ((c == '-' || c == '?') && IsAfterSpace() && absl::ascii_isspace(Next())) AddEntry();
  }

  void StartLine() {
    ++line_;
    entries_in_line_ = 0;
  }
  // Skips to the line break, which Run() handles next.
  void SkipComment() {
    while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
  }
  // Skips to the closing quote.
  void SkipQuoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && quote == '"') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') StartLine();
    }
  }
  void Open() {
    if (depth_ == 0 && !IsAtStartOfValue()) return;
    ++depth_;
    ++nodes_;
  }
  void Close() {
    if (depth_ > 0) --depth_;
  }
  void AddEntry() {
    ++entries_in_line_;
    ++nodes_;
  }

  const absl::string_view text_;
  const YamlBounds bounds_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t depth_ = 0;
  size_t entries_in_line_ = 0;
  size_t nodes_ = 0;
};

}  // namespace

absl::Status CheckYamlBounds(absl::string_view text, const std::string& path, const YamlBounds& bounds) {
  Scan scan(text, bounds);
  if (scan.Run()) return absl::OkStatus();
  return LineError(path, scan.line(),
                   scan.is_too_deep() ? absl::StrCat("nested more than ", bounds.depth_max, " deep")
                                      : absl::StrCat("more than ", bounds.nodes_max, " values"));
}

}  // namespace sideband
