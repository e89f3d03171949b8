// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/tls_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "daemon/config/fake_certificates.h"

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
  EXPECT_NE((*files)->key().find("PRIVATE KEY"), std::string::npos);
}

TEST_F(TlsFilesTest, MissingFileIsNamed) {
  tls_.client_ca_file = folder_ + "/absent.crt";
  EXPECT_EQ(Error(), folder_ + "/absent.crt: No such file or directory");
}

TEST_F(TlsFilesTest, AnotherKeyIsRefused) {
  tls_.key_file = ca_.Issue("other", "").key_file;
  EXPECT_EQ(Error(), tls_.key_file + ": not the key of the certificate in " + tls_.cert_file);
}

TEST_F(TlsFilesTest, WhatIsNotPemIsRefused) {
  const std::string text = folder_ + "/text.pem";
  std::ofstream(text) << "hello\n";
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
