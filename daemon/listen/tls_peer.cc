// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/tls_peer.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>

#include "daemon/identity/identity.h"
#include "proto/base/openssl.h"

namespace sideband::daemon {
namespace {

ConnectionLimits WithDefaults(ConnectionLimits limits) {
  // Never destroyed, so that connections may use it during static destruction.
  static const SystemClock& system = *new SystemClock;
  if (limits.clock == nullptr) limits.clock = &system;
  return limits;
}

// An issuer may expire before the client certificate.
absl::Time EndOf(const SSL* ssl) {
  absl::Time end = absl::InfiniteFuture();
  if (SSL_get0_peer_certificate(ssl) == nullptr) return end;
  const STACK_OF(X509)* const verified = SSL_get0_verified_chain(ssl);
  for (int i = 0; i < sk_X509_num(verified); ++i) end = std::min(end, NotAfter(sk_X509_value(verified, i)));
  return end;
}

// The same verification as in the handshake.
bool VerifiesUnder(X509_STORE& authority, X509* certificate, STACK_OF(X509) * chain) {
  const StoreContextPtr verifier(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(verifier.get(), &authority, certificate, chain) != 1) return false;
  X509_STORE_CTX_set_verify_cb(verifier.get(), VerifyClient);
  // The purpose that the handshake demands: a certificate for servers alone identifies no client.
  return X509_STORE_CTX_set_default(verifier.get(), "ssl_client") == 1 && X509_verify_cert(verifier.get()) == 1;
}

absl::Status AgeStatus(const ConnectionLimits& limits, absl::Duration since) {
  if (limits.clock->Steady() - since < limits.age_max) return absl::OkStatus();
  return absl::UnavailableError("the connection has reached its maximum age; connect again");
}

}  // namespace

TlsPeer::TlsPeer(const SSL* ssl, const ListenerTls& tls, ConnectionLimits limits)
    : tls_(tls),
      limits_(WithDefaults(limits)),
      certificate_(SSL_get1_peer_certificate(ssl)),
      chain_(certificate_ == nullptr ? nullptr : X509_chain_up_ref(SSL_get_peer_cert_chain(ssl))),
      names_(PeerNames(certificate_)),
      not_after_(EndOf(ssl)),
      since_(limits_.clock->Steady()) {}

TlsPeer::~TlsPeer() {
  X509_free(certificate_);
  sk_X509_pop_free(chain_, X509_free);
}

// Without a certificate there is no authority to check.
bool TlsPeer::IsTrusted() const {
  if (certificate_ == nullptr) return true;
  // Read before the context: a verdict on newer files is then stored under the older version, and made once more.
  const uint64_t version = tls_.version();
  const uint64_t known = verdict_.load();
  // Verifies once per version of the listener's files.
  if (known >> 1 == version) return (known & 1) != 0;
  const TlsContext context = tls_.Current().context;
  const bool good = VerifiesUnder(*SSL_CTX_get_cert_store(context.get()), certificate_, chain_);
  ERR_clear_error();
  verdict_.store(version << 1 | (good ? 1 : 0));
  return good;
}

absl::Status TlsPeer::Check() const {
  // Certificates state wall-clock times; the age of a connection is monotonic.
  if (limits_.clock->Now() >= not_after_) return absl::UnauthenticatedError("the client certificate has expired");
  if (!IsTrusted()) return absl::UnauthenticatedError("the client certificate's authority is no longer trusted");
  return absl::OkStatus();
}

absl::Status TlsPeer::CheckAge() const { return AgeStatus(limits_, since_); }

ConnectionAge::ConnectionAge(ConnectionLimits limits)
    : limits_(WithDefaults(limits)), since_(limits_.clock->Steady()) {}

absl::Status ConnectionAge::CheckAge() const { return AgeStatus(limits_, since_); }

}  // namespace sideband::daemon
