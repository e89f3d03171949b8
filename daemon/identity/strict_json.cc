// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/strict_json.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"

namespace sideband::daemon {
namespace {

using nlohmann::json;

// Detects repeated names in an object while a parser runs.
class NameWatch {
 public:
  bool found_twice() const { return found_twice_; }

  void See(json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) names_.emplace_back();
    if (event == json::parse_event_t::object_end && !names_.empty()) names_.pop_back();
    if (event != json::parse_event_t::key || names_.empty()) return;
    if (!names_.back().insert(parsed.get_ref<const std::string&>()).second) found_twice_ = true;
  }

 private:
  std::vector<std::set<std::string>> names_;  // of the open objects, innermost last
  bool found_twice_ = false;
};

}  // namespace

absl::StatusOr<json> ParseJsonObject(absl::string_view text) {
  // The parser takes a NUL for the end of the input and ignores the rest.
  if (absl::StrContains(text, '\0')) return absl::InvalidArgumentError("not JSON");
  NameWatch watch;
  json parsed = json::parse(
      text.begin(), text.end(),
      [&](int, json::parse_event_t event, json& value) {
        watch.See(event, value);
        return true;
      },
      /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return absl::InvalidArgumentError("not JSON");
  if (!parsed.is_object()) return absl::InvalidArgumentError("not a JSON object");
  if (watch.found_twice()) return absl::InvalidArgumentError("a name occurs twice");
  return parsed;
}

const std::string* FindString(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

}  // namespace sideband::daemon
