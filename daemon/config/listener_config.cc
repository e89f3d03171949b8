// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/listener_config.h"

#include <initializer_list>
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/config/one_of.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

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

TlsServerConfig Tls(const YamlNode& node, bool has_tokens, const ConfigContext& context) {
  TlsServerConfig tls;
  const auto map =
      node.Map({"cert_file", "key_file", "client_ca_file", "client_auth_type", "min_version"}, context.errors);
  if (!map) return tls;
  context.errors.Take(ClientAuthOf(*map, has_tokens), tls.client_auth);
  tls.cert_file = context.ReadableFile(*map, "cert_file", FileTrust::kNotWritable);
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
