// SPDX-License-Identifier: Apache-2.0
#include "client/lib/config.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"

namespace sideband::client {
namespace {

struct Key {
  const char* name;
  std::string ClientConfig::*member;
  bool is_path;
};

constexpr Key kKeys[] = {
    {"address", &ClientConfig::address, false},      {"ca_file", &ClientConfig::ca_file, true},
    {"cert_file", &ClientConfig::cert_file, true},   {"key_file", &ClientConfig::key_file, true},
    {"token_file", &ClientConfig::token_file, true}, {"server_name", &ClientConfig::server_name, false},
};

// Resolves `path` against the configuration's folder. An absolute `path` is returned unchanged.
std::string Beside(const std::string& config_path, const std::string& path) {
  return path.empty() ? path : (std::filesystem::path(config_path).parent_path() / path).string();
}

// A text, or a list of texts.
absl::StatusOr<std::string> AddressIn(const YamlMap& map) {
  const std::optional<YamlNode> given = map.Find("address");
  if (!given || !given->is_list()) return map.StringOr("address", "");
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, given->StringList());
  if (addresses.empty()) return given->Error("address: the list is empty");
  return absl::StrJoin(addresses, ",");
}

}  // namespace

absl::StatusOr<ClientConfig> LoadClientConfig(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Load(path));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map,
                            root.Map({"address", "ca_file", "cert_file", "key_file", "token_file", "server_name"}));
  ClientConfig config;
  SIDEBAND_ASSIGN_OR_RETURN(config.address, AddressIn(map));
  for (const Key& key : kKeys) {
    if (key.member == &ClientConfig::address) continue;
    SIDEBAND_ASSIGN_OR_RETURN(const std::string value, map.StringOr(key.name, ""));
    config.*key.member = key.is_path ? Beside(path, value) : value;
  }
  return config;
}

std::optional<std::string> FindClientConfig(const std::string& given, const GetEnv& get_env) {
  if (!given.empty()) return given;
  if (auto named = get_env("SIDEBAND_CONFIG"); named.has_value() && !named->empty()) return named;
  const auto home = get_env("HOME");
  if (!home.has_value() || home->empty()) return std::nullopt;
  std::string usual = *home + "/.config/sideband/client.yaml";
  // A file that is there and cannot be read is an error, not a missing configuration.
  if (::access(usual.c_str(), F_OK) != 0) return std::nullopt;
  return usual;
}

ClientConfig Override(ClientConfig config, const ClientConfig& flags) {
  for (const Key& key : kKeys) {
    if (!(flags.*key.member).empty()) config.*key.member = flags.*key.member;
  }
  if (config.address.empty()) config.address = kDefaultAddress;
  // Commas alone leave no address: they are refused when they are used.
  if (const auto addresses = AddressesOf(config); !addresses.empty()) config.address = absl::StrJoin(addresses, ",");
  return config;
}

std::vector<std::string> AddressesOf(const ClientConfig& config) {
  std::vector<std::string> addresses;
  for (const absl::string_view part : absl::StrSplit(config.address, ',', absl::SkipWhitespace())) {
    const std::string address(absl::StripAsciiWhitespace(part));
    if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
  }
  return addresses;
}

}  // namespace sideband::client
