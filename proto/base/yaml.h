// SPDX-License-Identifier: Apache-2.0
//
// Strict reading of YAML configuration (and of JSON, which is read as YAML): every error is one line "FILE:LINE: what
// is wrong", unknown and repeated keys are refused, numbers have ranges.
//   SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Load("chip.yaml"));
//   SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, root.Map({"name", "period"}));
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string name, map.String("name"));
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t period, map.UintOr("period", 511, 1, 511));
// Values are copied out; nodes share the parsed document and may outlive each other. Not thread-safe.
#ifndef SIDEBAND_PROTO_BASE_YAML_H_
#define SIDEBAND_PROTO_BASE_YAML_H_

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband {

class YamlMap;

// One value of a document, of any kind.
class YamlNode {
 public:
  // A file that cannot be read or parsed is the error that ReadFile or the parser gives, with file and line.
  static absl::StatusOr<YamlNode> Load(const std::string& path);
  // `path` is for messages only.
  static absl::StatusOr<YamlNode> Parse(const std::string& text, const std::string& path);

  // INVALID_ARGUMENT "FILE:LINE: what" for this node.
  absl::Status Error(absl::string_view what) const;
  // `status`, which may be OK, with this node's place before its message.
  absl::Status Locate(const absl::Status& status) const;
  size_t line() const;
  bool is_map() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }

  // A scalar as it stands in the file; null and empty are refused.
  absl::StatusOr<std::string> String() const;
  // Decimal or 0x hexadecimal, within [low, high].
  absl::StatusOr<uint64_t> Uint(uint64_t low, uint64_t high) const;
  absl::StatusOr<double> Number(double low, double high) const;
  absl::StatusOr<bool> Bool() const;
  // A duration with its unit, such as 250ms or 1s, within [low, high].
  absl::StatusOr<absl::Duration> Duration(absl::Duration low, absl::Duration high) const;
  // A sequence; anything else is refused.
  absl::StatusOr<std::vector<YamlNode>> List() const;
  absl::StatusOr<std::vector<std::string>> StringList() const;
  // A mapping with no key but these, each at most once. An unknown key is refused with the nearest known one.
  absl::StatusOr<YamlMap> Map(std::initializer_list<absl::string_view> keys) const;
  // A mapping with free keys, in the file's order.
  absl::StatusOr<std::vector<std::pair<std::string, YamlNode>>> Entries() const;

 private:
  YamlNode(YAML::Node node, std::shared_ptr<const std::string> path) : node_(std::move(node)), path_(std::move(path)) {}

  YAML::Node node_;
  std::shared_ptr<const std::string> path_;  // shared by all nodes of a document
};

// A mapping whose keys have been checked.
class YamlMap {
 public:
  // The mapping itself, for its place.
  const YamlNode& node() const { return node_; }
  std::optional<YamlNode> Find(const std::string& key) const;
  // A missing key is an error at the mapping's own line.
  absl::StatusOr<YamlNode> Get(const std::string& key) const;

  absl::StatusOr<std::string> String(const std::string& key) const;
  absl::StatusOr<std::string> StringOr(const std::string& key, std::string otherwise) const;
  absl::StatusOr<uint64_t> Uint(const std::string& key, uint64_t low, uint64_t high) const;
  absl::StatusOr<uint64_t> UintOr(const std::string& key, uint64_t otherwise, uint64_t low, uint64_t high) const;
  absl::StatusOr<bool> BoolOr(const std::string& key, bool otherwise) const;
  absl::StatusOr<absl::Duration> DurationOr(const std::string& key, absl::Duration otherwise, absl::Duration low,
                                            absl::Duration high) const;
  // An absent key is an empty list.
  absl::StatusOr<std::vector<YamlNode>> ListOrEmpty(const std::string& key) const;
  absl::StatusOr<std::vector<std::string>> StringListOrEmpty(const std::string& key) const;

 private:
  friend class YamlNode;
  YamlMap(YamlNode node, std::map<std::string, YamlNode> values) : node_(std::move(node)), values_(std::move(values)) {}

  YamlNode node_;
  std::map<std::string, YamlNode> values_;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_YAML_H_
