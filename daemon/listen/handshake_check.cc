// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/handshake_check.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "daemon/listen/tls_context.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// What clients offer that were built within the last ten years: Go's, BoringSSL's and OpenSSL's have these in common.
// OpenSSL by itself offers more.
constexpr char kSignatures[] =
    "ecdsa_secp256r1_sha256:ecdsa_secp384r1_sha384:ecdsa_secp521r1_sha512:ed25519:rsa_pss_rsae_sha256:"
    "rsa_pss_rsae_sha384:rsa_pss_rsae_sha512:rsa_pss_pss_sha256:rsa_pkcs1_sha256:rsa_pkcs1_sha384:rsa_pkcs1_sha512";
constexpr char kGroups[] = "X25519:P-256:P-384:P-521";
// Flights of a handshake, and more than enough of them.
constexpr int kFlightsMax = 20;

std::string TextOf(const ASN1_TIME* time) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(time, &utc) != 1) return "an unknown time";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromTM(utc, absl::UTCTimeZone()), absl::UTCTimeZone());
}

std::string KindOf(EVP_PKEY* key) {
  char group[64] = {};
  size_t size = 0;
  if (EVP_PKEY_get_group_name(key, group, sizeof(group), &size) == 1 && size > 0) return std::string(group, size);
  const char* const type = EVP_PKEY_get0_type_name(key);
  return type == nullptr ? "unknown" : type;
}

// Clients look for the name that they have called among the alternative ones; most know no other.
bool HasName(const X509* certificate) {
  const GeneralNamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const int type = sk_GENERAL_NAME_value(names.get(), i)->type;
    if (type == GEN_DNS || type == GEN_IPADD) return true;
  }
  return false;
}

// Of a client that trusts every issuer: which one it is, and what else the file has, are for real clients to judge.
SslContextPtr MakeClient() {
  SslContextPtr client(SSL_CTX_new(TLS_client_method()));
  if (client == nullptr) return client;
  SSL_CTX_set1_sigalgs_list(client.get(), kSignatures);
  SSL_CTX_set1_groups_list(client.get(), kGroups);
  SSL_CTX_set_verify(client.get(), SSL_VERIFY_NONE, nullptr);
  return client;
}

// 1: done; 0: waits for the other side; -1: failed.
int Advance(SSL* side) {
  const int result = SSL_do_handshake(side);
  if (result == 1) return 1;
  const int error = SSL_get_error(side, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

// Until both are done, or one has failed.
bool ShakeHands(SSL* client, SSL* server) {
  bool is_done = false;
  for (int flight = 0; flight < kFlightsMax && !is_done; ++flight) {
    const int there = Advance(client);
    if (there < 0) return false;
    const int here = Advance(server);
    if (here < 0) return false;
    is_done = there == 1 && here == 1;
  }
  return is_done;
}

// What clients look at besides the issuer.
absl::Status CheckCertificate(X509* certificate, const std::string& file) {
  const auto fault = [&](auto&&... what) { return absl::FailedPreconditionError(absl::StrCat(file, ": ", what...)); };
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0) {
    return fault("has expired, at ", TextOf(X509_get0_notAfter(certificate)));
  }
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
    return fault("is not valid before ", TextOf(X509_get0_notBefore(certificate)));
  }
  const bool lacks_server_auth = (X509_get_extension_flags(certificate) & EXFLAG_XKUSAGE) != 0 &&
                                 (X509_get_extended_key_usage(certificate) & XKU_SSL_SERVER) == 0;
  if (lacks_server_auth) return fault("is not a server certificate: its extended key usage lacks serverAuth");
  if (X509_check_purpose(certificate, X509_PURPOSE_SSL_SERVER, 0) != 1) {
    return fault("is not a server certificate: its key usage does not allow it");
  }
  if (HasName(certificate)) return absl::OkStatus();
  return fault("has no name: subjectAltName has neither a DNS name nor an IP address");
}

}  // namespace

absl::Status CheckHandshake(const TlsFiles& files, const TlsServerConfig& config) {
  const absl::Cleanup clear = [] { ERR_clear_error(); };
  SIDEBAND_ASSIGN_OR_RETURN(const TlsContext context, MakeTlsContext(files, config, ApplicationProtocol::kAny));
  const SslContextPtr client_context = MakeClient();
  const SslPtr server(SSL_new(context.get())), client(SSL_new(client_context.get()));
  BIO *near = nullptr, *far = nullptr;
  if (server == nullptr || client == nullptr || BIO_new_bio_pair(&near, 0, &far, 0) != 1) {
    return absl::ResourceExhaustedError("TLS: no memory");
  }
  SSL_set_bio(client.get(), near, near);
  SSL_set_bio(server.get(), far, far);
  SSL_set_connect_state(client.get());
  SSL_set_accept_state(server.get());
  SSL_set_verify(server.get(), SSL_VERIFY_NONE, nullptr);  // the client has no certificate
  ERR_clear_error();
  const bool is_done = ShakeHands(client.get(), server.get());
  if (is_done) return CheckCertificate(SSL_get_certificate(server.get()), config.cert_file);
  const char* const reason = ERR_reason_error_string(ERR_peek_error());
  return absl::FailedPreconditionError(absl::StrCat(config.cert_file, ": no client can use a key of type ",
                                                    KindOf(files.key().get()), ": ",
                                                    reason == nullptr ? "no handshake" : reason));
}

void CheckHandshakes(const Config& config, ErrorList& errors) {
  for (const ListenerConfig* const listener : {&config.grpc.listener, &config.http.listener}) {
    const bool is_same = listener == &config.http.listener && config.grpc.listener.on_network &&
                         listener->tls == config.grpc.listener.tls;
    if (!listener->on_network || is_same) continue;
    const auto files = TlsFiles::Load(listener->tls);
    if (files.ok()) errors.Add(CheckHandshake(**files, listener->tls));
  }
}

}  // namespace sideband::daemon
