// SPDX-License-Identifier: Apache-2.0
#include "client/lib/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/lib/credentials.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr char kLocalScheme[] = "unix:";
constexpr absl::string_view kLocalhost = "localhost";

bool IsLocal(const ClientConfig& config) { return absl::StartsWith(config.address, kLocalScheme); }

bool IsLocalhost(absl::string_view address) {
  return absl::StartsWithIgnoreCase(address, absl::StrCat(kLocalhost, ":"));
}

// The expected name in the server's certificate. Empty if gRPC is to use the host of the target.
std::string ServerName(const ClientConfig& config) {
  if (!config.server_name.empty() || !IsLocalhost(config.address)) return config.server_name;
  // DialTarget() replaces localhost by addresses; the certificate must still be for localhost.
  return std::string(kLocalhost);
}

// Accepts host:port and [address]:port only. gRPC would also accept other schemes and a missing port, and connect to an
// unintended endpoint.
absl::Status CheckAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  const bool split = colon != std::string::npos && colon > 0;
  const std::string host = split ? address.substr(0, colon) : "";
  const bool plain_host = host.find_first_of(":/[] ") == std::string::npos;
  const bool bracketed = absl::StartsWith(host, "[") && absl::EndsWith(host, "]");
  int port = 0;
  if (split && (plain_host || bracketed) && absl::SimpleAtoi(address.substr(colon + 1), &port) && port > 0 &&
      port < 65536) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("address '", address, "': expected HOST:PORT, [IPv6]:PORT or unix:PATH"));
}

absl::Status CheckConfig(const ClientConfig& config) {
  SIDEBAND_RETURN_IF_ERROR(CheckAddress(config.address));
  const std::string missing = MissingSetting(config);
  if (missing.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("no ", missing, " is given: the configuration must name it"));
}

// TLS credentials; with a token, each call also carries the field `authorization`.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(const ClientConfig& config) {
  SIDEBAND_ASSIGN_OR_RETURN(TlsMaterial material, LoadTlsMaterial(config.ca_file, config.cert_file, config.key_file));
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = std::move(material.ca);
  tls.pem_cert_chain = std::move(material.certificate);
  tls.pem_private_key = std::move(material.key);
  if (config.token_file.empty()) return grpc::SslCredentials(tls);
  SIDEBAND_ASSIGN_OR_RETURN(const std::string token, LoadToken(config.token_file));
  return grpc::CompositeChannelCredentials(grpc::SslCredentials(tls), grpc::AccessTokenCredentials(token));
}

grpc::ChannelArguments Arguments(const ClientConfig& config) {
  grpc::ChannelArguments arguments;
  // Records and snapshots of large devices exceed gRPC's default limit of 4 MiB.
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  // Connects to the configured address only, without a proxy from the environment.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (const std::string name = ServerName(config); !name.empty()) arguments.SetSslTargetNameOverride(name);
  return arguments;
}

// The socket's peer credentials identify the user to the daemon, and only the daemon can create the socket:
// certificates are not needed.
absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectLocally(const ClientConfig& config) {
  if (config.address == kLocalScheme) {
    return absl::InvalidArgumentError(absl::StrCat("address '", config.address, "': the socket's path is missing"));
  }
  return grpc::CreateCustomChannel(config.address, grpc::experimental::LocalCredentials(UDS), Arguments(config));
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ClientConfig& config) {
  if (IsLocal(config)) return ConnectLocally(config);
  SIDEBAND_RETURN_IF_ERROR(CheckConfig(config));
  SIDEBAND_ASSIGN_OR_RETURN(const auto credentials, CredentialsOf(config));
  return grpc::CreateCustomChannel(DialTarget(config.address), credentials, Arguments(config));
}

std::string MissingSetting(const ClientConfig& config) {
  if (IsLocal(config)) return "";
  if (config.ca_file.empty()) return "ca_file";
  // A token may replace the certificate.
  if (!config.token_file.empty() && config.cert_file.empty() && config.key_file.empty()) return "";
  return config.cert_file.empty() ? "cert_file" : config.key_file.empty() ? "key_file" : "";
}

std::string DialTarget(const std::string& address) {
  if (!IsLocalhost(address)) return address;
  const std::string port = address.substr(kLocalhost.size() + 1);
  // gRPC requires all addresses of a target to be of one family.
  return absl::StrCat("ipv6:[::1]:", port, ",[::ffff:127.0.0.1]:", port);
}

}  // namespace sideband::client
