// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "client/lib/channel.h"
#include "client/lib/rpc_status.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

// Appends the token's expiry to a rejection by the daemon if the token has expired. Other errors are returned
// unchanged.
absl::Status WithTokenExpiry(const absl::Status& status, const CommandContext& context) {
  if (!IsRemote(status) || !(absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status))) return status;
  const auto config = context.Config();
  if (!config.ok() || config->token_file.empty()) return status;
  const auto token = LoadToken(config->token_file);
  if (!token.ok()) return status;
  const auto expiry = TokenExpiry(*token);
  if (!expiry.has_value() || *expiry > context.Now()) return status;
  const std::string when = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", *expiry, absl::UTCTimeZone());
  return MarkRemote(absl::Status(
      status.code(), absl::StrCat(status.message(), " (the token in ", config->token_file, " expired at ", when, ")")));
}

// gRPC's words for a handshake that fails are of the transport: in their place, what is wrong with which file.
absl::Status WithHandshakeCause(const absl::Status& status, const CommandContext& context) {
  if (!IsRemote(status) || !absl::IsUnavailable(status)) return status;
  const auto config = context.Config();
  const std::string cause = config.ok() ? HandshakeCause(*config, context.Now()) : "";
  if (cause.empty()) return status;
  absl::Status told = absl::UnavailableError(absl::StrCat(config->address, ": ", cause));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { told.SetPayload(url, payload); });
  return told;
}

constexpr char kExitCodeUrl[] = "sideband.client/exit_code";

constexpr timeval kPatience = {.tv_sec = 2, .tv_usec = 0};  // for each step
constexpr unsigned char kHttp2[] = {2, 'h', '2'};

struct Place {
  std::string host, port;
};

// HOST:PORT or [ADDRESS]:PORT; its form was checked before.
Place PlaceOf(absl::string_view address) {
  const size_t colon = address.rfind(':');
  absl::string_view host = address.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  return {std::string(host), std::string(address.substr(colon + 1))};
}

std::string IssuerOf(const X509* certificate) {
  const BioPtr text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_issuer_name(certificate), 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return std::string(bytes, static_cast<size_t>(size));
}

// Checks the client's own certificate by its own clock.
std::string TimeFault(const X509* own, const std::string& file, absl::Time now) {
  time_t at = absl::ToTimeT(now);
  if (X509_cmp_time(X509_get0_notAfter(own), &at) < 0) {
    return absl::StrCat(file, ": the certificate has expired, at ", UtcText(X509_get0_notAfter(own)), ": renew it");
  }
  if (X509_cmp_time(X509_get0_notBefore(own), &at) > 0) {
    return absl::StrCat(file, ": the certificate is not valid before ", UtcText(X509_get0_notBefore(own)),
                        ": is this machine's clock right?");
  }
  return "";
}

Descriptor ConnectTo(const Place& place) {
  const addrinfo hints{.ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (getaddrinfo(place.host.c_str(), place.port.c_str(), &hints, &found) != 0) return Descriptor();
  const absl::Cleanup free = [found] { freeaddrinfo(found); };
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Descriptor socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    if (!socket.is_open()) continue;
    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));  // also of connect()
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
    if (connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0) return socket;
  }
  return Descriptor();
}

// Once the connection is there: the handshake, and what the daemon says of it.
class Handshake {
 public:
  Handshake(const ClientConfig& config, const TlsMaterial& files, const X509* own)
      : config_(config), own_(own), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_alpn_protos(context_.get(), kHttp2, sizeof(kHttp2));
    const BioPtr authorities = MemoryReader(files.ca);
    while (const CertificatePtr authority = ReadCertificate(authorities.get())) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), authority.get());
    }
    UseOwn(files);
  }

  std::string Cause(int socket) {
    const Place place = PlaceOf(config_.address);
    const std::string name = config_.server_name.empty() ? place.host : config_.server_name;
    const SslPtr ssl(SSL_new(context_.get()));
    X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str()) != 1) {
      SSL_set1_host(ssl.get(), name.c_str());
      SSL_set_tlsext_host_name(ssl.get(), name.c_str());
    }
    SSL_set_fd(ssl.get(), socket);
    ERR_clear_error();
    char byte = 0;
    // In TLS 1.3 the client's part of the handshake is over before the daemon has seen the certificate: its refusal is
    // read in place of the first data.
    const int done = SSL_connect(ssl.get());
    const int result = done == 1 ? SSL_read(ssl.get(), &byte, 1) : done;
    if (result > 0) return "";
    const long verified = SSL_get_verify_result(ssl.get());
    if (verified != X509_V_OK) return DaemonFault(verified, name);
    const int reason = ERR_GET_REASON(ERR_peek_last_error());
    const bool has_closed = done == 1 && SSL_get_error(ssl.get(), result) != SSL_ERROR_WANT_READ;
    return AlertText(reason, has_closed);
  }

 private:
  void UseOwn(const TlsMaterial& files) {
    if (own_ == nullptr) return;
    const BioPtr chain = MemoryReader(files.certificate);
    const CertificatePtr first = ReadCertificate(chain.get());
    SSL_CTX_use_certificate(context_.get(), first.get());
    while (const CertificatePtr issuer = ReadCertificate(chain.get())) {
      SSL_CTX_add1_chain_cert(context_.get(), issuer.get());
    }
    SSL_CTX_use_PrivateKey(context_.get(), ReadPrivateKey(MemoryReader(files.key).get()).get());
  }

  std::string DaemonFault(long verified, const std::string& name) const {
    switch (verified) {
      case X509_V_ERR_HOSTNAME_MISMATCH:
      case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return absl::StrCat("the daemon's certificate is not for '", name,
                            "'; set server_name to a name that it is for");
      case X509_V_ERR_CERT_HAS_EXPIRED:
        return "the daemon's certificate has expired: the daemon's operator must renew it";
      case X509_V_ERR_CERT_NOT_YET_VALID:
        return "the daemon's certificate is not valid yet: is this machine's clock right?";
      case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
      case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
      case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        return absl::StrCat(config_.ca_file,
                            ": none of its CAs has issued the daemon's certificate; ca_file must name one that has");
      default:
        return absl::StrCat("the daemon's certificate: ", X509_verify_cert_error_string(verified));
    }
  }

  std::string AlertText(int reason, bool has_closed) const {
    if (own_ == nullptr) {
      if (reason == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED)
        return "the daemon requires a client certificate, and no cert_file is given";
      const bool may_be_required = has_closed || reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE;
      return may_be_required ? "the daemon may require a client certificate, and no cert_file is given" : "";
    }
    switch (reason) {
      case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        return absl::StrCat(config_.cert_file, ": the certificate has expired, says the daemon");
      case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
      case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        return absl::StrCat(config_.cert_file, ": the daemon refuses the certificate: ",
                            ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, reason)));
      case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:  // another one of the same name
        return absl::StrCat(config_.cert_file, ": the daemon does not know the certificate's issuer, ", IssuerOf(own_));
      default:
        return has_closed
                   ? absl::StrCat(config_.cert_file,
                                  ": the daemon closed the connection when it received the certificate, issued by ",
                                  IssuerOf(own_))
                   : "";
    }
  }

  const ClientConfig& config_;
  const X509* const own_;
  const SslContextPtr context_;
};

}  // namespace

void CommandContext::Note(const std::string& note) {
  // An error of the host's daemon begins with its address.
  const bool has_host = host_.empty() || absl::StartsWith(note, absl::StrCat(host_, ":"));
  // Several hosts may have something to say at the same time.
  ABSL_CONST_INIT static absl::Mutex mu(absl::kConstInit);
  const absl::MutexLock lock(&mu);
  // A failure to write to standard error cannot be reported anywhere.
  (void)environment_.err.Write(
      absl::StrCat("sideband: ", Visible(has_host ? note : absl::StrCat(host_, ": ", note)), "\n"));
}

CommandContext CommandContext::For(const std::string& host) const {
  ClientConfig flags = flags_;
  flags.address = host;
  CommandContext context(environment_, config_file_, std::move(flags));
  context.host_ = host;
  return context;
}

absl::Status CommandContext::Explain(const absl::Status& status) const {
  return WithHandshakeCause(WithTokenExpiry(status, *this), *this);
}

TableStyle CommandContext::StyleOf(TableStyle style) const {
  const std::optional<TerminalSize> terminal = Terminal();
  style.cut = terminal.has_value();
  if (terminal) style.columns = terminal->columns;
  return style;
}

absl::StatusOr<ClientConfig> CommandContext::Config() const {
  ClientConfig config;
  if (const auto file = FindClientConfig(config_file_, environment_.get_env); file.has_value()) {
    SIDEBAND_ASSIGN_OR_RETURN(config, LoadClientConfig(*file));
  }
  return Override(std::move(config), flags_);
}

// Says which file should have the setting that a connection lacks.
absl::Status CommandContext::Locate(const absl::Status& status, const ClientConfig& config) const {
  const std::string missing = MissingSetting(config);
  if (missing.empty() || !absl::StartsWith(status.message(), absl::StrCat("no ", missing, " is given"))) return status;
  const auto file = FindClientConfig(config_file_, environment_.get_env);
  if (file) return absl::InvalidArgumentError(absl::StrCat(*file, ": ", missing, " is missing, for ", config.address));
  return absl::InvalidArgumentError(
      absl::StrCat("there is no configuration: neither --config nor $SIDEBAND_CONFIG names a file, and "
                   "~/.config/sideband/client.yaml does not exist; ",
                   config.address, " needs a ", missing, ": give --config FILE, such as operator.yaml"));
}

absl::StatusOr<std::unique_ptr<TelemetryClient>> CommandContext::Connect() {
  SIDEBAND_ASSIGN_OR_RETURN(const ClientConfig config, Config());
  if (AddressesOf(config).size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("address '", config.address,
                                                   "': this command asks one daemon; several are for devices, get, "
                                                   "watch and top"));
  }
  stamps_ = CredentialStamps(config);
  const auto connected = environment_.connect(config);
  if (!connected.ok()) return Locate(connected.status(), config);
  const std::shared_ptr<grpc::Channel>& channel = *connected;
  return std::make_unique<TelemetryClient>(channel, TelemetryClient::Options{.peer = config.address}, cancellation());
}

bool CommandContext::HasNewCredentials() const {
  const absl::StatusOr<ClientConfig> config = Config();
  // A configuration that is broken for the moment is reported by the next Connect().
  return !config.ok() || CredentialStamps(*config) != stamps_;
}

absl::Status WithExitCode(absl::Status status, int code) {
  // A view, not a string: clang from 18 on names Cord's constructor for strings otherwise than g++, by which Debian's
  // Abseil is compiled, and programs would not link.
  status.SetPayload(kExitCodeUrl, absl::Cord(absl::AlphaNum(code).Piece()));
  return status;
}

std::optional<int> ExitCode(const absl::Status& status) {
  const auto payload = status.GetPayload(kExitCodeUrl);
  int code = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &code)) return std::nullopt;
  return code;
}

std::string HandshakeCause(const ClientConfig& config, absl::Time now) {
  if (config.ca_file.empty() || absl::StartsWith(config.address, "unix:")) return "";
  const absl::Cleanup clear = [] { ERR_clear_error(); };
  const auto files = LoadTlsMaterial(config.ca_file, config.cert_file, config.key_file);
  if (!files.ok()) return "";  // the connection's own error says so
  const CertificatePtr own = ReadCertificate(MemoryReader(files->certificate).get());
  const Descriptor socket = ConnectTo(PlaceOf(config.address));
  if (!socket.is_open()) return "";
  const std::string cause = Handshake(config, *files, own.get()).Cause(socket.get());
  if (cause.empty() || own == nullptr) return cause;
  const std::string own_fault = TimeFault(own.get(), config.cert_file, now);
  // The daemon's own certificate comes first in a handshake.
  return own_fault.empty() || !absl::StartsWith(cause, config.cert_file) ? cause : own_fault;
}

}  // namespace sideband::client
