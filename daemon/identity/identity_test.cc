// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/identity.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sideband::daemon
