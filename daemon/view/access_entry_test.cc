// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/access_entry.h"

#include <gtest/gtest.h>

#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

class AccessEntryTest : public testing::Test {
 protected:
  AuditEntry Entry(const Credentials& credentials, const absl::Status& outcome, const std::string& note = "") {
    return AccessEntry(world_.reader, world_.reader.Authenticate(credentials), credentials,
                       {"GET /metrics", "/metrics?x", note}, outcome);
  }

  FakeWorld world_;
};

TEST_F(AccessEntryTest, SaysWhoAndUnderWhichPolicy) {
  world_.policy.Replace(FakePolicy());
  EXPECT_EQ(Entry(CredentialsOf("tenant-a"), absl::OkStatus()),
            (AuditEntry{.kind = AuditKind::kAccess,
                        .principal = "spiffe://example.org/tenant-a",
                        .role = "tenant:a",
                        .endpoint = "GET /metrics",
                        .resource = "/metrics?x",
                        .decision = AuditDecision::kAllow,
                        .reason = "in the policy",
                        .policy_version = 2}));
}

TEST_F(AccessEntryTest, SaysWhyNot) {
  EXPECT_EQ(Entry(CredentialsOf("ops"), absl::NotFoundError("no such thing")).reason, "absent or denied");
  EXPECT_EQ(Entry(CredentialsOf("ops"), absl::NotFoundError("no such thing")).decision, AuditDecision::kDeny);
  EXPECT_EQ(Entry(CredentialsOf("ops"), absl::ResourceExhaustedError("64 streams")).reason,
            "RESOURCE_EXHAUSTED: 64 streams");
  EXPECT_EQ(Entry(CredentialsOf("ops"), absl::OkStatus(), "stream began").reason, "stream began: in the policy");
}

TEST_F(AccessEntryTest, TellsWhatNobodyShowedButNoToken) {
  Credentials credentials = CredentialsOf("stranger");
  credentials.certificate.dns_names = {"stranger.example.org"};
  AuditEntry entry = Entry(credentials, absl::OkStatus());
  EXPECT_EQ(entry.principal, "");
  EXPECT_EQ(entry.role, "");
  EXPECT_EQ(entry.decision, AuditDecision::kDeny);
  EXPECT_EQ(entry.policy_version, 1u);
  EXPECT_EQ(entry.detail, std::vector<std::string>({"certificate uri spiffe://example.org/stranger",
                                                    "certificate dns stranger.example.org"}));
  credentials = {.bearer_token = "secret"};
  EXPECT_EQ(Entry(credentials, absl::OkStatus()).detail, std::vector<std::string>({"bearer token"}));
  credentials.certificate.uris.assign(1000, "spiffe://example.org/x");
  EXPECT_EQ(Entry(credentials, absl::OkStatus()).detail.size(), kAuditDetailMax);
}

}  // namespace
}  // namespace sideband::daemon
