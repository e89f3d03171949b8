// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/peer_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>

#include "daemon/config/fake_certificates.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PeerNamesTest : public testing::Test {
 protected:
  SubjectNames Names(const std::string& alternative_names) {
    FILE* file = std::fopen(ca_.Issue("peer", alternative_names).cert_file.c_str(), "r");
    X509* certificate = PEM_read_X509(file, nullptr, nullptr, nullptr);
    std::fclose(file);
    const SubjectNames names = PeerNames(certificate);
    X509_free(certificate);
    return names;
  }

  const FakeCa ca_{"ca", testing::TempDir()};
};

TEST_F(PeerNamesTest, TakesUrisAndDnsNames) {
  const SubjectNames names = Names("DNS:a.example.org,URI:spiffe://example.org/a,DNS:b,IP:127.0.0.1,email:x@y");
  EXPECT_THAT(names.uris, ElementsAre("spiffe://example.org/a"));
  EXPECT_THAT(names.dns_names, ElementsAre("a.example.org", "b"));
}

TEST_F(PeerNamesTest, NoNamesNobody) {
  EXPECT_THAT(Names("").uris, IsEmpty());
  EXPECT_THAT(PeerNames(nullptr).dns_names, IsEmpty());
}

TEST_F(PeerNamesTest, AnOddNameSpoilsTheCertificate) {
  const SubjectNames names = Names("URI:spiffe://example.org/a,DNS:a b");
  EXPECT_THAT(names.uris, IsEmpty());
  EXPECT_THAT(names.dns_names, IsEmpty());
}

}  // namespace
}  // namespace sideband::daemon
