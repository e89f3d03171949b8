// SPDX-License-Identifier: Apache-2.0
#include "client/lib/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"
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

constexpr size_t kPemSizeMax = 1 << 20;

CertificatePtr FirstCertificate(const std::string& pem) { return ReadCertificate(MemoryReader(pem).get()); }

constexpr char kPrivateKey[] = "PRIVATE KEY-----", kEncrypted[] = "ENCRYPTED";

absl::Status Bad(const std::string& path, absl::string_view what) {
  // OpenSSL's errors must not remain in the thread's queue.
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

// Loads the client's certificate and key.
absl::Status LoadOwn(const std::string& cert_file, const std::string& key_file, TlsMaterial& material) {
  SIDEBAND_ASSIGN_OR_RETURN(material.certificate, ReadFile(cert_file, kPemSizeMax));
  SIDEBAND_ASSIGN_OR_RETURN(material.key, ReadFile(key_file, kPemSizeMax));
  const CertificatePtr certificate = FirstCertificate(material.certificate);
  if (certificate == nullptr && absl::StrContains(material.certificate, kPrivateKey)) {
    return Bad(cert_file, "a private key, not a certificate: are cert_file and key_file swapped?");
  }
  if (certificate == nullptr) return Bad(cert_file, "no PEM certificate in it");
  const KeyPtr key = ReadPrivateKey(MemoryReader(material.key).get());
  if (key == nullptr && absl::StrContains(material.key, kEncrypted)) {
    return Bad(key_file, absl::StrCat("the private key has a passphrase: openssl pkey -in ", key_file,
                                      " -out NEW.key writes it without"));
  }
  if (key == nullptr) return Bad(key_file, "no PEM private key in it");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Bad(key_file, absl::StrCat("not the private key of ", cert_file));
  }
  return absl::OkStatus();
}

std::array<int64_t, 4> StampOf(const std::string& path) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  struct stat file {};
  if (path.empty() || ::stat(path.c_str(), &file) != 0) return {};
  return {static_cast<int64_t>(file.st_dev), static_cast<int64_t>(file.st_ino), file.st_size,
          file.st_mtim.tv_sec * kNanosPerSecond + file.st_mtim.tv_nsec};
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

absl::StatusOr<TlsMaterial> LoadTlsMaterial(const std::string& ca_file, const std::string& cert_file,
                                            const std::string& key_file) {
  TlsMaterial material;
  SIDEBAND_ASSIGN_OR_RETURN(material.ca, ReadFile(ca_file, kPemSizeMax));
  if (FirstCertificate(material.ca) == nullptr) return Bad(ca_file, "no PEM certificate in it");
  if (cert_file.empty() && key_file.empty()) return material;
  SIDEBAND_RETURN_IF_ERROR(LoadOwn(cert_file, key_file, material));
  return material;
}

absl::StatusOr<std::string> LoadToken(const std::string& path) {
  constexpr size_t kSpaceAround = 64;
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kTokenBytesMax + kSpaceAround));
  // Windows' editors and shells begin files with a byte order mark.
  if (absl::StartsWith(text, "\xFF\xFE") || absl::StartsWith(text, "\xFE\xFF")) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": a text in UTF-16: save it as plain text (UTF-8)"));
  }
  std::string token(absl::StripAsciiWhitespace(absl::StripPrefix(text, "\xEF\xBB\xBF")));
  if (token.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no token in it"));
  if (token.size() > kTokenBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": longer than ", kTokenBytesMax, " bytes"));
  }
  // Other characters are not valid in a header field.
  const bool is_one_word = std::all_of(token.begin(), token.end(), [](char c) { return absl::ascii_isgraph(c); });
  if (!is_one_word) return absl::InvalidArgumentError(absl::StrCat(path, ": more than one token, or none"));
  return token;
}

std::optional<absl::Time> TokenExpiry(const std::string& token) {
  const std::vector<std::string> parts = absl::StrSplit(token, '.');
  std::string claims;
  if (parts.size() != 3 || !absl::WebSafeBase64Unescape(parts[1], &claims)) return std::nullopt;
  // The claims are read without verification, for error messages only.
  const auto json = nlohmann::json::parse(claims, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("exp") || !json["exp"].is_number()) return std::nullopt;
  return absl::UnixEpoch() + absl::Seconds(json["exp"].get<double>());
}

FileStamps CredentialStamps(const ClientConfig& config) {
  return {StampOf(config.ca_file), StampOf(config.cert_file), StampOf(config.key_file), StampOf(config.token_file)};
}

}  // namespace sideband::client
