// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/lib/fake_daemon.h"

namespace sideband::client {
namespace {

using testing::StartsWith;

TestCertificates CertificatesIn(const std::string& name) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::create_directories(folder);
  return TestCertificates::WriteTo(folder);
}

class HandshakeCauseTest : public testing::Test {
 protected:
  HandshakeCauseTest() {
    config_ = {.address = daemon_.address(),
               .ca_file = files_.ca_file,
               .cert_file = files_.client_cert_file,
               .key_file = files_.client_key_file};
  }
  std::string Cause(absl::Time now = absl::Now()) const { return HandshakeCause(config_, now); }

  const TestCertificates files_ = CertificatesIn("ours"), others_ = CertificatesIn("others");
  const FakeDaemon daemon_{{}, files_.MutualTls()};
  ClientConfig config_;
};

TEST_F(HandshakeCauseTest, AConnectionThatComesAboutHasNone) { EXPECT_EQ(Cause(), ""); }

TEST_F(HandshakeCauseTest, NobodyThereIsNoneOfTheFiles) {
  config_.address = "127.0.0.1:1";
  EXPECT_EQ(Cause(), "");
  config_.address = "unix:/nonexistent.sock";
  EXPECT_EQ(Cause(), "");
}

TEST_F(HandshakeCauseTest, AForeignAuthorityIsNamed) {
  config_.ca_file = others_.ca_file;
  EXPECT_EQ(Cause(),
            others_.ca_file + ": none of its CAs has issued the daemon's certificate; ca_file must name one that has");
}

TEST_F(HandshakeCauseTest, ANameThatTheCertificateDoesNotHaveIsNamed) {
  config_.server_name = "elsewhere";
  EXPECT_EQ(Cause(), "the daemon's certificate is not for 'elsewhere'; set server_name to a name that it is for");
}

TEST_F(HandshakeCauseTest, AForeignCertificateIsNamedWithItsIssuer) {
  config_.cert_file = others_.client_cert_file;
  config_.key_file = others_.client_key_file;
  EXPECT_THAT(Cause(), StartsWith(others_.client_cert_file + ": the daemon "));
  EXPECT_THAT(Cause(), testing::EndsWith("CN=ca"));
}

TEST_F(HandshakeCauseTest, ACertificateOfAnotherTimeIsNamedWithThatTime) {
  config_.cert_file = others_.client_cert_file;
  config_.key_file = others_.client_key_file;
  EXPECT_THAT(Cause(absl::Now() + absl::Hours(24 * 31)),
              StartsWith(others_.client_cert_file + ": the certificate has expired, at 2"));
  EXPECT_THAT(Cause(absl::Now() - absl::Hours(24 * 2)),
              StartsWith(others_.client_cert_file + ": the certificate is not valid before 2"));
}

TEST_F(HandshakeCauseTest, AMissingCertificateIsNamed) {
  config_.cert_file.clear();
  config_.key_file.clear();
  EXPECT_EQ(Cause(), "the daemon may require a client certificate, and no cert_file is given");
}

}  // namespace
}  // namespace sideband::client
