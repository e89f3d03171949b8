// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/tls_context.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/identity/peer_names.h"
#include "daemon/listen/key_updates.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

absl::Status FileStatus(bool good, const std::string& file) {
  // Clears the thread's error queue in any case, so that no later call reports this error.
  const char* const reason = good ? nullptr : ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", reason == nullptr ? "cannot be used" : reason));
}

// The first certificate is the server's own, the others its issuers.
bool UseChain(SSL_CTX* context, const std::string& pem) {
  const BioPtr reader = MemoryReader(pem);
  const CertificatePtr own = ReadCertificate(reader.get());
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) return false;
  while (const CertificatePtr issuer = ReadCertificate(reader.get())) {
    if (SSL_CTX_add1_chain_cert(context, issuer.get()) != 1) return false;
  }
  return true;
}

bool UseAuthority(SSL_CTX* context, const std::string& pem) {
  const BioPtr reader = MemoryReader(pem);
  while (const CertificatePtr authority = ReadCertificate(reader.get())) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) return false;
  }
  return true;
}

absl::Status UseFiles(SSL_CTX* context, const TlsFiles& files, const TlsServerConfig& config) {
  SIDEBAND_RETURN_IF_ERROR(FileStatus(UseChain(context, files.certificates()), config.cert_file));
  // After the certificate, so that OpenSSL rejects a key that does not belong to it.
  SIDEBAND_RETURN_IF_ERROR(FileStatus(SSL_CTX_use_PrivateKey(context, files.key().get()) == 1, config.key_file));
  return FileStatus(UseAuthority(context, files.client_ca()), config.client_ca_file);
}

// A resumed session would skip the verification of the client certificate, which may have expired or lost its authority
// since.
void ForbidResumption(SSL_CTX* context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // A renegotiation of TLS 1.2 could show another certificate than the one that identified the connection.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  // In TLS 1.3 SSL_OP_NO_TICKET only makes tickets refer to the server's memory; their number suppresses them.
  SSL_CTX_set_num_tickets(context, 0);
}

int VerifyMode(ClientAuth auth) {
  switch (auth) {
    case ClientAuth::kRequireAndVerify:
      return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    case ClientAuth::kVerifyIfGiven:
      return SSL_VERIFY_PEER;
    case ClientAuth::kNone:
      return SSL_VERIFY_NONE;
  }
  // Unreachable; the strictest mode.
  return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

int SelectHttp2(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                unsigned offered_size, void*) {
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  unsigned char* match = nullptr;
  if (SSL_select_next_proto(&match, chosen_size, kHttp2, sizeof(kHttp2), offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    // Fails the handshake; SSL_TLSEXT_ERR_NOACK would continue without ALPN.
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = match;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

int VerifyClient(int good, X509_STORE_CTX* verified) {
  if (good != 1 || X509_STORE_CTX_get_error_depth(verified) != 0) return good;
  if (!IsSigningCertificate(X509_STORE_CTX_get_current_cert(verified))) return 1;
  X509_STORE_CTX_set_error(verified, X509_V_ERR_INVALID_PURPOSE);
  return 0;
}

absl::StatusOr<TlsContext> MakeTlsContext(const TlsFiles& files, const TlsServerConfig& config,
                                          ApplicationProtocol protocol) {
  const TlsContext context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (context == nullptr) return absl::ResourceExhaustedError("TLS: no memory");
  SIDEBAND_RETURN_IF_ERROR(UseFiles(context.get(), files, config));
  ForbidResumption(context.get());
  // Saves the buffers of idle connections, which most are.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  // Otherwise one SSL_read would not return while a peer sends KeyUpdates instead of data.
  SSL_CTX_clear_mode(context.get(), SSL_MODE_AUTO_RETRY);
  EndAtKeyUpdates(*context);
  SSL_CTX_set_min_proto_version(context.get(),
                                config.min_version == TlsVersion::kTls13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), VerifyMode(config.client_auth), VerifyClient);
  if (protocol == ApplicationProtocol::kHttp2) SSL_CTX_set_alpn_select_cb(context.get(), SelectHttp2, nullptr);
  return context;
}

}  // namespace sideband::daemon
