// SPDX-License-Identifier: Apache-2.0
//
// Strict reading of YAML configuration (and of JSON, which is read as YAML). Errors are one line, "FILE:LINE: reason".
// Unknown and repeated keys are rejected, numbers have ranges, and a file has exactly one document.
//   SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Load("chip.yaml"));
//   SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, root.Map({"name", "period"}));
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string name, map.String("name"));
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t period, map.UintOr("period", 511, 1, 511));
// Values are copied; nodes share the parsed document and may outlive each other. Not thread-safe.
#ifndef SIDEBAND_PROTO_BASE_YAML_H_
#define SIDEBAND_PROTO_BASE_YAML_H_

#include <yaml-cpp/yaml.h>

#include <cstddef>
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
#include "proto/base/errors.h"

namespace sideband {

// Limits the size of a YAML document before it is parsed: yaml-cpp needs about 200 bytes per value, and holds all
// levels of a nested value at once.
struct YamlBounds {
  size_t depth_max = 64;       // nesting of brackets, and number of "- " in one line
  size_t nodes_max = 4 << 20;  // keys, values, list entries; an estimate, accurate within a factor of two for JSON
};

// INVALID_ARGUMENT "PATH:LINE: …" if the text exceeds the bounds. Brackets in quotes and comments are not counted. One
// pass, without allocating memory.
absl::Status CheckYamlBounds(absl::string_view text, const std::string& path, const YamlBounds& bounds);

class YamlMap;

// A value of any kind in a document.
class YamlNode {
 public:
  // Returns the error of ReadFile or of the parser, with file and line, for a file that cannot be read or parsed.
  static absl::StatusOr<YamlNode> Load(const std::string& path);
  // `path` is for messages only. A text beyond the bounds is rejected before it is parsed.
  static absl::StatusOr<YamlNode> Parse(const std::string& text, const std::string& path,
                                        const YamlBounds& bounds = {});

  // INVALID_ARGUMENT with the message "FILE:LINE: what", located at this node.
  absl::Status Error(absl::string_view what) const;
  // Prefixes the message of `status` with this node's location; OK is returned unchanged.
  absl::Status Locate(const absl::Status& status) const;
  size_t line() const;
  bool is_map() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }

  // A scalar as written in the file; null and empty scalars are rejected.
  absl::StatusOr<std::string> String() const;
  // Decimal or 0x hexadecimal, within [low, high].
  absl::StatusOr<uint64_t> Uint(uint64_t low, uint64_t high) const;
  absl::StatusOr<double> Number(double low, double high) const;
  absl::StatusOr<bool> Bool() const;
  // A duration with its unit, such as 250ms or 1s, within [low, high].
  absl::StatusOr<absl::Duration> Duration(absl::Duration low, absl::Duration high) const;
  // A sequence; other kinds are rejected.
  absl::StatusOr<std::vector<YamlNode>> List() const;
  absl::StatusOr<std::vector<std::string>> StringList() const;
  // A mapping with only these keys, each at most once. The error for an unknown key suggests the nearest known key.
  absl::StatusOr<YamlMap> Map(std::initializer_list<absl::string_view> keys) const;
  // The same, but continues after errors: each rejected key is added to `errors` and omitted. nullopt, with an error,
  // if the node is not a mapping.
  std::optional<YamlMap> Map(std::initializer_list<absl::string_view> keys, ErrorList& errors) const;
  // A mapping with arbitrary keys, in the file's order.
  absl::StatusOr<std::vector<std::pair<std::string, YamlNode>>> Entries() const;
  // The same, but continues after errors: each key that is repeated or not a text is added to `errors` and omitted.
  std::vector<std::pair<std::string, YamlNode>> Entries(ErrorList& errors) const;

 private:
  YamlNode(const YAML::Node& node, std::shared_ptr<const std::string> path) : node_(node), path_(std::move(path)) {}

  YAML::Node node_;
  std::shared_ptr<const std::string> path_;  // shared by all nodes of a document
};

// A mapping whose keys have been validated.
class YamlMap {
 public:
  // The mapping's node, for its location.
  const YamlNode& node() const { return node_; }
  std::optional<YamlNode> Find(const std::string& key) const;
  // Returns an error at the mapping's line if the key is missing.
  absl::StatusOr<YamlNode> Get(const std::string& key) const;

  absl::StatusOr<std::string> String(const std::string& key) const;
  absl::StatusOr<std::string> StringOr(const std::string& key, std::string otherwise) const;
  absl::StatusOr<uint64_t> Uint(const std::string& key, uint64_t low, uint64_t high) const;
  absl::StatusOr<uint64_t> UintOr(const std::string& key, uint64_t otherwise, uint64_t low, uint64_t high) const;
  absl::StatusOr<bool> BoolOr(const std::string& key, bool otherwise) const;
  absl::StatusOr<absl::Duration> DurationOr(const std::string& key, absl::Duration otherwise, absl::Duration low,
                                            absl::Duration high) const;
  // Returns an empty list if the key is absent.
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
