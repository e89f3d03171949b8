// SPDX-License-Identifier: Apache-2.0
#include "proto/base/yaml.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband {

absl::StatusOr<YamlNode> YamlNode::Load(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return Parse(text, path);
}

absl::StatusOr<YamlNode> YamlNode::Parse(const std::string& text, const std::string& path) {
  try {
    return YamlNode(YAML::Load(text), std::make_shared<const std::string>(path));
  } catch (const YAML::Exception& error) {
    return LineError(path, error.mark.is_null() ? 0 : error.mark.line + 1, error.msg);
  }
}

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
    return Error(absl::StrCat("expected a duration from ", absl::FormatDuration(low), " to ",
                              absl::FormatDuration(high), ", such as 250ms or 1s"));
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

absl::StatusOr<std::vector<std::pair<std::string, YamlNode>>> YamlNode::Entries() const {
  if (!node_.IsMap()) return Error("expected a mapping (key: value)");
  std::vector<std::pair<std::string, YamlNode>> entries;
  for (const auto& entry : node_) {
    const YamlNode key(entry.first, path_);
    SIDEBAND_ASSIGN_OR_RETURN(std::string name, key.String());
    for (const auto& [seen, value] : entries) {
      if (seen == name) return key.Error(absl::StrCat("key '", name, "' is given twice"));
    }
    entries.emplace_back(std::move(name), YamlNode(entry.second, path_));
  }
  return entries;
}

absl::StatusOr<YamlMap> YamlNode::Map(std::initializer_list<absl::string_view> keys) const {
  SIDEBAND_ASSIGN_OR_RETURN(auto entries, Entries());
  std::vector<std::string> known(keys.begin(), keys.end());
  std::map<std::string, YamlNode> values;
  for (auto& [name, value] : entries) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return value.Error(absl::StrCat("unknown key '", name, "'", DidYouMean(name, known)));
    }
    values.emplace(name, value);
  }
  return YamlMap(*this, std::move(values));
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
  return value ? value->Duration(low, high) : otherwise;
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
