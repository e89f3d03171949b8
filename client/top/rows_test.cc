// SPDX-License-Identifier: Apache-2.0
#include "client/top/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/top/a_site.h"

namespace sideband::client::top {
namespace {

using Lines = std::vector<std::string>;

// "-" before an open row, "+" before a closed one.
Lines Names(const std::vector<Row>& rows) {
  Lines names;
  for (const Row& row : rows) {
    const char* const marker = !row.has_children ? "" : row.is_open ? "-" : "+";
    names.push_back(absl::StrCat(std::string(static_cast<size_t>(row.depth), ' '), marker, row.name));
  }
  return names;
}

Lines Shown(const RowOptions& options) { return Names(BuildRows(ASite(), options, kNow)); }

const Row& Find(const std::vector<Row>& rows, const std::string& name) {
  for (const Row& row : rows) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return rows.front();
}

TEST(RowsTest, DevicesVmsAndContextsAreOpen) {
  EXPECT_EQ(Shown({}), (Lines{"-gpu0", " +events (2)", " -vm1", "  +events (2)", "  +eval", "  +train", " -vm2",
                              "  +events (2)", " vm3", "gpu1"}));
}

TEST(RowsTest, TheHypervisorHasARowOfEachSlice) {
  Model model = ASite();
  v1::Snapshot snapshot = SnapshotOf(0.5);
  for (const uint32_t slice : {0u, 1u}) {
    v1::ScopeCounters& row = *snapshot.add_scopes() = snapshot.scopes(0);
    row.mutable_scope()->set_host(true);
    row.mutable_scope()->set_slice(slice);
  }
  snapshot.mutable_scopes(5)->mutable_ratios(0)->set_value(0.125);
  model.Apply(snapshot, kNow);
  const std::vector<Row> rows = BuildRows(model, {}, kNow);
  EXPECT_EQ(Names(rows),
            (Lines{"-gpu0", " +events (2)", " -(host:0)", "  +events (2)", " -(host:1)", "  +events (2)", " -vm1",
                   "  +events (2)", "  +eval", "  +train", " -vm2", "  +events (2)", " vm3", "gpu1"}));
  EXPECT_EQ(Find(rows, "(host:0)").share, 0.125);
  EXPECT_EQ(Find(rows, "(host:1)").share, 0.25);
  EXPECT_EQ(Find(rows, "gpu0").share, 0.25) << "the device's own row is another";
}

TEST(RowsTest, SeveralHostsHaveARowEach) {
  std::vector<HostModel> hosts = {{"a:1", ASite()}, {"b:1", ASite()}};
  hosts[1].model.connection = "b:1: gone; connecting again";
  const Lines site = {" -gpu0",    "  +events (2)", "  -vm1",         "   +events (2)", "   +eval",
                      "   +train", "  -vm2",        "   +events (2)", "  vm3",          " gpu1"};
  Lines both = {"-a:1"};
  both.insert(both.end(), site.begin(), site.end());
  both.push_back("-b:1");
  both.insert(both.end(), site.begin(), site.end());
  std::vector<Row> rows = BuildRows(hosts, {}, kNow);
  EXPECT_EQ(Names(rows), both);
  EXPECT_EQ(rows[0].state, "connected");
  EXPECT_EQ(Find(rows, "b:1").state, "lost");
  EXPECT_EQ(Find(rows, "b:1").tone, Tone::kBad);
  EXPECT_EQ(Find(rows, "b:1").detail, "b:1: gone; connecting again");
  RowOptions options;
  options.toggled.insert({.host = "a:1", .kind = RowKind::kHost});
  options.toggled.insert({.host = "b:1", .device = "gpu0", .kind = RowKind::kDevice});
  EXPECT_EQ(Names(BuildRows(hosts, options, kNow)), (Lines{"+a:1", "-b:1", " +gpu0", " gpu1"}))
      << "devices of one name are two";
  EXPECT_EQ(ChosenEvent(hosts, {}), "sm_active_cycles");
  EXPECT_EQ(ChosenEvent(hosts, {.event = "sm_active"}), "sm_active_cycles");
  EXPECT_EQ(EventsOf(hosts), ASite().events()) << "each once";
  hosts.pop_back();
  EXPECT_EQ(BuildRows(hosts, {}, kNow)[0].name, "a:1") << "the other one could not be asked";
  hosts[0].host.clear();
  EXPECT_EQ(Names(BuildRows(hosts, {}, kNow)), Shown({})) << "the only one has no row";
}

TEST(RowsTest, RowsAreOpenedAndClosed) {
  RowOptions options;
  options.toggled.insert({.device = "gpu0", .vm = "vm1", .kind = RowKind::kVm});
  options.toggled.insert({.device = "gpu0", .kind = RowKind::kEvents});
  EXPECT_EQ(Shown(options), (Lines{"-gpu0", " -events (2)", "  sm_active_cycles", "  dram_read_cycles", " +vm1",
                                   " -vm2", "  +events (2)", " vm3", "gpu1"}));
  options.toggled = {{.device = "gpu0", .kind = RowKind::kDevice}};
  EXPECT_EQ(Shown(options), (Lines{"+gpu0", "gpu1"}));
  options.toggled = {{.device = "gpu0", .vm = "vm1", .context = "eval", .kind = RowKind::kContext}};
  EXPECT_THAT(Shown(options), testing::IsSupersetOf({"  -eval", "   sm_active_cycles"}));
}

TEST(RowsTest, ValuesAreOfTheChosenEvent) {
  std::vector<Row> rows = BuildRows(ASite(), {}, kNow);
  EXPECT_EQ(ChosenEvent(ASite(), {}), "sm_active_cycles");
  EXPECT_EQ(ChosenEvent(ASite(), {.event = "sm_active"}), "sm_active_cycles") << "as screens show it";
  EXPECT_EQ(Find(rows, "vm1").share, 0.5);
  EXPECT_EQ(Find(rows, "gpu0").share, 0.25);
  EXPECT_EQ(Find(rows, "vm1").rate, 2e9);
  EXPECT_TRUE(Find(rows, "vm1").is_share_minute);
  EXPECT_EQ(Find(rows, "vm3").share, std::nullopt);
  EXPECT_EQ(Find(rows, "vm3").state, "sealed");
  EXPECT_THAT(Find(rows, "vm3").detail, testing::HasSubstr("sealed records only"));
  rows = BuildRows(ASite(), {.event = "dram_read_cycles"}, kNow);
  EXPECT_EQ(Find(rows, "vm1").share, std::nullopt);
  EXPECT_EQ(Find(rows, "vm1").rate, 2e9);
  EXPECT_FALSE(Find(rows, "vm1").is_share_minute);
}

TEST(RowsTest, AnEventSaysForWhatTimeItWasCounted) {
  v1::Snapshot snapshot;
  snapshot.set_device("gpu0");
  snapshot.set_device_state(v1::Device::STATE_FRESH);
  v1::ScopeCounters& row = *snapshot.add_scopes();
  row.mutable_scope()->set_device("gpu0");
  for (const char* name : {"gated", "free"}) row.add_counters()->set_event(name);
  row.mutable_counters(0)->set_coverage(0.902);
  Model model;
  model.Apply(snapshot, kNow);
  RowOptions options;
  options.toggled.insert({.device = "gpu0", .kind = RowKind::kEvents});
  const std::vector<Row> rows = BuildRows(model, options, kNow);
  EXPECT_EQ(Find(rows, "gated").detail, "gated: count 0, counted in 90.2 % of its time");
  EXPECT_EQ(Find(rows, "free").detail, "free: count 0");
}

TEST(RowsTest, ABoardIsTheFirstRowOfItsDevice) {
  v1::ListDevicesResponse devices = TwoDevices();
  v1::Device& board = *devices.add_devices();
  board.set_name("gpu2");
  board.set_state(v1::Device::STATE_FRESH);
  for (const int device : {0, 2}) devices.mutable_devices(device)->add_kinds(v1::Device::KIND_BOARD);
  Model model = ASite();
  EXPECT_FALSE(model.HasBoard());
  model.Apply(devices, kNow);
  EXPECT_TRUE(model.HasBoard());
  v1::GetSensorsResponse response;
  for (const char* name : {"gpu0", "gpu2", "gone"}) {
    v1::DeviceSensors& device = *response.add_devices();
    device.set_device(name);
    v1::Sensor& reason = *device.add_sensors();
    reason.set_name("sideband_throttle_active");
    reason.set_value(1);
    reason.add_labels()->set_name("reason");
    reason.mutable_labels(0)->set_value("software_thermal");
  }
  model.Apply(response);
  std::vector<Row> rows = BuildRows(model, {}, kNow);
  EXPECT_EQ(Names(rows), (Lines{"-gpu0", " board", " +events (2)", " -vm1", "  +events (2)", "  +eval", "  +train",
                                " -vm2", "  +events (2)", " vm3", "gpu1", "-gpu2", " board"}));
  EXPECT_EQ(rows[1].tone, Tone::kWarning);
  EXPECT_EQ(rows[1].detail, "board of gpu0: throttled: software_thermal");
  EXPECT_EQ(Find(rows, "gpu2").state, "fresh") << "it has no snapshots, nor their age";
  model.Apply(v1::GetSensorsResponse());
  EXPECT_EQ(Names(BuildRows(model, {}, kNow)).back(), "gpu2");
}

TEST(RowsTest, ASilentDeviceHasNoCurrentValues) {
  const std::vector<Row> rows = BuildRows(ASite(), {}, kNow + absl::Seconds(74));
  EXPECT_EQ(Find(rows, "gpu0").state, "stale 1m14s");
  EXPECT_EQ(Find(rows, "gpu0").tone, Tone::kWarning);
  EXPECT_EQ(Find(rows, "vm1").share, std::nullopt);
  EXPECT_EQ(Find(rows, "vm1").rate, std::nullopt);
  EXPECT_EQ(Find(rows, "vm1").state, "-");
  EXPECT_EQ(Find(rows, "train").state, "-");
  EXPECT_THAT(Find(rows, "vm1").detail, testing::StartsWith("vm1: state unknown, "));
  EXPECT_EQ(Find(rows, "vm3").state, "sealed") << "a silent device does not change that";
  EXPECT_TRUE(std::isnan(Find(rows, "vm1").minute.back()));
  EXPECT_EQ(Find(rows, "gpu1").state, "away");
  EXPECT_EQ(Find(rows, "gpu1").tone, Tone::kBad);
  EXPECT_EQ(Find(rows, "gpu1").detail, "gpu1: away, it has not answered yet, every 1s, bus reads 0.0%");
  EXPECT_EQ(Find(BuildRows(ASite(), {}, kNow + absl::Milliseconds(250)), "gpu0").detail,
            "gpu0: fresh, 0.2s old, every 1s, boot 000000000000b007");
}

TEST(RowsTest, SiblingsAreSorted) {
  EXPECT_EQ(Shown({.sort = Sort::kUtilisation}), (Lines{"-gpu0", " +events (2)", " -vm1", "  +events (2)", "  +train",
                                                        "  +eval", " -vm2", "  +events (2)", " vm3", "gpu1"}));
  EXPECT_EQ(Shown({.sort = Sort::kRate}), (Lines{"-gpu0", " +events (2)", " -vm2", "  +events (2)", " -vm1",
                                                 "  +events (2)", "  +train", "  +eval", " vm3", "gpu1"}));
  EXPECT_EQ(Shown({.sort = Sort::kRate, .is_reversed = true}),
            (Lines{"-gpu0", " +events (2)", " -vm1", "  +events (2)", "  +eval", "  +train", " -vm2", "  +events (2)",
                   " vm3", "gpu1"}))
      << "what is unknown stays last";
  EXPECT_EQ(Shown({.is_reversed = true}).front(), "gpu1");
}

TEST(RowsTest, AFilterShowsThePathToWhatMatches) {
  EXPECT_EQ(Shown({.filter = "TRAIN"}), (Lines{"-gpu0", " -vm1", "  +train"}));
  EXPECT_EQ(Shown({.filter = "vm?"}),
            (Lines{"-gpu0", " -vm1", "  +events (2)", "  +eval", "  +train", " -vm2", "  +events (2)", " vm3"}));
  EXPECT_EQ(Shown({.filter = "v?"}), Lines()) << "a pattern is of the whole name";
  EXPECT_THAT(Shown({.filter = "dram"}),
              testing::ElementsAre("-gpu0", " -events (2)", "  dram_read_cycles", " -vm1", "  -events (2)",
                                   "   dram_read_cycles", "  -eval", "   dram_read_cycles", "  -train",
                                   "   dram_read_cycles", " -vm2", "  -events (2)", "   dram_read_cycles"));
  EXPECT_EQ(Shown({.filter = "gpu1"}), Lines{"gpu1"});
}

TEST(RowsTest, AContextWithoutItsVm) {
  Model model;
  v1::Snapshot snapshot = SnapshotOf(0.5);
  snapshot.mutable_scopes()->DeleteSubrange(0, 2);  // the device's and vm1's own
  model.Apply(snapshot, kNow);
  EXPECT_EQ(Names(BuildRows(model, {}, kNow)),
            (Lines{"-gpu0", " -vm1", "  +eval", "  +train", " -vm2", "  +events (2)"}));
}

TEST(RowsTest, NothingYet) {
  EXPECT_EQ(BuildRows(Model(), {}, kNow).size(), 0u);
  EXPECT_EQ(ChosenEvent(Model(), {}), "");
}

}  // namespace
}  // namespace sideband::client::top
