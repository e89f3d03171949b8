// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/decision_log.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/audit/entry.h"

namespace sideband::daemon {
namespace {

constexpr Decision kAllow{true, "granted"}, kDeny{false, "not granted"};

const Uuid kVm1 = *Uuid::Parse("00000000-0000-0000-0000-000000000001");
const Uuid kVm2 = *Uuid::Parse("00000000-0000-0000-0000-000000000002");

using Texts = std::vector<std::string>;

TEST(DecisionLogTest, SaysWhatIsSeenOfADevice) {
  DecisionLog log;
  log.Add(Resource::Device(), Right::kRead, kAllow);
  log.Add(Resource::Device().Event("cycles"), Right::kRead, kAllow);
  log.Add(Resource::Device().Event("stalls"), Right::kRead, kAllow);
  log.Add(Resource::VmIdentity(kVm1, false), Right::kRead, kAllow);
  log.Add(Resource::Vm(kVm1, false), Right::kSeal, kDeny);
  log.Add(Resource::Vm(kVm1, false), Right::kRead, kAllow);
  log.Add(Resource::VmIdentity(kVm2, false), Right::kRead, kAllow);
  EXPECT_EQ(log.Texts(),
            Texts({"device: allow (granted)", "device events: allow (granted): all",
                   "vms: allow (granted): 00000000-0000-0000-0000-000000000001, 00000000-0000-0000-0000-000000000002",
                   "vm 00000000-0000-0000-0000-000000000001 sealed: deny (not granted)",
                   "vm 00000000-0000-0000-0000-000000000001: allow (granted)"}));
}

TEST(DecisionLogTest, NamesOfContextsOnlyWhatIsAllowedAmongOthers) {
  DecisionLog log;
  for (const char* name : {"train", "render", "train"}) {
    log.Add(Resource::Context(kVm1, false, name), Right::kRead, kAllow);
  }
  log.Add(Resource::Context(kVm2, false, "x"), Right::kRead, kDeny);
  const Texts all = {"vm 00000000-0000-0000-0000-000000000001 contexts: allow (granted): all",
                     "vm 00000000-0000-0000-0000-000000000002 contexts: deny (not granted): all"};
  EXPECT_EQ(log.Texts(), all);
  // Further decisions with the same outcomes change nothing.
  log.Add(Resource::Context(kVm2, false, "y"), Right::kRead, kDeny);
  log.Add(Resource::Context(kVm1, false, "z"), Right::kRead, kAllow);
  EXPECT_EQ(log.Texts(), all);
  log.Add(Resource::Context(kVm1, false, "made up"), Right::kRead, kDeny);
  EXPECT_EQ(log.Texts(),
            Texts({"vm 00000000-0000-0000-0000-000000000001 contexts: allow (granted): render, train, z",
                   "vm 00000000-0000-0000-0000-000000000001 contexts: deny (not granted): others", all[1]}));
}

TEST(DecisionLogTest, EventsOfContextsAreNotTheVms) {
  DecisionLog log;
  const Resource context = Resource::Context(kVm1, false, "train");
  log.Add(context.Event("cycles"), Right::kRead, kAllow);
  log.Add(context.Event("stalls"), Right::kRead, kDeny);
  log.Add(Resource::Vm(kVm1, false).Event("cycles"), Right::kRead, kDeny);
  EXPECT_EQ(log.Texts(), Texts({"vm 00000000-0000-0000-0000-000000000001 context events: allow (granted): cycles",
                                "vm 00000000-0000-0000-0000-000000000001 context events: deny (not granted): others",
                                "vm 00000000-0000-0000-0000-000000000001 events: deny (not granted): all"}));
}

TEST(DecisionLogTest, NothingIsCutOff) {
  DecisionLog log;
  log.Add(Resource::Context(kVm1, false, "denied"), Right::kRead, kDeny);
  for (int i = 1000; i < 2000; ++i) {
    log.Add(Resource::Context(kVm1, false, absl::StrCat("context", i)), Right::kRead, kAllow);
  }
  std::string together;
  for (const std::string& text : log.Texts()) {
    EXPECT_LE(text.size(), kAuditTextBytesMax);
    EXPECT_TRUE(absl::StartsWith(text, "vm 00000000-0000-0000-0000-000000000001 contexts: "));
    together += text;
  }
  for (int i = 1000; i < 2000; ++i) EXPECT_TRUE(absl::StrContains(together, absl::StrCat(" context", i)));
}

}  // namespace
}  // namespace sideband::daemon
