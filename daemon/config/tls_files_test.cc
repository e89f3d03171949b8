// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/tls_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "absl/time/clock.h"
#include "daemon/config/fake_certificates.h"
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

class TlsFilesTest : public testing::Test {
 protected:
  std::string Error() const {
    const auto files = TlsFiles::Load(tls_);
    EXPECT_EQ(files.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(files.status().message());
  }

  const std::string folder_ = testing::TempDir();
  const FakeCa ca_{"ca", folder_};
  TlsServerConfig tls_ = ca_.Server();
};

TEST_F(TlsFilesTest, TakesWhatBelongsTogether) {
  const auto files = TlsFiles::Load(tls_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_NE((*files)->key(), nullptr);
}

TEST_F(TlsFilesTest, TellsTheEndOfValidity) {
  const auto files = TlsFiles::Load(tls_);
  const absl::Duration left = (*files)->not_after() - absl::Now();
  EXPECT_GT(left, absl::Hours(24 * 29));
  EXPECT_LT(left, absl::Hours(24 * 31));
}

TEST_F(TlsFilesTest, WithoutClientCertificatesNoAuthorityIsRead) {
  tls_.client_ca_file.clear();
  tls_.client_auth = ClientAuth::kNone;
  const auto files = TlsFiles::Load(tls_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ((*files)->client_ca(), "");
}

// A file that is still being written: the intermediate certificate is truncated.
TEST_F(TlsFilesTest, HalfAFileIsRefused) {
  const std::string whole = *ReadFile(tls_.cert_file);
  tls_.cert_file = folder_ + "/chain.pem";
  std::ofstream(tls_.cert_file) << whole << whole;
  EXPECT_TRUE(TlsFiles::Load(tls_).ok());
  std::ofstream(tls_.cert_file) << whole << whole.substr(0, whole.size() / 2);
  EXPECT_EQ(Error(), tls_.cert_file + ": certificate 2 is not one in PEM form");
}

TEST_F(TlsFilesTest, MissingFileIsNamed) {
  tls_.client_ca_file = folder_ + "/absent.crt";
  EXPECT_EQ(Error(), folder_ + "/absent.crt: No such file or directory");
}

TEST_F(TlsFilesTest, AnotherKeyIsRefused) {
  tls_.key_file = ca_.Issue("other", "").key_file;
  EXPECT_EQ(Error(), tls_.key_file + ": not the key of the certificate in " + tls_.cert_file);
}

TEST_F(TlsFilesTest, EachFileIsChecked) {
  ErrorList errors;
  CheckTlsFiles(tls_, errors);
  EXPECT_TRUE(errors.empty()) << errors.First();
  const std::string text = folder_ + "/no.pem";
  std::ofstream(text) << "hello\n";
  tls_.cert_file = tls_.client_ca_file = text;
  CheckTlsFiles(tls_, errors);
  EXPECT_EQ(errors.count(), 1u) << "one file, one error";
  tls_.key_file = ca_.Issue("other", "").key_file;
  tls_.cert_file = ca_.Issue("third", "").cert_file;
  ErrorList more;
  CheckTlsFiles(tls_, more);
  EXPECT_EQ(more.count(), 2u) << "the client's CA, and a key of another certificate";
}

TEST_F(TlsFilesTest, FilesThatOthersMayChangeAreRefused) {
  chmod(tls_.cert_file.c_str(), 0666);
  EXPECT_EQ(Error(), tls_.cert_file + ": everybody may write it (chmod o-w it)");
  chmod(tls_.cert_file.c_str(), 0644);
  chmod(tls_.key_file.c_str(), 0644);
  EXPECT_EQ(Error(), tls_.key_file + ": a key that everybody may access (chmod 600 it)");
  chmod(tls_.key_file.c_str(), 0600);
}

TEST_F(TlsFilesTest, WhatIsNotPemIsRefused) {
  const std::string text = folder_ + "/text.pem";
  std::ofstream(text) << "hello\n";
  chmod(text.c_str(), 0600);
  TlsServerConfig good = tls_;
  tls_.cert_file = text;
  EXPECT_EQ(Error(), text + ": not a certificate in PEM form");
  tls_ = good;
  tls_.key_file = text;
  EXPECT_EQ(Error(), text + ": not an unencrypted private key in PEM form");
  tls_ = good;
  tls_.client_ca_file = text;
  EXPECT_EQ(Error(), text + ": not a certificate in PEM form");
}

}  // namespace
}  // namespace sideband::daemon
