// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/tls_peer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"

namespace sideband::daemon {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// A certificate that its own key has signed, which is its authority, too.
class OwnAuthority {
 public:
  explicit OwnAuthority(const char* usage) {
    X509* const own = certificate_.get();
    X509_set_version(own, X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(own), -60);
    X509_gmtime_adj(X509_getm_notAfter(own), 3600);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(own), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("own"), -1, -1, 0);
    X509_set_issuer_name(own, X509_get_subject_name(own));
    X509_set_pubkey(own, key_.get());
    Add(NID_subject_alt_name, "URI:spiffe://example.org/own");
    Add(NID_basic_constraints, "CA:TRUE");
    Add(NID_key_usage, usage);
    X509_sign(own, key_.get(), EVP_sha256());
  }

  X509* certificate() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }
  std::string Pem() const {
    const BioPtr memory(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(memory.get(), certificate());
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &text);
    return {text, static_cast<size_t>(size)};
  }

 private:
  void Add(int kind, const char* value) {
    const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
    X509_add_ext(certificate_.get(), extension.get(), -1);
  }

  const KeyPtr key_{EVP_EC_gen("P-256")};
  const CertificatePtr certificate_{X509_new()};
};

class TlsPeerTest : public testing::Test {
 protected:
  static TlsServerConfig WithClients(TlsServerConfig config, const std::string& file) {
    config.client_ca_file = file;
    config.client_auth = ClientAuth::kVerifyIfGiven;
    return config;
  }

  // The peer after a handshake in memory with a client of these subject alternative names; without a client certificate
  // where they are empty.
  std::unique_ptr<TlsPeer> Connect(const std::string& names) {
    const SslContextPtr context(SSL_CTX_new(TLS_client_method()));
    if (!names.empty()) {
      const CertificateFiles files = ca_.Issue("peer", names);
      SSL_CTX_use_certificate_file(context.get(), files.cert_file.c_str(), SSL_FILETYPE_PEM);
      SSL_CTX_use_PrivateKey_file(context.get(), files.key_file.c_str(), SSL_FILETYPE_PEM);
    }
    const SslPtr client(SSL_new(context.get()));
    const SslPtr server(SSL_new(tls_->Current().context.get()));
    EXPECT_TRUE(ShakeHands(*client, *server));
    return PeerOf(*server);
  }
  static bool ShakeHands(SSL& client, SSL& server) {
    BIO *client_end = nullptr, *server_end = nullptr;
    BIO_new_bio_pair(&client_end, 0, &server_end, 0);
    SSL_set_bio(&client, client_end, client_end);
    SSL_set_bio(&server, server_end, server_end);
    SSL_set_connect_state(&client);
    SSL_set_accept_state(&server);
    for (int i = 0; i < 10; ++i) {
      SSL_do_handshake(&client);
      SSL_do_handshake(&server);
    }
    return SSL_is_init_finished(&server) == 1;
  }
  std::unique_ptr<TlsPeer> PeerOf(const SSL& server) {
    return std::make_unique<TlsPeer>(&server, *tls_, ConnectionLimits{.age_max = absl::Hours(1), .clock = &clock_});
  }

  void TrustAlso(const FakeCa& other, bool instead) {
    const std::string text = instead ? "" : *ReadFile(ca_.ca_file());
    std::ofstream(clients_) << text << *ReadFile(other.ca_file());
    tls_->Reload();
  }

  const std::string folder_ = testing::TempDir();
  const std::string clients_ = folder_ + "/clients.pem";
  const FakeCa ca_{"ca", folder_};
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  const std::unique_ptr<ListenerTls> tls_ =
      *ListenerTls::Create("http", WithClients(ca_.Server(), Prepared()), ApplicationProtocol::kAny, *metrics_);
  FakeClock clock_{absl::Now()};

 private:
  const std::string& Prepared() const {
    fs::copy_file(ca_.ca_file(), clients_, fs::copy_options::overwrite_existing);
    return clients_;
  }
};

TEST_F(TlsPeerTest, TellsTheNamesAndTheirEnd) {
  const auto peer = Connect("URI:spiffe://example.org/a");
  EXPECT_THAT(peer->names().uris, ElementsAre("spiffe://example.org/a"));
  EXPECT_GT(peer->not_after(), clock_.Now() + absl::Hours(24 * 29));
  EXPECT_TRUE(peer->Check().ok());
}

TEST_F(TlsPeerTest, ACertificateEndsWhileItsConnectionIsOpen) {
  const auto peer = Connect("URI:spiffe://example.org/a");
  clock_.Advance(peer->not_after() - clock_.Now() - absl::Seconds(1));
  EXPECT_TRUE(peer->Check().ok());
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(peer->Check(), absl::UnauthenticatedError("the client certificate has expired"));
}

TEST_F(TlsPeerTest, AnAuthorityThatIsAddedChangesNothing) {
  const auto peer = Connect("URI:spiffe://example.org/a");
  TrustAlso(FakeCa("more", folder_), /*instead=*/false);
  ASSERT_EQ(tls_->version(), 2u);
  EXPECT_TRUE(peer->Check().ok());
}

TEST_F(TlsPeerTest, AnAuthorityThatIsReplacedEndsItsConnections) {
  const auto peer = Connect("URI:spiffe://example.org/a"), nobody = Connect("");
  TrustAlso(FakeCa("other", folder_), /*instead=*/true);
  EXPECT_EQ(peer->Check(), absl::UnauthenticatedError("the client certificate's authority is no longer trusted"));
  EXPECT_EQ(peer->Check().code(), absl::StatusCode::kUnauthenticated) << "it stays so";
  EXPECT_TRUE(nobody->Check().ok()) << "it has shown nothing that could be no longer good";
}

TEST_F(TlsPeerTest, ASigningCertificateIsRefusedAtTheHandshakeAndLater) {
  for (const char* usage : {"digitalSignature,keyCertSign", "critical,digitalSignature,keyCertSign,cRLSign"}) {
    const OwnAuthority own(usage);
    std::ofstream(clients_) << own.Pem();
    tls_->Reload();
    const SslContextPtr context(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_use_certificate(context.get(), own.certificate());
    SSL_CTX_use_PrivateKey(context.get(), own.key());
    const SslPtr client(SSL_new(context.get())), again(SSL_new(context.get()));
    const SslPtr server(SSL_new(tls_->Current().context.get())), lax(SSL_new(tls_->Current().context.get()));
    EXPECT_FALSE(ShakeHands(*client, *server)) << usage;
    // OpenSSL alone accepts it.
    SSL_set_verify(lax.get(), SSL_VERIFY_PEER, [](int good, X509_STORE_CTX*) { return good; });
    ASSERT_TRUE(ShakeHands(*again, *lax)) << usage;
    const auto peer = PeerOf(*lax);
    EXPECT_THAT(peer->names().uris, IsEmpty());
    EXPECT_FALSE(peer->Check().ok());
  }
}

TEST_F(TlsPeerTest, AConnectionAges) {
  const auto peer = Connect("URI:spiffe://example.org/a");
  const ConnectionAge local({.age_max = absl::Hours(2), .clock = &clock_});
  clock_.Advance(absl::Hours(1) - absl::Seconds(1));
  EXPECT_TRUE(peer->CheckAge().ok());
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(peer->CheckAge().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(local.CheckAge().ok());
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(local.CheckAge().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sideband::daemon
