// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/listener_config.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>

#include <initializer_list>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "daemon/config/config_context.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

bool IsLiteral(int family, const std::string& host) {
  in6_addr address;  // large enough for both families
  return inet_pton(family, host.c_str(), &address) == 1;
}

absl::Status Malformed(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not ADDRESS:PORT with an address in numbers, such as 127.0.0.1:9877, 0.0.0.0:9877 or [::1]:0"));
}

// SimpleAtoi also accepts signs and blanks, which are invalid here.
bool ParsePort(absl::string_view text, uint16_t& port) {
  uint32_t value = 0;
  if (text.find_first_not_of("0123456789") != absl::string_view::npos) return false;
  if (!absl::SimpleAtoi(text, &value) || value > 65535) return false;
  port = static_cast<uint16_t>(value);
  return true;
}

// Large enough for a group with many members.
constexpr size_t kEntryBytesMax = 1 << 20;

// The largest value is reserved: (uid_t)-1 means "no id" in system calls.
std::optional<uint32_t> Number(const std::string& text) {
  uint32_t value = 0;
  if (text.find_first_not_of("0123456789") != std::string::npos || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  if (value == std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return value;
}

absl::Status Unknown(const char* kind, const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", name, "' is unknown"));
}

constexpr size_t kCertificateBytesMax = 1 << 20;

// The capacity of sockaddr_un without the terminating zero.
constexpr size_t kUnixPathBytesMax = 107;
constexpr absl::Duration kAgeMin = absl::Seconds(1), kAgeMax = absl::Hours(24 * 30);

// Clients without a certificate are accepted only if they can be authenticated by a token.
absl::StatusOr<ClientAuth> ClientAuthOf(const YamlMap& map, bool has_tokens) {
  const auto node = map.Find("client_auth_type");
  if (!node) return ClientAuth::kRequireAndVerify;
  SIDEBAND_ASSIGN_OR_RETURN(const ClientAuth auth,
                            OneOf<ClientAuth>(*node, {{"RequireAndVerifyClientCert", ClientAuth::kRequireAndVerify},
                                                      {"VerifyClientCertIfGiven", ClientAuth::kVerifyIfGiven},
                                                      {"NoClientCert", ClientAuth::kNone}}));
  if (auth == ClientAuth::kRequireAndVerify || has_tokens) return auth;
  return node->Error("a listener without mutual TLS is refused: no tokens are configured");
}

std::string ClientCa(const YamlMap& map, const TlsServerConfig& tls, const ConfigContext& context) {
  const auto named = map.Find("client_ca_file");
  const bool is_mutual = tls.client_auth != ClientAuth::kNone;
  if (named && is_mutual) return context.ReadableFile(map, "client_ca_file", FileTrust::kNotWritable);
  if (is_mutual) {
    context.errors.Add(map.node().Error("a listener without mutual TLS is refused: client_ca_file is missing"));
  } else if (named) {
    context.errors.Add(named->Error("client_ca_file has no effect: NoClientCert requests no certificate"));
  }
  return "";
}

// Said before the modes are looked at: a certificate is open to others, and would be told to be a key that is. The file
// that is named as the key is not read here, since a key is only ever in the secure heap.
absl::Status CheckNotSwapped(const YamlMap& map, const std::string& cert_file) {
  const auto pem = ReadFile(cert_file, kCertificateBytesMax);
  const bool is_key = pem.ok() && absl::StrContains(*pem, "PRIVATE KEY-----") &&
                      !absl::StrContains(*pem, "-----BEGIN CERTIFICATE-----");
  if (!is_key) return absl::OkStatus();
  return map.Find("cert_file")
      ->Error(absl::StrCat(cert_file, ": a private key, not a certificate: are cert_file and key_file swapped?"));
}

TlsServerConfig Tls(const YamlNode& node, bool has_tokens, const ConfigContext& context) {
  TlsServerConfig tls;
  const auto map =
      node.Map({"cert_file", "key_file", "client_ca_file", "client_auth_type", "min_version"}, context.errors);
  if (!map) return tls;
  context.errors.Take(ClientAuthOf(*map, has_tokens), tls.client_auth);
  tls.cert_file = context.ReadableFile(*map, "cert_file", FileTrust::kNotWritable);
  if (!tls.cert_file.empty() && !context.errors.Add(CheckNotSwapped(*map, tls.cert_file))) return tls;
  tls.key_file = context.ReadableFile(*map, "key_file", FileTrust::kPrivate);
  tls.client_ca_file = ClientCa(*map, tls, context);
  context.errors.Take(
      OneOfOr(*map, "min_version", tls.min_version, {{"TLS12", TlsVersion::kTls12}, {"TLS13", TlsVersion::kTls13}}),
      tls.min_version);
  return tls;
}

absl::StatusOr<std::string> UnixSocket(const YamlMap& map, const ConfigContext& context) {
  const auto node = map.Find("unix_socket");
  if (!node) return "";
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node->String());
  std::string path = context.Resolve(text);
  if (path.size() <= kUnixPathBytesMax) return path;
  return node->Error(absl::StrCat("the path of a Unix socket has at most ", kUnixPathBytesMax, " bytes"));
}

absl::StatusOr<ListenAddress> Address(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  auto address = ListenAddress::Parse(text);
  if (!address.ok()) return node.Locate(address.status());
  return address;
}

ListenerConfig Listener(const YamlMap& map, const ListenAddress& otherwise, bool has_tokens,
                        const ConfigContext& context) {
  ListenerConfig listener{.listen = otherwise};
  const auto listen = map.Find("listen"), tls = map.Find("tls_server_config");
  if (listen) context.errors.Take(Address(*listen), listener.listen);
  context.errors.Take(UnixSocket(map, context), listener.unix_socket);
  context.errors.Take(map.DurationOr("max_connection_age", listener.max_connection_age, kAgeMin, kAgeMax),
                      listener.max_connection_age);
  // The network is the default; a section with only `unix_socket` has no network listener.
  listener.on_network = listen || tls || !map.Find("unix_socket");
  if (!listener.on_network) return listener;
  if (tls) {
    listener.tls = Tls(*tls, has_tokens, context);
  } else {
    context.errors.Add(map.node().Error("a listener without mutual TLS is refused: tls_server_config is missing"));
  }
  return listener;
}

// Reports a missing section as an error.
std::optional<YamlMap> Required(const YamlMap& root, const std::string& key,
                                std::initializer_list<absl::string_view> keys, const ConfigContext& context) {
  context.errors.Add(root.Get(key).status());
  return context.Section(root, key, keys);
}

}  // namespace

absl::StatusOr<ListenAddress> ListenAddress::Parse(absl::string_view text) {
  const size_t colon = text.rfind(':');
  ListenAddress address;
  if (colon == absl::string_view::npos || !ParsePort(text.substr(colon + 1), address.port)) return Malformed(text);
  absl::string_view host = text.substr(0, colon);
  const bool bracketed = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  address.host = std::string(host);
  if (!IsLiteral(bracketed ? AF_INET6 : AF_INET, address.host)) return Malformed(text);
  return address;
}

std::string ListenAddress::ToString() const {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<uint32_t> UserId(const std::string& name) {
  if (const auto number = Number(name)) return *number;
  std::string room(kEntryBytesMax, '\0');
  passwd entry{};
  passwd* found = nullptr;
  getpwnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) return Unknown("user", name);
  return found->pw_uid;
}

absl::StatusOr<uint32_t> GroupId(const std::string& name) {
  if (const auto number = Number(name)) return *number;
  std::string room(kEntryBytesMax, '\0');
  group entry{};
  group* found = nullptr;
  getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) return Unknown("group", name);
  return found->gr_gid;
}

GrpcConfig ReadGrpc(const YamlMap& root, bool has_tokens, const ConfigContext& context) {
  GrpcConfig grpc;
  const auto map = Required(
      root, "grpc", {"listen", "tls_server_config", "unix_socket", "reflection", "max_connection_age"}, context);
  if (!map) return grpc;
  grpc.listener = Listener(*map, {"127.0.0.1", 9878}, has_tokens, context);
  context.errors.Take(map->BoolOr("reflection", grpc.reflection), grpc.reflection);
  return grpc;
}

HttpConfig ReadHttp(const YamlMap& root, bool has_tokens, const ConfigContext& context) {
  HttpConfig http;
  const auto map =
      Required(root, "http", {"listen", "tls_server_config", "unix_socket", "redfish", "max_connection_age"}, context);
  if (!map) return http;
  http.listener = Listener(*map, {"127.0.0.1", 9877}, has_tokens, context);
  context.errors.Take(map->BoolOr("redfish", http.redfish), http.redfish);
  return http;
}

}  // namespace sideband::daemon
