// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/peer_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "daemon/config/fake_certificates.h"
#include "proto/base/openssl.h"

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

  // An unsigned certificate: who verifies signatures is TLS.
  static CertificatePtr With(const std::vector<std::pair<int, const char*>>& extensions) {
    CertificatePtr certificate(X509_new());
    X509_set_version(certificate.get(), X509_VERSION_3);
    for (const auto& [kind, value] : extensions) {
      const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
      EXPECT_EQ(X509_add_ext(certificate.get(), extension.get(), -1), 1) << value;
    }
    return certificate;
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

TEST_F(PeerNamesTest, ASigningCertificateIdentifiesNobody) {
  const std::pair<int, const char*> name = {NID_subject_alt_name, "URI:spiffe://example.org/a"};
  using Extensions = std::vector<std::pair<int, const char*>>;
  const Extensions signing[] = {{{NID_basic_constraints, "CA:TRUE"}},
                                {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"}},
                                {{NID_basic_constraints, "CA:TRUE"}, {NID_key_usage, "digitalSignature"}},
                                {{NID_key_usage, "digitalSignature,keyCertSign"}},
                                {{NID_key_usage, "critical,digitalSignature,cRLSign"}},
                                {{NID_basic_constraints, "CA:FALSE"}, {NID_key_usage, "keyCertSign,cRLSign"}}};
  const Extensions leaves[] = {{},
                               {{NID_basic_constraints, "CA:FALSE"}},
                               {{NID_key_usage, "critical,digitalSignature"}},
                               {{NID_key_usage, "digitalSignature,keyEncipherment,nonRepudiation,keyAgreement"}}};
  for (Extensions extensions : signing) {
    extensions.push_back(name);
    const CertificatePtr certificate = With(extensions);
    EXPECT_TRUE(IsSigningCertificate(certificate.get())) << extensions[0].second;
    EXPECT_THAT(PeerNames(certificate.get()).uris, IsEmpty()) << extensions[0].second;
  }
  for (Extensions extensions : leaves) {
    extensions.push_back(name);
    const CertificatePtr certificate = With(extensions);
    EXPECT_FALSE(IsSigningCertificate(certificate.get())) << extensions[0].second;
    EXPECT_THAT(PeerNames(certificate.get()).uris, ElementsAre("spiffe://example.org/a")) << extensions[0].second;
  }
}

}  // namespace
}  // namespace sideband::daemon
