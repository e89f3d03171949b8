// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_steps.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "client/demo/number_checks.h"

namespace sideband::client {
namespace {

TEST(DemoStepsTest, EveryTenantIsDeniedEveryOtherTenantsVms) {
  const auto steps = MakeDemoSteps(BuiltInVms(), {"1", "2"}, {"busy_cycles"}, Sums::kEqual);
  const auto has = [&](const std::string& command) {
    return std::any_of(steps.begin(), steps.end(), [&](const DemoStep& step) { return step.command == command; });
  };
  EXPECT_TRUE(has("sideband --config tenant-a.yaml get --vm vm2"));
  EXPECT_TRUE(has("sideband --config tenant-a.yaml get --vm vm3"));
  EXPECT_TRUE(has("sideband --config tenant-b.yaml get --vm vm1"));
  EXPECT_TRUE(std::any_of(steps.begin(), steps.end(),
                          [](const DemoStep& step) { return absl::StrContains(step.command, "unseal --vm vm3"); }));
}

TEST(DemoStepsTest, AGuestReadsItself) {
  const auto steps = MakeDemoSteps(BuiltInVms(), {"1", "2"}, {"busy_cycles"}, Sums::kEqual);
  EXPECT_EQ(std::count_if(steps.begin(), steps.end(),
                          [](const DemoStep& step) {
                            return absl::StrContains(step.command, "hpc read --port guests/vm1.train.sock");
                          }),
            1);
}

TEST(DemoStepsTest, ATenantChoosesWhatIsNotGrantedToAnother) {
  const auto steps = MakeDemoSteps(BuiltInVms(), {"1", "2"}, {"busy_cycles"}, Sums::kEqual);
  const auto status_of = [&](const std::string& command) {
    const auto step = std::ranges::find(steps, command, &DemoStep::command);
    return step == steps.end() ? -1 : step->exit_status;
  };
  EXPECT_EQ(status_of("sideband --config tenant-a.yaml counting set --vm vm1 --selection 1"), 0);
  EXPECT_EQ(status_of("sideband --config tenant-b.yaml counting set --vm vm2 --selection 1"), 1);
  EXPECT_EQ(status_of("sideband --config operator.yaml counting explain --device gpu0 --vm vm2 --event tlb_hits"), 0);
}

TEST(DemoStepsTest, WaysInAreReadyToCopy) {
  EXPECT_EQ(WaysIn({.grpc = "1", .http = "2"}),
            "  sideband --config operator.yaml top\n"
            "  curl -sS --cacert ca.pem --cert operator.pem --key operator.key https://127.0.0.1:2/metrics\n"
            "  openssl pkcs12 -export -passout pass:demo -in operator.pem -inkey operator.key -out operator.p12\n"
            "\n"
            "The status page is https://127.0.0.1:2/ for a browser that has imported operator.p12 (password: demo) as "
            "its certificate and ca.pem as an authority.\n");
}

TEST(DemoStepsTest, CheckStepSaysWhatIsWrong) {
  const DemoStep step{.exit_status = 0, .present = {"mine"}, .absent = {"theirs"}};
  EXPECT_EQ(CheckStep(step, 0, "mine only"), "");
  EXPECT_EQ(CheckStep(step, 1, "mine only"), "exit status 1, not 0");
  EXPECT_EQ(CheckStep(step, 0, "nothing"), "'mine' is missing");
  EXPECT_EQ(CheckStep(step, 0, "mine and theirs"), "'theirs' should not be there");
  EXPECT_EQ(CheckStep({.scrape_sums = Sums::kEqual, .event = "x"}, 0, "sideband_vm_x_total{} 3"),
            "the device's x is missing");
  EXPECT_EQ(CheckStep({.growing = {"x"}}, 0, "x 3\nvm1 a x 2"), "x is 2 after 3");
  EXPECT_EQ(CheckStep({.table_sums = Sums::kEqual}, 0, "vm1 - x 3\nvm1 a x 2"), "x of vm1 is 3, its parts add up to 2");
}

TEST(DemoSiteTest, OnlyTheLastOfSeveralWaveformVmsIsConfidential) {
  EXPECT_FALSE(WaveformVms({{"a", {}}})[0].confidential);
  const auto vms = WaveformVms({{"a", {}}, {"b", {}}, {"c", {}}});
  EXPECT_EQ(vms[0].tenant, "tenant-a");
  EXPECT_EQ(vms[1].tenant, "tenant-a");
  EXPECT_EQ(vms[2].tenant, "tenant-b");
  EXPECT_TRUE(vms[2].confidential);
}

TEST(BoardDeviceTest, ASensorThatIsMissingFails) {
  const DemoStep sensors = BoardSteps("gpu3", "tenant-a", {"1", "2"})[1];
  const std::string all =
      "sideband_temperature_celsius{device=\"gpu3\",sensor=\"gpu\"} 61.5\n"
      "sideband_temperature_margin_celsius{device=\"gpu3\",sensor=\"gpu\"} 28\n"
      "sideband_power_watts{device=\"gpu3\",sensor=\"total\"} 250\n"
      "sideband_power_limit_watts{device=\"gpu3\",kind=\"current\",sensor=\"total\"} 400\n";
  EXPECT_EQ(CheckStep(sensors, 0, all + "sideband_throttle_active{device=\"gpu3\",reason=\"sync_boost\"} 0\n"), "");
  EXPECT_NE(CheckStep(sensors, 0, all), "");
}

TEST(BoardDeviceTest, ATenantThatSeesTheBoardFails) {
  const DemoStep none = BoardSteps("gpu3", "tenant-a", {"1", "2"}).back();
  EXPECT_TRUE(absl::StrContains(none.command, "tenant-a.pem")) << none.command;
  EXPECT_EQ(CheckStep(none, 1, "0\n"), "");
  EXPECT_NE(CheckStep(none, 0, "1\n"), "");
}

TEST(BmcStepTest, AQuantityThatIsMissingFails) {
  const std::string all =
      "hgx-gpu1  board_tensor_activity  -               44.0 %\n"
      "hgx-gpu1  energy                 sensor=total  2.50 MJ\n"
      "hgx-gpu1  power                  sensor=total  534.7 W\n";
  EXPECT_EQ(CheckStep(BmcStep(), 0, all + "hgx-gpu1  temperature            sensor=gpu    61.1 °C\n"), "");
  EXPECT_NE(CheckStep(BmcStep(), 0, all), "");
  EXPECT_NE(CheckStep(BmcStep(), 1, "sideband: no sensors that you may read: device 'hgx-gpu1'\n"), "");
}

TEST(RotatingChipTest, ACountOutsideItsBoundsFails) {
  const DemoStep step = RotationSteps("gpu1", "gpu2").back();
  EXPECT_EQ(CheckStep(step, 0, "a  yes\n40 of 40 events within 10 % of the truth, 40 of 40 within their bounds"), "");
  EXPECT_NE(CheckStep(step, 0, "a  NO\n40 of 40 events within 10 % of the truth, 39 of 40 within their bounds"), "");
  EXPECT_NE(CheckStep(step, 0, ""), "");
}

}  // namespace
}  // namespace sideband::client
