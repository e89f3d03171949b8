// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/listener_tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/base/openssl.h"

namespace sideband::daemon {
namespace {

TEST(KeyUpdatesTest, TheTenthWithinAMinuteIsTooMany) {
  KeyUpdates updates;
  for (int i = 0; i < 9; ++i) updates.Add(absl::Seconds(i));
  EXPECT_FALSE(updates.are_too_many());
  updates.Add(absl::Seconds(59));
  EXPECT_TRUE(updates.are_too_many());
}

TEST(KeyUpdatesTest, AnyMinuteCounts) {
  KeyUpdates updates;
  for (int i = 0; i < 100; ++i) updates.Add(absl::Seconds(7) * i);
  EXPECT_FALSE(updates.are_too_many()) << "nine a minute";
  for (int i = 0; i < 8; ++i) updates.Add(absl::Seconds(7 * 99 + 1));
  EXPECT_TRUE(updates.are_too_many());
  updates.Add(absl::Hours(1));
  EXPECT_TRUE(updates.are_too_many()) << "it stays so";
}

// A TLS 1.3 connection in memory.
class KeyUpdateConnectionTest : public testing::Test {
 protected:
  KeyUpdateConnectionTest() {
    TlsServerConfig config = ca_.Server();
    config.client_auth = ClientAuth::kNone;
    tls_ = *ListenerTls::Create("http", config, ApplicationProtocol::kAny, *metrics_);
    server_.reset(SSL_new(tls_->Current().context.get()));
    BIO *client_end = nullptr, *server_end = nullptr;
    BIO_new_bio_pair(&client_end, 0, &server_end, 0);
    SSL_set_bio(client_.get(), client_end, client_end);
    SSL_set_bio(server_.get(), server_end, server_end);
    SSL_set_connect_state(client_.get());
    SSL_set_accept_state(server_.get());
    for (int i = 0; i < 10; ++i) {
      SSL_do_handshake(client_.get());
      SSL_do_handshake(server_.get());
    }
  }

  void Update() {
    ASSERT_EQ(SSL_key_update(client_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(client_.get()), 1);
  }
  // A byte from the client, or what SSL_get_error() says.
  int Pass() {
    SSL_write(client_.get(), "x", 1);
    char byte = 0;
    int read = SSL_read(server_.get(), &byte, 1);
    // A KeyUpdate before the byte.
    for (int i = 0; i < 20 && SSL_get_error(server_.get(), read) == SSL_ERROR_WANT_READ; ++i) {
      read = SSL_read(server_.get(), &byte, 1);
    }
    return read == 1 ? SSL_ERROR_NONE : SSL_get_error(server_.get(), read);
  }

  const FakeCa ca_{"ca", testing::TempDir()};
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  std::unique_ptr<ListenerTls> tls_;
  const SslContextPtr context_{SSL_CTX_new(TLS_client_method())};
  const SslPtr client_{SSL_new(context_.get())};
  SslPtr server_;
};

TEST_F(KeyUpdateConnectionTest, NineAreAccepted) {
  for (int i = 0; i < 9; ++i) Update();
  EXPECT_EQ(Pass(), SSL_ERROR_NONE);
  EXPECT_FALSE(HasTooManyKeyUpdates(server_.get()));
}

TEST_F(KeyUpdateConnectionTest, TheTenthEndsTheConnection) {
  EXPECT_EQ(Pass(), SSL_ERROR_NONE);
  for (int i = 0; i < 10; ++i) Update();
  EXPECT_EQ(Pass(), SSL_ERROR_ZERO_RETURN);
  EXPECT_TRUE(HasTooManyKeyUpdates(server_.get()));
  EXPECT_EQ(SSL_write(server_.get(), "bye", 3), 3) << "a farewell is possible";
}

using testing::StartsWith;

// A certificate that signs itself.
struct Wanted {
  const char* group = "P-256";
  const char* names = "DNS:localhost";
  const char* usage = nullptr;
  const char* key_usage = nullptr;
  long begins_s = -3600, ends_s = 3600;  // from now
};

std::string TextOf(const BioPtr& text) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return std::string(bytes, static_cast<size_t>(size));
}

void Extend(X509* certificate, int kind, const char* value) {
  if (value == nullptr) return;
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  ASSERT_NE(extension, nullptr);
  ASSERT_EQ(X509_add_ext(certificate, extension.get(), -1), 1);
}

CertificatePtr Sign(const Wanted& wanted, EVP_PKEY* key) {
  CertificatePtr certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), wanted.begins_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), wanted.ends_s);
  X509_set_pubkey(certificate.get(), key);
  const auto* const name = reinterpret_cast<const unsigned char*>("checked");
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8, name, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  Extend(certificate.get(), NID_subject_alt_name, wanted.names);
  Extend(certificate.get(), NID_ext_key_usage, wanted.usage);
  Extend(certificate.get(), NID_key_usage, wanted.key_usage);
  EXPECT_GT(X509_sign(certificate.get(), key, EVP_sha256()), 0);
  return certificate;
}

class HandshakeCheckTest : public testing::Test {
 protected:
  absl::Status Check(const Wanted& wanted, TlsVersion least = TlsVersion::kTls13) {
    const KeyPtr key(EVP_EC_gen(wanted.group));
    EXPECT_NE(key, nullptr) << wanted.group;
    const CertificatePtr certificate = Sign(wanted, key.get());
    const BioPtr certificate_text(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(certificate_text.get(), certificate.get());
    PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::filesystem::remove(config_.key_file);
    std::ofstream(config_.key_file) << TextOf(key_text);
    std::filesystem::permissions(config_.key_file, std::filesystem::perms::owner_read);
    std::ofstream(config_.cert_file) << TextOf(certificate_text);
    config_.min_version = least;
    const auto files = TlsFiles::Load(config_);
    EXPECT_TRUE(files.ok()) << files.status() << ": the files alone are good";
    return files.ok() ? CheckHandshake(**files, config_) : files.status();
  }

  const std::string folder_ = testing::TempDir();
  const FakeCa ca_{"ca", folder_};
  TlsServerConfig config_ = {
      .cert_file = folder_ + "/checked.pem", .key_file = folder_ + "/checked.key", .client_ca_file = ca_.ca_file()};
};

TEST_F(HandshakeCheckTest, WhatClientsCanUseIsGood) {
  for (const char* const group : {"P-256", "P-384", "P-521"}) {
    EXPECT_EQ(Check({.group = group}), absl::OkStatus()) << group;
    EXPECT_EQ(Check({.group = group}, TlsVersion::kTls12), absl::OkStatus()) << group;
  }
  EXPECT_EQ(Check({.names = "IP:127.0.0.1", .usage = "serverAuth,clientAuth"}), absl::OkStatus());
  const TlsServerConfig issued = ca_.Server();
  EXPECT_EQ(CheckHandshake(**TlsFiles::Load(issued), issued), absl::OkStatus()) << "without the issuer";
}

TEST_F(HandshakeCheckTest, WhatNoClientCanUseIsNamedInOneLine) {
  const struct {
    Wanted wanted;
    std::string why;
  } kRows[] = {
      {{.ends_s = -60}, "has expired, at 2"},
      {{.begins_s = 1800}, "is not valid before 2"},
      {{.names = nullptr}, "has no name: subjectAltName has neither a DNS name nor an IP address"},
      {{.names = "URI:spiffe://example.org/daemon"}, "has no name: "},
      {{.usage = "clientAuth"}, "is not a server certificate: its extended key usage lacks serverAuth"},
      {{.key_usage = "keyCertSign"}, "is not a server certificate: its key usage does not allow it"},
      {{.group = "brainpoolP256r1"}, "no client can use a key of type brainpoolP256r1: "},
      {{.group = "secp256k1"}, "no client can use a key of type secp256k1: "},
  };
  for (const auto& row : kRows) {
    for (const TlsVersion least : {TlsVersion::kTls13, TlsVersion::kTls12}) {
      const absl::Status status = Check(row.wanted, least);
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << row.why;
      EXPECT_THAT(std::string(status.message()), StartsWith(config_.cert_file + ": " + row.why));
      EXPECT_EQ(status.message().find('\n'), absl::string_view::npos);
    }
  }
}

TEST_F(HandshakeCheckTest, EachListenerOnTheNetworkIsChecked) {
  ASSERT_FALSE(Check({.names = nullptr}).ok());
  Config config;
  config.grpc.listener.tls = config.http.listener.tls = config_;
  const auto count = [&] {
    ErrorList errors;
    CheckHandshakes(config, errors);
    return errors.count();
  };
  EXPECT_EQ(count(), 1u) << "the same files";
  config.http.listener.tls.min_version = TlsVersion::kTls12;
  EXPECT_EQ(count(), 1u) << "the same error";
  config.http.listener.tls = ca_.Server();
  EXPECT_EQ(count(), 1u);
  config.grpc.listener.on_network = false;
  EXPECT_EQ(count(), 0u);
}

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class ListenerTlsTest : public testing::Test {
 protected:
  ListenerTlsTest() : tls_(*ListenerTls::Create("http", config_, ApplicationProtocol::kAny, *metrics_)) {}

  // Renames a new file over the old one, as renewal programs do.
  static void Replace(const std::string& path, const std::string& with) {
    fs::copy_file(with, path + ".new", fs::copy_options::overwrite_existing);
    fs::rename(path + ".new", path);
  }

  uint64_t Reloads(const std::string& outcome) const {
    const std::string line = absl::StrCat("sideband_tls_reloads_total{listener=\"http\",outcome=\"", outcome, "\"} ");
    const std::string text = metrics_->Serialize();
    const size_t at = text.find(line);
    return at == std::string::npos ? 0 : std::stoull(text.substr(at + line.size()));
  }

  const std::string folder_ = testing::TempDir();
  const FakeCa ca_{"ca", folder_};
  const TlsServerConfig config_ = ca_.Server();
  const CertificateFiles renewed_ = ca_.Issue("renewed", "DNS:localhost,IP:127.0.0.1");
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  const std::unique_ptr<ListenerTls> tls_;
};

TEST_F(ListenerTlsTest, NothingIsReadWhileNothingChanges) {
  tls_->Check();
  EXPECT_EQ(tls_->Current().version, 1u);
  EXPECT_EQ(Reloads("ok"), 0u);
  EXPECT_THAT(metrics_->Serialize(),
              HasSubstr("sideband_tls_certificate_not_after_timestamp_seconds{listener=\"http\"} 1"));
}

TEST_F(ListenerTlsTest, ARenewedPairIsTakenOnceItIsWhole) {
  Replace(config_.cert_file, renewed_.cert_file);
  tls_->Check();
  EXPECT_EQ(tls_->Current().version, 1u) << "the key is still the old one";
  EXPECT_EQ(Reloads("error"), 1u);
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_tls_last_reload_successful{listener=\"http\"} 0\n"));
  tls_->Check();
  EXPECT_EQ(Reloads("error"), 1u) << "the same mistake is told once";
  Replace(config_.key_file, renewed_.key_file);
  tls_->Check();
  EXPECT_EQ(tls_->Current().version, 2u);
  EXPECT_EQ(Reloads("ok"), 1u);
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_tls_last_reload_successful{listener=\"http\"} 1\n"));
}

TEST_F(ListenerTlsTest, AFileThatIsOverwrittenInPlaceIsSeen) {
  const FakeCa other("other-ca", folder_);
  fs::copy_file(other.ca_file(), config_.client_ca_file, fs::copy_options::overwrite_existing);
  tls_->Check();
  EXPECT_EQ(tls_->Current().version, 2u);
}

TEST_F(ListenerTlsTest, ALinkThatPointsElsewhereIsSeen) {
  fs::rename(config_.client_ca_file, folder_ + "/ca-1.pem");
  fs::create_symlink("ca-1.pem", config_.client_ca_file);
  tls_->Check();
  EXPECT_EQ(tls_->Current().version, 1u) << "the same content";
  const FakeCa other("other-ca", folder_);
  fs::create_symlink("other-ca.pem", folder_ + "/link");
  fs::rename(folder_ + "/link", config_.client_ca_file);
  tls_->Check();
  EXPECT_EQ(tls_->Current().version, 2u);
}

TEST_F(ListenerTlsTest, ADeletedFileLeavesTheOldInForceUntilItIsBack) {
  const auto before = tls_->Current();
  fs::rename(config_.key_file, config_.key_file + ".away");
  tls_->Check();
  EXPECT_EQ(tls_->Current().files, before.files);
  EXPECT_EQ(Reloads("error"), 1u);
  fs::rename(config_.key_file + ".away", config_.key_file);
  tls_->Check();
  EXPECT_EQ(tls_->Current().version, 1u) << "it is what it was";
  EXPECT_EQ(Reloads("ok"), 1u);
}

TEST_F(ListenerTlsTest, GarbageIsRefusedAgainWhenItChanges) {
  std::ofstream(config_.client_ca_file) << "garbage\n";
  tls_->Check();
  std::ofstream(config_.client_ca_file) << "other garbage\n";
  tls_->Check();
  EXPECT_EQ(Reloads("error"), 2u);
  EXPECT_EQ(tls_->Current().version, 1u);
}

TEST_F(ListenerTlsTest, ReloadReadsWhatLooksUnchanged) {
  tls_->Reload();
  EXPECT_EQ(Reloads("ok"), 1u);
  EXPECT_EQ(tls_->Current().version, 1u);
}

TEST_F(ListenerTlsTest, WhatNoClientCanUseReplacesNothingThatWorks) {
  const CertificateFiles nameless = ca_.Issue("nameless", "");
  Replace(config_.cert_file, nameless.cert_file);
  Replace(config_.key_file, nameless.key_file);
  tls_->Check();
  EXPECT_EQ(tls_->Current().version, 1u);
  EXPECT_EQ(Reloads("error"), 1u);
  const auto started = ListenerTls::Create("http", config_, ApplicationProtocol::kAny, *metrics_);
  ASSERT_TRUE(started.ok()) << started.status() << ": a start goes on";
  const CertificateFiles other = ca_.Issue("other", "");
  Replace(config_.cert_file, other.cert_file);
  Replace(config_.key_file, other.key_file);
  (*started)->Check();
  EXPECT_EQ((*started)->Current().version, 2u) << "nothing is lost";
}

TEST_F(ListenerTlsTest, CreationFailsWithTheFilesName) {
  TlsServerConfig config = config_;
  config.key_file = renewed_.key_file;
  const auto created = ListenerTls::Create("http", config, ApplicationProtocol::kAny, *metrics_);
  EXPECT_THAT(std::string(created.status().message()), HasSubstr("renewed.key: not the key of the certificate in"));
  EXPECT_THAT(metrics_->Serialize(), Not(HasSubstr("outcome=\"error\"")));
}

}  // namespace
}  // namespace sideband::daemon
