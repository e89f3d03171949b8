// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/config_rules.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace sideband::mailbox {
namespace {

CountingConfig ConfigOfTwoVms() {
  CountingConfig config{.groups = {{{}}}, .hosts = {{}}, .selections = {{0}, {1}}};
  config.vms[1] = {};
  config.vms[2] = {.is_private = true};
  return config;
}

std::string Refusal(const std::function<void(CountingConfig&)>& change) {
  CountingConfig to = ConfigOfTwoVms();
  change(to);
  return std::string(CheckChange(ConfigOfTwoVms(), to, /*confidential=*/{2}).message());
}

TEST(ConfigRulesTest, RefusalsNameTheVm) {
  EXPECT_EQ(Refusal([](CountingConfig& c) { c.vms[1].is_private = true; }),
            "VM 1: whether it is private is settled when it starts");
  EXPECT_EQ(Refusal([](CountingConfig& c) { c.vms[2].is_private = false; }),
            "VM 2: whether it is private is settled when it starts");
  EXPECT_EQ(Refusal([](CountingConfig& c) { c.vms[1].selection = 2; }), "VM 1: the device has no selection 2");
  EXPECT_EQ(Refusal([](CountingConfig& c) { c.vms[3]; }), "VM 3: there is no such VM");
  for (const auto& change : std::initializer_list<std::function<void(CountingConfig&)>>{
           [](CountingConfig& c) { c.vms[2].pinned = 1; }, [](CountingConfig& c) { c.vms[2].selection = 1; },
           [](CountingConfig& c) { c.vms[2].guest_load = true; }}) {
    EXPECT_EQ(Refusal(change), "VM 2: it is confidential: only what it may open can be changed");
  }
}

TEST(ConfigRulesTest, EverythingElseMayBeChanged) {
  EXPECT_EQ(Refusal([](CountingConfig& c) {
              c.vms[1] = {.guest_value = {.vector_enable = true}, .guest_load = true, .pinned = 1, .selection = 1};
              c.vms[2].allowed = 0;
              c.groups[0][0].valid = false;
              c.hosts[0].match.enable = true;
              c.selections[0][0] = 5;
            }),
            "");
}

TEST(ConfigRulesTest, OfAConfidentialVmOnlyWhatItMayOpenIsShown) {
  const VmControl control{.guest_value = {.master = false},
                          .guest_load = true,
                          .match = {.enable = true},
                          .allowed = 7,
                          .pinned = 1,
                          .useren = true,
                          .is_private = true,
                          .selection = 3};
  EXPECT_EQ(Shown(control), (VmControl{.allowed = 7, .is_private = true}));
}

}  // namespace
}  // namespace sideband::mailbox
