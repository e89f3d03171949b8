// SPDX-License-Identifier: Apache-2.0
#include "proto/base/yaml.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband {
namespace {

struct OpenBracket {
  size_t line;
  char bracket;
};

// A scanner that knows enough YAML syntax to distinguish structure from text.
class Scan {
 public:
  // `open`: receives the brackets that are open at the end of the text, the innermost last.
  Scan(absl::string_view text, const YamlBounds& bounds, std::vector<OpenBracket>* open = nullptr)
      : text_(text), bounds_(bounds), open_(open) {}

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
    if (open_ != nullptr) open_->push_back({line_, text_[at_]});
    ++nodes_;
  }
  void Close() {
    if (depth_ == 0) return;
    --depth_;
    if (open_ != nullptr) open_->pop_back();
  }
  void AddEntry() {
    ++entries_in_line_;
    ++nodes_;
  }

  const absl::string_view text_;
  const YamlBounds bounds_;
  std::vector<OpenBracket>* const open_;
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

namespace {

// Records the position where a document starts; ignores its content.
class DocumentStart : public YAML::EventHandler {
 public:
  const YAML::Mark& mark() const { return mark_; }

  void OnDocumentStart(const YAML::Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}

 private:
  YAML::Mark mark_;
};

// The library's messages, and what to mend in other words.
constexpr char kMisaligned[] =
    "this line is indented unlike those that it belongs to, or has text after a closing quote or bracket";
constexpr std::pair<absl::string_view, absl::string_view> kReasons[] = {
    {"illegal block entry", "an entry '- ' where a list cannot begin: it needs a line of its own, below its key"},
    {"illegal map value",
     "a ': ' inside a value: give each key its own line, indented like its neighbours, or put the text in quotes"},
    {"end of map not found", kMisaligned},
    {"end of sequence not found", kMisaligned},
    {"illegal flow end", "a bracket is closed that is not open, or a text with brackets needs quotes"},
    {"unknown token", "a text that begins with a special character needs quotes"},
    {"the referenced anchor is not defined", "a text that begins with '*' needs quotes"},
    {"alias not found after *", "a text that begins with '*' needs quotes"},
};

// `msg` in our words. A later release of the library adds a name to some.
absl::string_view ReasonOf(absl::string_view msg) {
  for (const auto& [theirs, ours] : kReasons) {
    if (absl::StartsWith(msg, theirs)) return ours;
  }
  return msg;
}

absl::string_view TextBefore(const YAML::Mark& mark, absl::string_view text) {
  size_t begin = 0;  // of the line
  for (int line = 0; line < mark.line && begin < text.size(); ++line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  return text.substr(0, begin + static_cast<size_t>(mark.column));
}

// Whether the line of the mark begins with blanks and a tab.
bool IsAfterTab(const YAML::Mark& mark, absl::string_view text) {
  const absl::string_view before = TextBefore(mark, text);
  const absl::string_view line = text.substr(before.rfind('\n') + 1);  // from 0 in the first line
  const size_t begin = line.find_first_not_of(' ');
  return begin != absl::string_view::npos && line[begin] == '\t';
}

// In our words, at the line of the cause: the library notices late that a bracket is not closed.
absl::Status ParseError(const YAML::Exception& error, const std::string& text, const std::string& path,
                        const YamlBounds& bounds) {
  if (error.mark.is_null()) return LineError(path, 0, ReasonOf(error.msg));
  const size_t line = static_cast<size_t>(error.mark.line) + 1;  // marks count from 0
  std::vector<OpenBracket> open;
  Scan before(TextBefore(error.mark, text), bounds, &open);
  before.Run();
  const bool is_of_bracket = absl::StrContains(error.msg, "flow");
  if (!open.empty() && (is_of_bracket || open.back().line < line)) {
    return LineError(path, open.back().line,
                     absl::StrCat("this '", std::string(1, open.back().bracket),
                                  "' is not closed, a ',' is missing in it, or a text with brackets needs quotes"));
  }
  if (open.empty() && IsAfterTab(error.mark, text)) return LineError(path, line, "a tab: YAML indents with blanks");
  return LineError(path, line, ReasonOf(error.msg));
}

// Whether a document begins with `---`, and not by a line that does not belong to the one before.
bool IsMarked(const YAML::Mark& document, absl::string_view text) {
  const absl::string_view before = TextBefore(document, text);
  return absl::StartsWith(text.substr(before.rfind('\n') + 1), "---");
}

// The start of the second document, if the text has one. YAML::LoadAll is not usable: after a document it takes text
// that is not YAML for an empty document at the same position, and never ends (yaml-cpp, pull request 1319).
std::optional<YAML::Mark> FindSecondDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart start;
  if (!parser.HandleNextDocument(start) || !parser.HandleNextDocument(start)) return std::nullopt;
  return start.mark();
}

}  // namespace

absl::StatusOr<YamlNode> YamlNode::Load(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return Parse(text, path);
}

absl::StatusOr<YamlNode> YamlNode::Parse(const std::string& text, const std::string& path, const YamlBounds& bounds) {
  // First: yaml-cpp needs about 200 bytes for each value, and holds all levels of nesting at once.
  SIDEBAND_RETURN_IF_ERROR(CheckYamlBounds(text, path, bounds));
  // yaml-cpp ends there, as if the rest were not.
  if (const size_t nul = text.find('\0'); nul != std::string::npos) {
    return LineError(path, 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(nul), '\n'),
                     "a NUL byte");
  }
  try {
    if (const auto second = FindSecondDocument(text)) {
      return LineError(path, second->line + 1,
                       IsMarked(*second, text) ? "a second document: a file has one"
                                               : "this line belongs to none of the keys and entries above");
    }
    return YamlNode(YAML::Load(text), std::make_shared<const std::string>(path));
  } catch (const YAML::Exception& error) {
    return ParseError(error, text, path, bounds);
  }
}

namespace {

std::string DurationRange(absl::Duration low, absl::Duration high) {
  return absl::StrCat("a duration from ", absl::FormatDuration(low), " to ", absl::FormatDuration(high),
                      ", such as 250ms or 1s");
}

}  // namespace

size_t YamlNode::line() const {
  const YAML::Mark mark = node_.Mark();
  return mark.is_null() ? 0 : mark.line + 1;
}

absl::Status YamlNode::Error(absl::string_view what) const { return LineError(*path_, line(), what); }

absl::Status YamlNode::Locate(const absl::Status& status) const { return AtLine(status, *path_, line()); }

absl::StatusOr<std::string> YamlNode::String() const {
  if (!node_.IsScalar() || node_.Scalar().empty()) return Error("expected a text");
  return node_.Scalar();
}

absl::StatusOr<uint64_t> YamlNode::Uint(uint64_t low, uint64_t high) const {
  uint64_t value = 0;
  absl::string_view text = node_.IsScalar() ? absl::string_view(node_.Scalar()) : absl::string_view();
  const bool parsed =
      absl::ConsumePrefix(&text, "0x") ? absl::SimpleHexAtoi(text, &value) : absl::SimpleAtoi(text, &value);
  if (!parsed || value < low || value > high) {
    return Error(absl::StrCat("expected a whole number from ", low, " to ", high));
  }
  return value;
}

absl::StatusOr<double> YamlNode::Number(double low, double high) const {
  double value = 0;
  // The range is written so that NaN fails it.
  if (!node_.IsScalar() || !absl::SimpleAtod(node_.Scalar(), &value) || !(value >= low && value <= high)) {
    return Error(absl::StrCat("expected a number from ", low, " to ", high));
  }
  return value;
}

absl::StatusOr<bool> YamlNode::Bool() const {
  if (node_.IsScalar() && node_.Scalar() == "true") return true;
  if (node_.IsScalar() && node_.Scalar() == "false") return false;
  return Error("expected true or false");
}

absl::StatusOr<absl::Duration> YamlNode::Duration(absl::Duration low, absl::Duration high) const {
  absl::Duration value;
  if (!node_.IsScalar() || !absl::ParseDuration(node_.Scalar(), &value) || value < low || value > high) {
    return Error(absl::StrCat("expected ", DurationRange(low, high)));
  }
  return value;
}

absl::StatusOr<std::vector<YamlNode>> YamlNode::List() const {
  if (!node_.IsSequence()) return Error("expected a list");
  std::vector<YamlNode> items;
  for (const YAML::Node& item : node_) items.push_back(YamlNode(item, path_));
  return items;
}

absl::StatusOr<std::vector<std::string>> YamlNode::StringList() const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> items, List());
  std::vector<std::string> texts;
  for (const YamlNode& item : items) {
    SIDEBAND_ASSIGN_OR_RETURN(texts.emplace_back(), item.String());
  }
  return texts;
}

std::vector<std::pair<std::string, YamlNode>> YamlNode::Entries(ErrorList& errors) const {
  std::vector<std::pair<std::string, YamlNode>> entries;
  if (!node_.IsMap()) {
    errors.Add(Error("expected a mapping (key: value)"));
    return entries;
  }
  absl::flat_hash_set<std::string> seen;
  for (const auto& entry : node_) {
    const YamlNode key(entry.first, path_);
    std::string name;
    if (!errors.Take(key.String(), name)) continue;
    if (!seen.insert(name).second) {
      errors.Add(key.Error(absl::StrCat("key '", name, "' is given twice")));
      continue;
    }
    entries.emplace_back(std::move(name), YamlNode(entry.second, path_));
  }
  return entries;
}

absl::StatusOr<std::vector<std::pair<std::string, YamlNode>>> YamlNode::Entries() const {
  ErrorList errors;
  auto entries = Entries(errors);
  if (!errors.empty()) return errors.First();
  return entries;
}

std::optional<YamlMap> YamlNode::Map(std::initializer_list<absl::string_view> keys, ErrorList& errors) const {
  const auto entries = Entries(errors);
  if (!is_map()) return std::nullopt;
  const std::vector<std::string> known(keys.begin(), keys.end());
  std::map<std::string, YamlNode> values;
  for (const auto& [name, value] : entries) {
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      values.emplace(name, value);
    } else if (errors.count() < ErrorList::kErrorsMax) {
      errors.Add(value.Error(absl::StrCat("unknown key '", name, "'", DidYouMean(name, known))));
    } else {
      // It is counted, and not shown: what it may mean is not worth its time.
      errors.Add(value.Error("unknown key"));
    }
  }
  return YamlMap(*this, std::move(values));
}

absl::StatusOr<YamlMap> YamlNode::Map(std::initializer_list<absl::string_view> keys) const {
  ErrorList errors;
  auto map = Map(keys, errors);
  if (!errors.empty()) return errors.First();
  return *std::move(map);
}

std::optional<YamlNode> YamlMap::Find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional<YamlNode>(found->second);
}

absl::StatusOr<YamlNode> YamlMap::Get(const std::string& key) const {
  if (const auto found = Find(key)) return *found;
  return node_.Error(absl::StrCat("key '", key, "' is missing"));
}

absl::StatusOr<std::string> YamlMap::String(const std::string& key) const {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode value, Get(key));
  return value.String();
}

absl::StatusOr<std::string> YamlMap::StringOr(const std::string& key, std::string otherwise) const {
  const auto value = Find(key);
  return value ? value->String() : otherwise;
}

absl::StatusOr<uint64_t> YamlMap::Uint(const std::string& key, uint64_t low, uint64_t high) const {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode value, Get(key));
  return value.Uint(low, high);
}

absl::StatusOr<uint64_t> YamlMap::UintOr(const std::string& key, uint64_t otherwise, uint64_t low,
                                         uint64_t high) const {
  const auto value = Find(key);
  return value ? value->Uint(low, high) : otherwise;
}

absl::StatusOr<bool> YamlMap::BoolOr(const std::string& key, bool otherwise) const {
  const auto value = Find(key);
  return value ? value->Bool() : otherwise;
}

absl::StatusOr<absl::Duration> YamlMap::DurationOr(const std::string& key, absl::Duration otherwise, absl::Duration low,
                                                   absl::Duration high) const {
  const auto value = Find(key);
  if (!value) return otherwise;
  const auto duration = value->Duration(low, high);
  if (duration.ok()) return duration;
  // A line may have several durations.
  const auto text = value->String();
  return value->Error(absl::StrCat(key, text.ok() ? absl::StrCat(" is ", *text, ",") : std::string(), " must be ",
                                   DurationRange(low, high)));
}

absl::StatusOr<std::vector<YamlNode>> YamlMap::ListOrEmpty(const std::string& key) const {
  const auto value = Find(key);
  return value ? value->List() : std::vector<YamlNode>();
}

absl::StatusOr<std::vector<std::string>> YamlMap::StringListOrEmpty(const std::string& key) const {
  const auto value = Find(key);
  return value ? value->StringList() : std::vector<std::string>();
}

}  // namespace sideband
