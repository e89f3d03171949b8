// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/listener_tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "daemon/identity/identity.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

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

void Free(void*, void* updates, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<KeyUpdates*>(updates); }

// Where a connection keeps its KeyUpdates. Most connections never have any.
int Place() {
  static const int place = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, Free);
  return place;
}

KeyUpdates* UpdatesOf(const SSL* ssl) { return static_cast<KeyUpdates*>(SSL_get_ex_data(ssl, Place())); }

KeyUpdates* NewUpdatesOf(SSL* ssl) {
  auto* const updates = new KeyUpdates;
  if (SSL_set_ex_data(ssl, Place(), updates) == 1) return updates;
  delete updates;
  return nullptr;
}

void OnMessage(int sent, int, int type, const void* bytes, size_t size, SSL* ssl, void*) {
  if (sent != 0 || type != SSL3_RT_HANDSHAKE || size == 0) return;
  if (*static_cast<const unsigned char*>(bytes) != SSL3_MT_KEY_UPDATE) return;
  KeyUpdates* const known = UpdatesOf(ssl);
  KeyUpdates* const updates = known != nullptr ? known : NewUpdatesOf(ssl);
  if (updates != nullptr) updates->Add(SteadyNow());
  // OpenSSL decrypts nothing more, as if the peer had closed its direction. Writing a farewell is still possible.
  if (updates == nullptr || updates->are_too_many())
    SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
}

// All clients built within the last ten years offer these: Go's, BoringSSL's and OpenSSL's have them in common. OpenSSL
// by itself offers more.
constexpr char kSignatures[] =
    "ecdsa_secp256r1_sha256:ecdsa_secp384r1_sha384:ecdsa_secp521r1_sha512:ed25519:rsa_pss_rsae_sha256:"
    "rsa_pss_rsae_sha384:rsa_pss_rsae_sha512:rsa_pss_pss_sha256:rsa_pkcs1_sha256:rsa_pkcs1_sha384:rsa_pkcs1_sha512";
constexpr char kGroups[] = "X25519:P-256:P-384:P-521";
// Flights of a handshake, and more than enough of them.
constexpr int kFlightsMax = 20;

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

// The client trusts every issuer: real clients judge which one it is, and what else the file has.
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

// Checks what clients look at besides the issuer.
absl::Status CheckCertificate(X509* certificate, const std::string& file) {
  const auto fault = [&](auto&&... what) { return absl::FailedPreconditionError(absl::StrCat(file, ": ", what...)); };
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0) {
    return fault("has expired, at ", UtcText(X509_get0_notAfter(certificate)));
  }
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
    return fault("is not valid before ", UtcText(X509_get0_notBefore(certificate)));
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

// Compares the contents. Keys are comparable as pointers: TlsFiles shares one object for equal keys.
bool AreSame(const TlsFiles& a, const TlsFiles& b) {
  return a.certificates() == b.certificates() && a.key() == b.key() && a.client_ca() == b.client_ca();
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

void KeyUpdates::Add(absl::Duration now) {
  absl::Duration& oldest = times_[count_ % kMax];
  oldest = now;
  ++count_;
  if (count_ < kMax) return;
  // The oldest of the newest kMax is the next to be overwritten.
  if (now - times_[count_ % kMax] < kWithin) are_too_many_ = true;
}

void EndAtKeyUpdates(SSL_CTX& context) {
  Place();
  SSL_CTX_set_msg_callback(&context, OnMessage);
}

bool HasTooManyKeyUpdates(const SSL* ssl) {
  const KeyUpdates* const updates = UpdatesOf(ssl);
  return updates != nullptr && updates->are_too_many();
}

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

ListenerTls::ListenerTls(std::string listener, TlsServerConfig config, ApplicationProtocol protocol,
                         ListenerMetrics& metrics)
    : listener_(std::move(listener)), config_(std::move(config)), protocol_(protocol), metrics_(metrics) {}

absl::StatusOr<std::unique_ptr<ListenerTls>> ListenerTls::Create(std::string listener, TlsServerConfig config,
                                                                 ApplicationProtocol protocol,
                                                                 ListenerMetrics& metrics) {
  std::unique_ptr<ListenerTls> tls(new ListenerTls(std::move(listener), std::move(config), protocol, metrics));
  absl::MutexLock lock(&tls->check_mu_);
  // Before loading: a change during the load then shows at the first Check().
  tls->seen_ = tls->Look();
  SIDEBAND_ASSIGN_OR_RETURN(auto files, TlsFiles::Load(tls->config_));
  const absl::Status usable = CheckHandshake(*files, tls->config_);
  SIDEBAND_RETURN_IF_ERROR(tls->Take(std::move(files)));
  tls->TellIfUnusable(usable);
  return tls;
}

ListenerTls::Stamp ListenerTls::StampOf(const std::string& path) {
  struct stat file;
  if (path.empty() || stat(path.c_str(), &file) != 0) return {};
  return {.device = file.st_dev,
          .inode = file.st_ino,
          .size = static_cast<uint64_t>(file.st_size),
          .modified = absl::TimeFromTimespec(file.st_mtim),
          .changed = absl::TimeFromTimespec(file.st_ctim)};
}

ListenerTls::Stamps ListenerTls::Look() const {
  return {StampOf(config_.cert_file), StampOf(config_.key_file), StampOf(config_.client_ca_file)};
}

ListenerTls::Loaded ListenerTls::Current() const {
  absl::MutexLock lock(&mu_);
  return current_;
}

void ListenerTls::Check() {
  absl::MutexLock lock(&check_mu_);
  const Stamps stamps = Look();
  if (stamps != seen_ || !last_error_.empty()) Read(stamps);
}

void ListenerTls::Reload() {
  absl::MutexLock lock(&check_mu_);
  Read(Look());
}

void ListenerTls::Read(const Stamps& stamps) {
  auto files = TlsFiles::Load(config_);
  // The files changed while they were read, so the result may mix old and new contents. The next Check() retries.
  if (Look() != stamps) return;
  // A failure is reported once per content of the files.
  const bool is_new = std::exchange(seen_, stamps) != stamps;
  if (!files.ok()) return Refuse(files.status(), is_new);
  // A certificate that no client can use must not replace one that works.
  const absl::Status usable = CheckHandshake(**files, config_);
  if (!usable.ok() && CheckHandshake(*Current().files, config_).ok()) return Refuse(usable, is_new);
  if (AreSame(**files, *Current().files)) {
    if (!last_error_.empty()) spdlog::info("{}: the certificates are valid again", listener_);
  } else {
    const absl::Status taken = Take(*std::move(files));
    if (!taken.ok()) return Refuse(taken, is_new);
    spdlog::info("{}: new certificates are in force, until {}", listener_,
                 absl::FormatTime(absl::RFC3339_sec, Current().files->not_after(), absl::UTCTimeZone()));
    TellIfUnusable(usable);
  }
  last_error_.clear();
  metrics_.TlsReload(listener_, true);
}

absl::Status ListenerTls::Take(std::unique_ptr<const TlsFiles> files) {
  SIDEBAND_ASSIGN_OR_RETURN(TlsContext context, MakeTlsContext(*files, config_, protocol_));
  metrics_.TlsCertificate(listener_, files->not_after());
  absl::MutexLock lock(&mu_);
  current_ = {std::move(files), std::move(context), current_.version + 1};
  // After current_: a caller that sees the new version finds its files, or newer ones.
  version_.store(current_.version);
  return absl::OkStatus();
}

// The daemon goes on, since a renewal takes effect without a restart, and other listeners have other files.
void ListenerTls::TellIfUnusable(const absl::Status& usable) const {
  if (usable.ok()) return;
  spdlog::error("{}: {}; no client can connect until the file is replaced", listener_, std::string(usable.message()));
}

void ListenerTls::Refuse(const absl::Status& status, bool is_new) {
  std::string error(status.message());
  // The same error on unchanged files is logged and counted once.
  if (!is_new && error == last_error_) return;
  spdlog::error("{}: {}; the old certificates stay in force", listener_, error);
  metrics_.TlsReload(listener_, false);
  last_error_ = std::move(error);
}

}  // namespace sideband::daemon
