// SPDX-License-Identifier: Apache-2.0
#include "client/lib/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/lib/pem.h"
#include "client/lib/token.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr char kLocalScheme[] = "unix:";

bool IsLocal(const ClientConfig& config) { return absl::StartsWith(config.address, kLocalScheme); }

// host:port, [address]:port; gRPC would take other schemes and a missing port too, and connect somewhere unexpected.
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

absl::Status CheckGiven(const std::string& value, absl::string_view key, absl::string_view flag) {
  if (!value.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("no ", key, " is given: name it in the configuration file or by ", flag));
}

absl::Status CheckConfig(const ClientConfig& config) {
  SIDEBAND_RETURN_IF_ERROR(CheckAddress(config.address));
  SIDEBAND_RETURN_IF_ERROR(CheckGiven(config.ca_file, "ca_file", "--ca-file"));
  // A token may take the certificate's place.
  if (!config.token_file.empty() && config.cert_file.empty() && config.key_file.empty()) return absl::OkStatus();
  SIDEBAND_RETURN_IF_ERROR(CheckGiven(config.cert_file, "cert_file", "--cert-file"));
  return CheckGiven(config.key_file, "key_file", "--key-file");
}

// TLS, and with a token the field `authorization` of each call.
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
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  // Only what was configured: no proxy from the environment between us and a host's management port.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (!config.server_name.empty()) arguments.SetSslTargetNameOverride(config.server_name);
  return arguments;
}

// The daemon knows us by our user, and the socket is its alone to make: no certificates.
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
  return grpc::CreateCustomChannel(config.address, credentials, Arguments(config));
}

}  // namespace sideband::client
