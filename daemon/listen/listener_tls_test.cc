// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/listener_tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {
namespace {

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
