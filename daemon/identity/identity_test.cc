// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/identity.h"

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

std::string Identity(const SubjectNames& names) {
  return IdentityFromNames(
             names, [](absl::string_view name) { return name == "dns:a.example.org" || name == "dns:b.example.org"; })
      .value_or("nobody");
}

TEST(IdentityTest, OneSpiffeUriIsTheIdentity) {
  EXPECT_EQ(Identity({{"spiffe://example.org/a"}, {}}), "spiffe://example.org/a");
  EXPECT_EQ(Identity({{"spiffe://example.org/a"}, {"a.example.org"}}), "spiffe://example.org/a") << "the URI rules";
}

TEST(IdentityTest, WhatIsAmbiguousIsNobody) {
  EXPECT_EQ(Identity({{"spiffe://example.org/a", "spiffe://example.org/b"}, {}}), "nobody");
  EXPECT_EQ(Identity({{"spiffe://example.org/a", "spiffe://example.org/a"}, {}}), "nobody") << "even twice the same";
  EXPECT_EQ(Identity({{}, {"a.example.org", "b.example.org"}}), "nobody");
}

TEST(IdentityTest, AUriThatIsNotSpiffeDoesNotFallBackToDns) {
  EXPECT_EQ(Identity({{"https://example.org/a"}, {"a.example.org"}}), "nobody");
}

TEST(IdentityTest, OneListedDnsNameIsTheIdentity) {
  EXPECT_EQ(Identity({{}, {"other.example.org", "A.example.org"}}), "dns:a.example.org") << "case does not count";
  EXPECT_EQ(Identity({{}, {"a.example.org", "a.example.org"}}), "dns:a.example.org") << "twice the same is one";
  EXPECT_EQ(Identity({{}, {"other.example.org"}}), "nobody");
  EXPECT_EQ(Identity({}), "nobody");
}

TEST(IdentityTest, ADnsNameThatIsNoHostNameIsNotLookedUp) {
  const auto says_yes = [](absl::string_view) { return true; };
  for (const char* name : {"spiffe://example.org/a", "", "*.example.org", "a b"}) {
    EXPECT_EQ(IdentityFromNames({{}, {name}}, says_yes), std::nullopt) << name;
  }
  EXPECT_EQ(IdentityFromNames({{}, {"*.example.org", "a.example.org"}}, says_yes), "dns:a.example.org");
}

TEST(IdentityTest, SpiffeIdsAreStrict) {
  EXPECT_TRUE(IsSpiffeId("spiffe://example.org/ns/prod/sa/Render_1.x-y"));
  for (const char* text : {"", "spiffe://", "spiffe://example.org", "spiffe://example.org/", "spiffe://Example.org/a",
                           "spiffe:///a", "spiffe://example.org/a/", "spiffe://example.org//a",
                           "spiffe://example.org/../a", "spiffe://example.org/a?b", "spiffe://example.org/a%20b",
                           "SPIFFE://example.org/a", "spiffe://user@example.org/a", "spiffe://example.org:1/a"}) {
    EXPECT_FALSE(IsSpiffeId(text)) << text;
  }
  EXPECT_TRUE(IsSpiffeId("spiffe://e/" + std::string(2037, 'a')));
  EXPECT_FALSE(IsSpiffeId("spiffe://e/" + std::string(2038, 'a')));
}

TEST(IdentityTest, DnsIdentitiesAreLowerCase) {
  EXPECT_TRUE(IsDnsIdentity("dns:a.example.org"));
  for (const char* text : {"dns:", "dns:A.example.org", "dns:*.example.org", "a.example.org"}) {
    EXPECT_FALSE(IsDnsIdentity(text)) << text;
  }
}

TEST(IdentityTest, ASubjectIsASpiffeIdOrAJwtIdentity) {
  EXPECT_EQ(IdentityFromSubject("spiffe://example.org/a"), "spiffe://example.org/a");
  EXPECT_EQ(IdentityFromSubject("system:serviceaccount:m:p"), "jwt:system:serviceaccount:m:p");
  EXPECT_EQ(IdentityFromSubject("dns:a.example.org"), "jwt:dns:a.example.org") << "no token is a DNS name";
  EXPECT_EQ(IdentityFromSubject("jwt:a"), "jwt:jwt:a");
  for (const char* subject : {"", " ", "a b", "a\n", "\xc3\xa9", "spiffe://example.org", "Spiffe://example.org/a"}) {
    EXPECT_EQ(IdentityFromSubject(subject), std::nullopt) << subject;
  }
  EXPECT_TRUE(IdentityFromSubject(std::string(255, 'a')).has_value());
  EXPECT_FALSE(IdentityFromSubject(std::string(256, 'a')).has_value());
}

TEST(IdentityTest, ALocalOperatorIsNoneThatCouldBeListed) {
  EXPECT_EQ(LocalIdentity(1000), "local:uid=1000");
  EXPECT_FALSE(IsIdentity(LocalIdentity(1000)));
}

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
