// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/identity/fake_issuer.h"
#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

class Counter final : public UpdateListener {
 public:
  void OnUpdate() override { ++updates_; }
  int updates() const { return updates_; }

 private:
  int updates_ = 0;
};

TEST(UpdateNotifierTest, AnnouncesPublicationsAndPolicies) {
  FakeWorld world;
  UpdateNotifier notifier(world.store, world.policy);
  Counter counter;
  notifier.AddListener(counter);
  world.store.Publish(0, world.store.Newest(0));
  EXPECT_EQ(counter.updates(), 1);
  world.policy.Replace(world.policy.Current().policy);
  EXPECT_EQ(counter.updates(), 2);
  notifier.RemoveListener(counter);
  world.store.Publish(0, world.store.Newest(0));
  EXPECT_EQ(counter.updates(), 2);
}

class ReaderTest : public testing::Test {
 protected:
  std::string Seen(const std::string& who) {
    std::string text;
    for (const VisibleDevice& device : world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who)))) {
      const char* states[] = {"fresh", "stale", "away"};
      text += device.info->name + " " + states[static_cast<int>(device.state)] + "; ";
    }
    return text;
  }

  FakeWorld world_;
};

TEST_F(ReaderTest, StrangersAreNobody) {
  EXPECT_FALSE(world_.reader.Identify(CredentialsOf("stranger")).has_value());
  EXPECT_FALSE(world_.reader.Identify({}).has_value());
}

TEST_F(ReaderTest, OnlyOperatorsSeeADeviceThatWasNeverHeardOf) {
  EXPECT_EQ(Seen("ops"), "gpu0 away; gpu1 away; ");
  EXPECT_EQ(Seen("tenant-a"), "");
}

TEST_F(ReaderTest, AScrapeShowsADeviceOnceThatATenantHasAPartitionOf) {
  world_.policy.Replace(*Policy::Parse(R"(version: 1
tenants:
  - name: a
    identities: ["spiffe://example.org/tenant-a"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000ff}]
    partitions: [{device: gpu1, gpu_instance: 1}]
)",
                                       "policy.yaml"));
  std::vector<std::string> names;
  for (const VisibleDevice& device :
       world_.reader.DevicesToScrape(*world_.reader.Identify(CredentialsOf("tenant-a")))) {
    names.push_back(device.info->name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"gpu0", "gpu1"}));
}

TEST_F(ReaderTest, AScrapeShowsADeviceThatAVmMayBeOn) {
  const auto scraped = [&](const std::string& who) {
    std::string text;
    for (const VisibleDevice& device : world_.reader.DevicesToScrape(*world_.reader.Identify(CredentialsOf(who)))) {
      text += device.info->name + (device.snapshot == nullptr ? " away; " : "; ");
    }
    return text;
  };
  EXPECT_EQ(scraped("tenant-a"), "gpu0 away; gpu1 away; ");
  EXPECT_EQ(scraped("ops"), "gpu0 away; gpu1 away; ") << "each once";
  EXPECT_EQ(scraped("auditor"), "") << "never sees anything of a device";
  world_.Publish(0, 1);
  EXPECT_EQ(scraped("tenant-a"), "gpu0; ") << "its VM is found";
  EXPECT_EQ(scraped("ops"), "gpu0; gpu1 away; ");
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(scraped("tenant-a"), "gpu1 away; ") << "it is not on gpu0";
  EXPECT_EQ(Seen("tenant-a"), "") << "elsewhere it sees none";
  world_.Publish(1, 1);
  EXPECT_EQ(scraped("tenant-a"), "") << "it is nowhere";
}

TEST_F(ReaderTest, DevicesGoStaleAfterThreeIntervals) {
  world_.Publish(0, 1);
  EXPECT_EQ(Seen("tenant-a"), "gpu0 fresh; ");
  EXPECT_EQ(world_.reader.FreshDevices(), 1u);
  world_.clock.Advance(absl::Seconds(3));
  EXPECT_EQ(Seen("tenant-a"), "gpu0 fresh; ");
  world_.clock.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Seen("tenant-a"), "gpu0 stale; ");
  EXPECT_EQ(world_.reader.FreshDevices(), 0u);
}

TEST_F(ReaderTest, ATenantWithoutAVmThereDoesNotSeeTheDevice) {
  world_.Publish(0, 1);
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(Seen("tenant-a"), "");
  EXPECT_EQ(Seen("tenant-b"), "gpu0 fresh; ");
}

TEST_F(ReaderTest, TopologiesAreOfAllDevicesOrNone) {
  world_.Publish(0, 1);
  EXPECT_FALSE(world_.reader.FreshTopologies().has_value()) << "gpu1 is away";
  world_.Publish(1, 1);
  ASSERT_TRUE(world_.reader.FreshTopologies().has_value());
  EXPECT_EQ(*world_.reader.FreshTopologies(), (Topologies{world_.topology, world_.topology}));
  world_.clock.Advance(absl::Seconds(4));
  EXPECT_FALSE(world_.reader.FreshTopologies().has_value()) << "stale";
}

class ReaderTokenTest : public testing::Test {
 protected:
  ReaderTokenTest() { world_.policy.Replace(FakePolicy(), keys_); }

  std::string Token(const std::string& subject) const {
    return issuer_.Token(absl::StrCat(R"({"sub":")", subject, R"(","aud":"sideband","exp":)",
                                      absl::ToUnixSeconds(world_.clock.Now()) + 60, "}"));
  }
  // The identity of the caller, or the reason for a rejection.
  std::string Who(const Credentials& credentials) const {
    const auto caller = reader_.Authenticate(credentials);
    EXPECT_EQ(reader_.Identify(credentials).has_value(), caller.ok());
    return caller.ok() ? caller->principal.identity : caller.status().ToString();
  }

  const FakeIssuer issuer_ = FakeIssuer::Es256("k1");
  const std::shared_ptr<const KeySet> keys_ = *KeySet::Parse(JwksOf({&issuer_}), "jwks.json");
  FakeWorld world_;
  TokenVerifier tokens_{{.audience = "sideband"}, world_.clock};
  const Reader reader_{world_.store, world_.policy, world_.clock, world_.audit, &tokens_};
  const std::string ops_ = "spiffe://example.org/ops";
};

TEST_F(ReaderTokenTest, ATokenIsWhoItSays) {
  EXPECT_EQ(Who({.bearer_token = Token(ops_)}), ops_);
  EXPECT_EQ(Who({.bearer_token = Token("ops")}), "PERMISSION_DENIED: token: jwt:ops is not in the policy");
}

TEST_F(ReaderTokenTest, ABadTokenNeverFallsBackToTheCertificate) {
  Credentials credentials = CredentialsOf("ops");
  EXPECT_EQ(Who(credentials), ops_);
  credentials.bearer_token = "";
  EXPECT_EQ(Who(credentials), "UNAUTHENTICATED: token: not three parts");
  credentials.bearer_token = Token(ops_) + "A";
  EXPECT_EQ(Who(credentials).substr(0, 15), "UNAUTHENTICATED");
  credentials.bearer_token = Token("nobody");
  EXPECT_EQ(Who(credentials),
            "PERMISSION_DENIED: ambiguous: the certificate is spiffe://example.org/ops, the token "
            "jwt:nobody");
}

TEST_F(ReaderTokenTest, TwoIdentitiesAreNobody) {
  Credentials credentials = CredentialsOf("tenant-a");
  credentials.bearer_token = Token(ops_);
  EXPECT_EQ(Who(credentials),
            "PERMISSION_DENIED: ambiguous: the certificate is spiffe://example.org/tenant-a, the "
            "token spiffe://example.org/ops");
  credentials = CredentialsOf("ops");
  credentials.bearer_token = Token(ops_);
  EXPECT_EQ(Who(credentials), ops_) << "both the same";
  credentials = CredentialsOf("stranger");
  credentials.bearer_token = Token(ops_);
  EXPECT_EQ(Who(credentials), ops_) << "the policy does not know the certificate";
}

TEST_F(ReaderTokenTest, TheLocalOperatorIsTheOperator) {
  EXPECT_EQ(Who({.local_operator = 1000}), "local:uid=1000");
  EXPECT_EQ(Who({.bearer_token = "garbage", .local_operator = 0}), Who({.bearer_token = "garbage"}))
      << "what passes on others' tokens must not make operators of them";
  EXPECT_EQ(Who({}), "UNAUTHENTICATED: no credentials: neither a token nor a certificate with a name");
}

TEST_F(ReaderTokenTest, KeysAndPolicyAreReplacedTogether) {
  const Credentials credentials = {.bearer_token = Token(ops_)};
  EXPECT_EQ(Who(credentials), ops_);
  world_.policy.Replace(*Policy::Parse("version: 1\n", "p.yaml"), keys_);
  EXPECT_EQ(Who(credentials), "PERMISSION_DENIED: token: spiffe://example.org/ops is not in the policy");
  const FakeIssuer another = FakeIssuer::Es256("k2");
  world_.policy.Replace(FakePolicy(), *KeySet::Parse(JwksOf({&another}), "jwks.json"));
  EXPECT_EQ(Who(credentials), "UNAUTHENTICATED: token: its key is unknown");
  world_.policy.Replace(FakePolicy());
  EXPECT_EQ(Who(credentials), "UNAUTHENTICATED: token: there are no keys");
}

TEST_F(ReaderTokenTest, WithoutAVerifierNoTokenIsAnyones) {
  Credentials credentials = CredentialsOf("ops");
  credentials.bearer_token = Token(ops_);
  EXPECT_FALSE(world_.reader.takes_tokens());
  EXPECT_EQ(world_.reader.Authenticate(credentials).status().message(), "token: tokens are not configured");
}

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

constexpr char kAbsent[] = "00000000-0000-0000-0000-0000000000ff";

class AbsentNameNoticeTest : public testing::Test {
 protected:
  FakeWorld world_;
  std::vector<std::string> lines_;
  const AbsentNameNotice::Names names_{
      .vms = {{*Uuid::Parse(kSecretUuid), "c.yaml:9"}, {*Uuid::Parse(kAbsent), "c.yaml:10"}},
      .events = {{"cycles", "c.yaml:2"}, {"cycels", "c.yaml:3"}}};
  AbsentNameNotice notice_{world_.reader, names_, [this](const std::string& line) { lines_.push_back(line); },
                           [this](const std::string& line) { lines_.push_back("error: " + line); }};
};

TEST_F(AbsentNameNoticeTest, TellsOnceAllDevicesAreThere) {
  world_.policy.Replace(*Policy::Parse(
      "version: 1\ntenants:\n  - {name: a, identities: ['jwt:a'], vms: [{uuid: 00000000-0000-0000-0000-0000000000fe,\n"
      "    events: [cycels]}]}\n",
      "p.yaml"));
  world_.Publish(0, 1);
  EXPECT_TRUE(lines_.empty()) << "it may be on gpu1";
  world_.Publish(1, 1);
  EXPECT_EQ(lines_,
            std::vector<std::string>(
                {"p.yaml:3: VM 00000000-0000-0000-0000-0000000000fe is on no device (allow_absent_vms: true allows it)",
                 "p.yaml:4: event 'cycels' is counted by no device (did you mean 'cycles'?); allow_absent_events: "
                 "true allows it",
                 "c.yaml:10: VM 00000000-0000-0000-0000-0000000000ff is on no device (allow_absent_vms: true in the "
                 "policy allows it)",
                 "error: c.yaml:3: event 'cycels' is counted by no device (did you mean 'cycles'?); "
                 "allow_absent_events: true in the policy allows it"}));
  world_.Publish(1, 2);
  EXPECT_EQ(lines_.size(), 4u) << "once";
  notice_.LookAgain({.events = {{"cycels", "c.yaml:4"}}});
  EXPECT_EQ(lines_.size(), 4u);
  world_.Publish(1, 3);
  ASSERT_EQ(lines_.size(), 7u) << "once more";
  EXPECT_EQ(lines_.back().substr(0, 16), "error: c.yaml:4:");
}

TEST_F(AbsentNameNoticeTest, SaysNothingWhereTheyAreAllowed) {
  world_.policy.Replace(*Policy::Parse(
      "version: 1\nallow_absent_vms: true\nallow_absent_events: true\ntenants: [{name: a, identities: ['jwt:a'], vms: "
      "[{uuid: 00000000-0000-0000-0000-0000000000fe}]}]\n",
      "p.yaml"));
  world_.Publish(0, 1);
  world_.Publish(1, 1);
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace sideband::daemon
