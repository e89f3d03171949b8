// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/bmc_config.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::daemon {
namespace {

constexpr uint64_t kRequestsPerMinuteMax = 120;
constexpr absl::Duration kBmcIntervalMin = absl::Seconds(5), kBmcIntervalMax = absl::Hours(1);
constexpr absl::Duration kBmcTimeoutMin = absl::Seconds(1), kBmcTimeoutMax = absl::Minutes(2);
constexpr size_t kUserBytesMax = 256;
constexpr size_t kHostBytesMax = 253;
constexpr char kHttps[] = "https://", kHttp[] = "http://", kIndex[] = "{index}";

bool IsAddress(int family, const std::string& host) {
  in6_addr address;  // large enough for both families
  return inet_pton(family, host.c_str(), &address) == 1;
}

// A name, or an IPv4 address: a resolver would take 192.0.2 for 192.0.0.2.
bool IsHost(const std::string& host) {
  if (host.find_first_not_of("0123456789.") == std::string::npos) return IsAddress(AF_INET, host);
  return host.size() <= kHostBytesMax && IsLabelSafe(host) && absl::ascii_isalnum(static_cast<unsigned char>(host[0]));
}

bool TakeBmcPort(absl::string_view text, uint16_t& port) {
  uint32_t value = 0;
  if (text.find_first_not_of("0123456789") != absl::string_view::npos || !absl::SimpleAtoi(text, &value)) return false;
  if (value < 1 || value > 65535) return false;
  port = static_cast<uint16_t>(value);
  return true;
}

// HOST, HOST:PORT or [ADDRESS]:PORT.
bool TakeAuthority(absl::string_view text, BmcConfig& bmc) {
  const bool is_bracketed = absl::ConsumePrefix(&text, "[");
  const size_t end = std::min(text.find(is_bracketed ? ']' : ':'), text.size());
  bmc.host = absl::AsciiStrToLower(text.substr(0, end));
  text.remove_prefix(end);
  if (is_bracketed ? !absl::ConsumePrefix(&text, "]") || !IsAddress(AF_INET6, bmc.host) : !IsHost(bmc.host)) {
    return false;
  }
  return text.empty() || (absl::ConsumePrefix(&text, ":") && TakeBmcPort(text, bmc.port));
}

// Requests append a path to it, so that it must be one that no server rewrites.
bool IsPlainPath(const std::string& path) {
  const auto is_plain = [](unsigned char c) { return absl::ascii_isalnum(c) || absl::StrContains("-._~/", c); };
  const std::string segments = absl::StrCat(path, "/");
  return std::ranges::all_of(path, is_plain) && !absl::StrContains(segments, "//") &&
         !absl::StrContains(segments, "/./") && !absl::StrContains(segments, "/../");
}

absl::Status TakeUrl(const YamlNode& node, BmcConfig& bmc) {
  SIDEBAND_ASSIGN_OR_RETURN(bmc.url, node.String());
  // Without the text, since a login in it is a secret.
  if (absl::StrContains(bmc.url, "@")) return node.Error("url has a login: put the password in password_file");
  if (absl::StartsWithIgnoreCase(bmc.url, kHttp)) {
    return node.Error("the password would go in the clear: use https://");
  }
  absl::string_view rest = bmc.url;
  const bool is_https = absl::StartsWithIgnoreCase(rest, kHttps);
  if (is_https) rest.remove_prefix(sizeof(kHttps) - 1);
  const size_t slash = std::min(rest.find('/'), rest.size());
  bmc.prefix = std::string(absl::StripSuffix(rest.substr(slash), "/"));
  if (!is_https || !TakeAuthority(rest.substr(0, slash), bmc) || !IsPlainPath(bmc.prefix)) {
    return node.Error(absl::StrCat("'", Visible(bmc.url), "' is not https://HOST, such as https://192.0.2.10, ",
                                   "https://[2001:db8::10]:8443 or https://bmc.example.org/hmc"));
  }
  const bool has_service = absl::StrContains(absl::StrCat(bmc.prefix, "/"), "/redfish/");
  return has_service ? node.Error("url must end before /redfish, which the daemon adds") : absl::OkStatus();
}

// The command of docs/bmc.md prints this if it gets no certificate.
bool IsOfNothing(const KeyPin& pin) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(pin.data()), pin.size())) ==
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
}

// 64 hexadecimal digits, also with a colon between two pairs, or curl's form "sha256//BASE64", also without its prefix.
absl::StatusOr<KeyPin> Pin(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  KeyPin pin;
  std::string digits = text;
  if (text.size() == 3 * pin.size() - 1) {
    for (size_t at = text.size() - 3; at < text.size() && text[at] == ':'; at -= 3) digits.erase(at, 1);
  }
  const auto bytes = digits.size() == 2 * pin.size() ? ParseHex(digits) : std::nullopt;
  if (bytes) {
    std::ranges::copy(*bytes, pin.begin());
    return pin;
  }
  absl::string_view base64 = text;
  absl::ConsumePrefix(&base64, "sha256//");
  std::string decoded;
  // Escaped again, since the parser ignores blanks and takes what has no padding.
  if (absl::Base64Unescape(base64, &decoded) && decoded.size() == pin.size() && absl::Base64Escape(decoded) == base64) {
    std::ranges::copy(decoded, pin.begin());
    return pin;
  }
  return node.Error("pin_sha256 is neither 64 hexadecimal digits nor base64 of 32 bytes: docs/bmc.md has its command");
}

void ReadTrust(const YamlMap& map, const ConfigContext& context, BmcConfig& bmc) {
  const auto ca = map.Find("ca_file"), pin = map.Find("pin_sha256");
  if (ca && pin) {
    context.errors.Add(pin->Error("ca_file and pin_sha256 exclude each other: leave one out"));
  } else if (ca) {
    bmc.ca_file = context.ReadableFile(map, "ca_file", FileTrust::kNotWritable);
  } else if (pin) {
    context.errors.Take(Pin(*pin), bmc.pin.emplace());
    if (IsOfNothing(*bmc.pin)) {
      context.errors.Add(
          pin->Error("pin_sha256 is the digest of nothing: the command got no certificate from the BMC"));
    }
  } else {
    context.errors.Add(map.node().Error("ca_file or pin_sha256 is needed, to know the BMC before it gets a password"));
  }
}

absl::StatusOr<std::string> User(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string user, map.String("user"));
  if (user.size() <= kUserBytesMax && Visible(user) == user) return user;
  return map.Find("user")->Error(absl::StrCat("user has more than ", kUserBytesMax, " bytes, or control characters"));
}

std::string SecretFile(const YamlMap& map, const std::string& key, const ConfigContext& context) {
  const std::string path = context.ReadableFile(map, key, FileTrust::kSecret);
  // The first byte alone, without a buffer: the rest is read into locked memory at the login.
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);
  file.open(path);
  const int first = path.empty() ? 0 : file.get();
  if (first == '\n' || first == '\r' || file.eof()) {
    context.errors.Add(map.Find(key)->Error(absl::StrCat(path, ": is empty")));
  }
  return path;
}

void ReadLogin(const YamlMap& map, const ConfigContext& context, BmcConfig& bmc) {
  const auto password = map.Find("password_file"), token = map.Find("session_token_file"), user = map.Find("user");
  if (password && token) {
    context.errors.Add(token->Error("password_file and session_token_file exclude each other: leave one out"));
  } else if (password) {
    context.errors.Take(User(map), bmc.user);
    bmc.password_file = SecretFile(map, "password_file", context);
  } else if (token) {
    bmc.session_token_file = SecretFile(map, "session_token_file", context);
    if (user) context.errors.Add(user->Error("user has no effect with session_token_file: leave it out"));
  } else {
    context.errors.Add(map.node().Error("user and password_file are needed, or session_token_file"));
  }
}

absl::StatusOr<absl::Duration> Interval(const YamlMap& map, absl::Duration otherwise) {
  const auto interval = map.DurationOr("interval", otherwise, kBmcIntervalMin, kBmcIntervalMax);
  if (interval.ok()) return interval;
  const YamlNode node = *map.Find("interval");
  if (!node.Duration(absl::ZeroDuration(), kBmcIntervalMin).ok()) return interval;
  return node.Error(absl::StrCat("interval is ", *node.String(), ": the shortest one of a BMC is 5s"));
}

absl::StatusOr<std::string> Pattern(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string pattern, map.String("name"));
  const YamlNode node = *map.Find("name");
  const size_t at = pattern.find(kIndex);
  if (at == std::string::npos || at != pattern.rfind(kIndex)) {
    return node.Error(
        absl::StrCat("device name '", Visible(pattern), "' must have {index} once, as \"gpu{index}\" has"));
  }
  if (IsLabelSafe(absl::StrReplaceAll(pattern, {{kIndex, "0"}}))) return pattern;
  return node.Error(absl::StrCat("device name '", Visible(pattern), "' may hold {index}, letters, digits, _ . - only"));
}

std::vector<YamlNode> DeviceEntries(const YamlNode& list, const ConfigContext& context) {
  std::vector<YamlNode> nodes;
  if (!context.errors.Take(list.List(), nodes)) return {};
  if (nodes.empty()) context.errors.Add(list.Error("devices is empty: leave it out to read all GPUs of the BMC"));
  if (nodes.size() <= kBmcDevicesMax) return nodes;
  context.errors.Add(list.Error(absl::StrCat("more than ", kBmcDevicesMax, " devices")));
  return {};
}

// Reads the entries of one BMC after the other, and what must differ among them.
class BmcReader {
 public:
  BmcReader(const std::vector<DeviceConfig>& devices, const ConfigContext& context) : context_(context) {
    for (const DeviceConfig& device : devices) device_names_.insert(device.name);
  }

  BmcConfig Read(const YamlMap& map) {
    BmcConfig bmc;
    ErrorList& errors = context_.errors;
    errors.Take(LabelSafe(map, "name", "BMC name"), bmc.name);
    if (const auto url = map.Get("url"); errors.Add(url.status())) errors.Add(TakeUrl(*url, bmc));
    ReadTrust(map, context_, bmc);
    ReadLogin(map, context_, bmc);
    errors.Take(map.UintOr("requests_per_minute", bmc.requests_per_minute, 1, kRequestsPerMinuteMax),
                bmc.requests_per_minute);
    errors.Take(Interval(map, bmc.interval), bmc.interval);
    errors.Take(map.DurationOr("timeout", bmc.timeout, kBmcTimeoutMin, kBmcTimeoutMax), bmc.timeout);
    errors.Take(map.BoolOr("links", bmc.has_links), bmc.has_links);
    ReadBmcDevices(map, bmc);
    CheckUnique(map, bmc);
    return bmc;
  }

  // After all entries were read: a name that a discovered device may get must not be another's.
  void CheckPattern(const BmcConfig& bmc, const YamlNode& node) {
    if (bmc.device_pattern.empty()) return;
    for (size_t index = 0; index < kBmcDevicesMax; ++index) {
      const std::string name = DiscoveredName(bmc, index);
      if (device_names_.insert(name).second) continue;
      context_.errors.Add(node.Error(absl::StrCat("a discovered device may get the name '", name,
                                                  "', which another has: give devices of this BMC other names")));
      return;
    }
  }

 private:
  // `devices: {name: "node3-gpu{index}"}`, or `devices: [{name: gpu0, id: GPU_SXM_1}]`.
  void ReadBmcDevices(const YamlMap& map, BmcConfig& bmc) {
    const auto node = map.Find("devices");
    if (!node && !bmc.name.empty()) bmc.device_pattern = absl::StrCat(bmc.name, "-gpu", kIndex);
    if (!node) return;
    if (node->is_list()) return ReadListed(*node, bmc);
    const auto pattern = node->Map({"name"}, context_.errors);
    if (pattern) context_.errors.Take(Pattern(*pattern), bmc.device_pattern);
  }

  void ReadListed(const YamlNode& list, BmcConfig& bmc) {
    std::set<std::string> ids;
    for (const YamlNode& node : DeviceEntries(list, context_)) {
      const auto map = node.Map({"name", "id"}, context_.errors);
      if (!map) continue;
      BmcDevice device;
      context_.errors.Take(LabelSafe(*map, "name", "device name"), device.name);
      context_.errors.Take(LabelSafe(*map, "id", "id"), device.id);
      if (!device.name.empty() && !device_names_.insert(device.name).second) {
        context_.errors.Add(node.Error(absl::StrCat("device '", device.name, "' is given twice")));
      }
      if (!device.id.empty() && !ids.insert(absl::AsciiStrToLower(device.id)).second) {
        context_.errors.Add(node.Error(absl::StrCat("id '", device.id, "' is given twice")));
      }
      bmc.devices.push_back(std::move(device));
    }
  }

  // Two entries for one BMC would log in twice, and ask it twice as often.
  void CheckUnique(const YamlMap& map, const BmcConfig& bmc) {
    if (!bmc.name.empty() && !bmc_names_.insert(bmc.name).second) {
      context_.errors.Add(map.node().Error(absl::StrCat("BMC '", bmc.name, "' is given twice")));
    }
    if (bmc.host.empty()) return;
    const std::string service = absl::StrCat(bmc.host, " ", bmc.port, " ", bmc.prefix);
    const auto [other, is_new] = services_.emplace(service, bmc.name);
    if (is_new) return;
    context_.errors.Add(map.Find("url")->Error(
        absl::StrCat("BMC '", other->second, "' has this url, too: list the devices of both in one entry")));
  }

  const ConfigContext& context_;
  std::set<std::string> device_names_, bmc_names_;
  std::map<std::string, std::string> services_;  // to the BMC's name
};

}  // namespace

std::string DiscoveredName(const BmcConfig& bmc, size_t index) {
  return absl::StrReplaceAll(bmc.device_pattern, {{kIndex, absl::StrCat(index)}});
}

bool IsDiscoveredName(const BmcConfig& bmc, absl::string_view name) {
  const size_t at = bmc.device_pattern.find(kIndex);
  if (at == std::string::npos) return false;
  const absl::string_view pattern = bmc.device_pattern;
  if (!absl::ConsumePrefix(&name, pattern.substr(0, at))) return false;
  if (!absl::ConsumeSuffix(&name, pattern.substr(at + sizeof(kIndex) - 1))) return false;
  size_t index = 0;
  // Compared as a text: SimpleAtoi takes signs, blanks and leading zeros.
  return absl::SimpleAtoi(name, &index) && index < kBmcDevicesMax && absl::StrCat(index) == name;
}

std::vector<BmcConfig> ReadBmcs(const YamlMap& root, const std::vector<DeviceConfig>& devices,
                                const ConfigContext& context) {
  std::vector<YamlNode> nodes;
  context.errors.Take(root.ListOrEmpty("bmcs"), nodes);
  if (nodes.size() > kBmcsMax) {
    context.errors.Add(root.Find("bmcs")->Error(absl::StrCat("more than ", kBmcsMax, " BMCs")));
    return {};
  }
  BmcReader reader(devices, context);
  std::vector<BmcConfig> bmcs;
  std::vector<YamlNode> entries;
  for (const YamlNode& node : nodes) {
    const auto map = node.Map({"name", "url", "ca_file", "pin_sha256", "user", "password_file", "session_token_file",
                               "requests_per_minute", "interval", "timeout", "links", "devices"},
                              context.errors);
    if (!map) continue;
    bmcs.push_back(reader.Read(*map));
    entries.push_back(node);
  }
  for (size_t i = 0; i < bmcs.size(); ++i) reader.CheckPattern(bmcs[i], entries[i]);
  return bmcs;
}

}  // namespace sideband::daemon
