// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "secure_mcu/chip_file/loaded_text.h"

namespace sideband::mcu {
namespace {

constexpr char kChip[] = R"(device:
  uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10
  clock_hz: 1000000
slices: 2
pipeline:
  period: 100
  counter_bits: 7
  threshold: 100000
  trigger_period: 5000
  commit_period: 20000
units:
  - name: sm
    count: 2
    events: [sm_active_cycles, tensor_active_cycles]
  - name: fpu
    count: 3
    lanes: 4
    counter_bits: 6
    ccu: math
    slices: [1]
    events: [flops, {name: flop_bytes, bits: 8, count: prescaled}, {name: flop_sum, bits: 3}]
    masked: [flops]
device_units:
  - name: pcie
    events: [pcie_tx_cycles]
device_workload:
  seed: 9
  phases: [{kind: copy, time: 1ms}]
ccus:
  - name: math
    threshold: 77000
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: train, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}, {kind: idle, time: 1ms}], lifetime: 3s}
      - {name: serve, slice: 1, phases: [{kind: attention, time: 1ms}], lifetime: 1h, restart: false}
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    confidential: true
    contexts: []
quantum: 500us
gap: 0s
power:
  idle_w: 12.5
  event_pj: {tensor_active_cycles: 40}
)";

constexpr char kWaveformChip[] = R"(device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}
waveform: {trace: t, signals: s, schedule: c}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - name: train
        slice: 0
power: {event_pj: {not_known_yet: 1}}
)";

constexpr char kProgramChip[] = R"(device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}
slices: 2
pipeline: {period: 100}
program:
  - hex: reader.hex
    level: machine
    argument: 7
    cores: 2
    l1i: {bytes: 4096, ways: 2}
    l1d: {ways: 8}
    l2: {bytes: 65536}
    l2_slices: 4
  - {hex: other.hex}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts: [{name: a, slice: 0, lifetime: 1s}, {name: b, slice: 1}]
power: {event_pj: {slice3_l2_read: 2}}
)";

TEST(ChipFileTest, ReadsTheDeviceAndItsPipeline) {
  const auto file = LoadText(kChip);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->pipeline.slices, 2u);
  EXPECT_EQ(file->pipeline.clock_hz, 1'000'000u);
  EXPECT_EQ(file->pipeline.trigger_period, 5000u);
  EXPECT_EQ(file->pipeline.commit_period, 20'000u);
  EXPECT_EQ(file->pipeline.hypervisor_commit_period, 20'000u) << "the slices' unless it is given";
  EXPECT_EQ(file->pipeline.out_of_band_commit_period, 0u);
  EXPECT_EQ(file->threshold, 100000u);
  EXPECT_EQ(file->power.idle_mw, 12'500);
  ASSERT_EQ(file->event_pj.size(), 1u);
  EXPECT_EQ(file->event_pj[0].line, 46u);
}

TEST(ChipFileTest, ReadsUnits) {
  const auto file = LoadText(kChip);
  ASSERT_TRUE(file.ok()) << file.status();
  const UnitFileSpec& sm = file->units[0];
  EXPECT_EQ(sm.count, 2u);
  EXPECT_EQ(sm.ulc.period, 100u);
  EXPECT_EQ(sm.line, 12u);
  EXPECT_TRUE(sm.slices.empty());
  const UnitFileSpec& fpu = file->units[1];
  EXPECT_EQ(fpu.ulc.counter_bits, 6u);
  EXPECT_EQ(fpu.ulc.period, 63u) << "as long as six bits allow";
  EXPECT_EQ(fpu.ulc.lanes, 4u);
  EXPECT_EQ(fpu.ccu, "math");
  EXPECT_EQ(fpu.slices, (std::vector<uint8_t>{1}));
  ASSERT_EQ(fpu.events.size(), 3u);
  EXPECT_TRUE(fpu.events[0].masked);
  EXPECT_EQ(fpu.events[1].bits, 8u);
  EXPECT_TRUE(fpu.events[1].prescaled);
  EXPECT_FALSE(fpu.events[2].prescaled);
  EXPECT_FALSE(fpu.events[2].masked);
  EXPECT_EQ(file->ccus[0].threshold, 77000u);
}

TEST(ChipFileTest, TheExtensionIsOfVersionTwoUnlessTheFileSaysOtherwise) {
  EXPECT_EQ(LoadText(kChip)->extension, mailbox::ExtensionVersion::kTwo);
  EXPECT_EQ(LoadText(absl::StrCat(kChip, "extension: 2\n"))->extension, mailbox::ExtensionVersion::kTwo);
  EXPECT_EQ(LoadText(absl::StrCat(kChip, "extension: 1\n"))->extension, mailbox::ExtensionVersion::kOne);
  EXPECT_EQ(LoadText(absl::StrCat(kChip, "extension: off\n"))->extension, std::nullopt);
  for (const char* wrong : {"0", "3", "on", "two"}) {
    const absl::Status status = LoadText(absl::StrCat(kChip, "extension: ", wrong, "\n")).status();
    EXPECT_TRUE(absl::StrContains(status.message(), "key 'extension' must be off, 1 or 2")) << status;
  }
}

TEST(ChipFileTest, ReadsBurstsAndVariation) {
  std::string text = kChip;
  const std::string steady = "phases: [{kind: gemm, time: 2ms}";
  text.replace(text.find(steady), steady.size(),
               "vary: 0.02, phases: [{kind: update, time: 2ms, bursty: {on: [3us, 20us]}}");
  const auto file = LoadText(text);
  ASSERT_TRUE(file.ok()) << file.status();
  const WorkloadFileSpec& workload = *file->vms[0].contexts[0].workload;
  EXPECT_EQ(workload.vary_per_mille, 20u);
  EXPECT_EQ(workload.phases[0].kind, sim::PhaseKind::kUpdate);
  ASSERT_TRUE(workload.phases[0].bursts.has_value());
  EXPECT_EQ(workload.phases[0].bursts->on.low, absl::Microseconds(3));
  EXPECT_EQ(workload.phases[0].bursts->off.high, absl::Microseconds(20));
  EXPECT_FALSE(workload.phases[1].bursts.has_value());
  EXPECT_EQ(file->vms[0].contexts[1].workload->vary_per_mille, 0u);
}

TEST(ChipFileTest, ReadsTenants) {
  const auto file = LoadText(kChip);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->device_workload->phases[0].kind, sim::PhaseKind::kCopy);
  ASSERT_EQ(file->vms.size(), 2u);
  const auto& contexts = file->vms[0].contexts;
  EXPECT_EQ(contexts[0].workload->phases[1].time, absl::Milliseconds(1));
  EXPECT_EQ(contexts[0].lifetime, absl::Seconds(3));
  EXPECT_TRUE(contexts[0].restart);
  EXPECT_EQ(contexts[1].slice, 1);
  EXPECT_EQ(contexts[1].lifetime, absl::Hours(1));
  EXPECT_FALSE(contexts[1].restart);
  EXPECT_TRUE(file->vms[1].confidential);
  EXPECT_EQ(file->quantum, absl::Microseconds(500));
  EXPECT_EQ(file->gap, absl::ZeroDuration());
}

TEST(ChipFileTest, ReadsCounting) {
  EXPECT_FALSE(LoadText(kChip)->vms[1].counting.useren);
  const auto with = [](const std::string& counting) {
    return LoadText(absl::StrReplaceAll(kChip, {{"confidential: true", "counting: " + counting}}));
  };
  EXPECT_TRUE(with("{useren: true}")->vms[1].counting.useren);
  EXPECT_FALSE(with("{}")->vms[1].counting.useren);
  EXPECT_TRUE(absl::EndsWith(with("{useren: 1}").status().message(), ":40: useren is 1, must be true or false"));
  EXPECT_FALSE(with("{users: true}").ok());
}

TEST(ChipFileTest, ConfidentialVmsArePrivateUnlessTheFileSaysOtherwise) {
  const auto with = [](const std::string& counting, const std::string& keys) {
    return LoadText(absl::StrCat(
        absl::StrReplaceAll(kChip, {{"confidential: true", "confidential: true\n    counting: " + counting}}), keys));
  };
  const struct {
    std::string counting, keys;
    bool expected;
  } kCases[] = {
      {"{}", "", true},
      {"{private: false}", "", false},
      {"{private: true}", "private_vms: true\n", true},
      {"{}", "private_vms: false\n", false},
      {"{private: false}", "private_vms: false\n", false},
      {"{}", "extension: 1\n", false},
      {"{}", "extension: off\nprivate_vms: false\n", false},
  };
  for (const auto& test : kCases) {
    const auto file = with(test.counting, test.keys);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->vms[1].counting.is_private, test.expected) << test.counting << " " << test.keys;
    EXPECT_FALSE(file->vms[0].counting.is_private) << "it is not confidential";
  }
  const auto error = [&](const std::string& keys) {
    return std::string(with("{private: true}", keys).status().message());
  };
  EXPECT_TRUE(absl::EndsWith(error("private_vms: false\n"), ":41: the device has no private VMs"));
  EXPECT_TRUE(absl::EndsWith(error("extension: 1\n"), ":41: the device has no private VMs"));
  EXPECT_TRUE(absl::EndsWith(error("extension: 1\nprivate_vms: true\n"), ": 'private_vms' needs extension 2"));
}

TEST(ChipFileTest, ADeviceMaySeal) {
  const auto with = [](const std::string& keys, const std::string& counting = "{}") {
    return LoadText(absl::StrCat(
        absl::StrReplaceAll(kChip, {{"confidential: true", "confidential: true\n    counting: " + counting}}), keys));
  };
  const auto file = with("sealing: keys/sealing.yaml\n");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->sealing->path, (std::filesystem::path(file->path).parent_path() / "keys/sealing.yaml").string());
  EXPECT_EQ(with("")->sealing, std::nullopt);
  const auto error = [&](const std::string& keys, const std::string& counting = "{}") {
    return std::string(with("sealing: s.yaml\n" + keys, counting).status().message());
  };
  EXPECT_TRUE(absl::EndsWith(error("extension: 1\n"), ": 'sealing' needs extension 2")) << error("extension: 1\n");
  EXPECT_TRUE(absl::StrContains(error("", "{private: false}"), "is confidential and not private"));
}

TEST(ChipFileTest, AnOpenVmMayBePrivateToo) {
  const auto file = LoadText(absl::StrReplaceAll(kChip, {{"confidential: true", "counting: {private: true}"}}));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->vms[1].counting.is_private);
  EXPECT_FALSE(file->vms[1].confidential);
}

std::string WithGates(const std::string& gates, const std::string& counting = "{}") {
  return absl::StrCat(absl::StrReplaceAll(kChip, {{"confidential: true", "counting: " + counting}}), gates, "\n");
}

TEST(ChipFileTest, ReadsGateGroupsAndTheHost) {
  const auto file =
      LoadText(WithGates("gate_groups:\n"
                         "  - {name: sm, events: [sm_active_cycles], identifier: 7}\n"
                         "  - {name: memory, events: [tensor_active_cycles], guest: false, host: true}\n"
                         "host: {exit_every: 1ms, exit_time: 50us, phases: [{kind: copy, time: 1ms}]}",
                         "{ids: [7, 9], allowed: [memory], pinned: [sm]}"));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->gate_groups.size(), 2u);
  EXPECT_EQ(file->pipeline.gate_groups[0].identifier, 7);
  EXPECT_TRUE(file->pipeline.gate_groups[0].in_guest);
  EXPECT_FALSE(file->pipeline.gate_groups[1].in_guest);
  EXPECT_TRUE(file->pipeline.gate_groups[1].in_host);
  EXPECT_EQ(file->host->exit_time, absl::Microseconds(50));
  const VmControl& counting = file->vms[1].counting;
  EXPECT_TRUE(counting.match.Includes(9));
  EXPECT_FALSE(counting.match.Includes(8));
  EXPECT_EQ(counting.allowed, 0b10u);
  EXPECT_EQ(counting.pinned, 0b01u);
  EXPECT_FALSE(file->vms[0].counting.match.enable);
}

TEST(ChipFileTest, ReadsWhatAGuestMayChangeAndWhatEntriesLoad) {
  const auto counting = [](const std::string& fields) {
    return LoadText(
        WithGates("gate_groups:\n"
                  "  - {name: sm, events: [sm_active_cycles]}\n"
                  "  - {name: memory, events: [tensor_active_cycles]}",
                  fields));
  };
  const auto all = counting(
      "{guest_access: allow, guest_value: [memory], host_value: [], guest_load: true, host_load: true, "
      "guest_store: true, host_store: true}");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->vms[1].counting, (VmControl{.guest_value = {.vector_enable = true, .vector = 0b10},
                                             .host_value = {.vector_enable = true, .vector = 0},
                                             .guest_load = true,
                                             .host_load = true,
                                             .guest_store = true,
                                             .host_store = true,
                                             .guest_access = true}));
  EXPECT_EQ(all->vms[0].counting, VmControl());
  EXPECT_EQ(counting("{guest_access: trap, host_store: true}")->vms[1].counting, (VmControl{.host_store = true}));
  const auto message = [&](const std::string& fields) { return std::string(counting(fields).status().message()); };
  EXPECT_THAT(message("{guest_access: deny}"), testing::EndsWith(": guest_access is 'deny', must be trap or allow"));
  EXPECT_THAT(message("{guest_value: [smm]}"), testing::HasSubstr("no gate group 'smm'"));
  EXPECT_THAT(message("{host_load: 2}"), testing::HasSubstr("host_load is 2, must be true or false"));
}

TEST(ChipFileTest, AMistakeInGatesIsNamed) {
  const auto message = [](const std::string& gates, const std::string& counting = "{}") {
    return std::string(LoadText(WithGates(gates, counting)).status().message());
  };
  const auto group = [&](const std::string& fields) { return message("gate_groups: [{" + fields + "}]"); };
  EXPECT_THAT(group("name: SM, events: [sm_active_cycles]"), testing::HasSubstr("characters other than a-z"));
  EXPECT_THAT(group("name: a, events: []"), testing::HasSubstr("group 'a' has no event"));
  EXPECT_THAT(group("name: a, events: [sm_activ_cycles]"), testing::HasSubstr("(did you mean 'sm_active_cycles'?)"));
  EXPECT_THAT(group("name: a, events: [sm_active_cycles, sm_active_cycles]"),
              testing::HasSubstr("a gate group already"));
  EXPECT_THAT(group("name: a, events: [sm_active_cycles], identifier: 65536"), testing::HasSubstr("from 0 to 65535"));
  EXPECT_THAT(
      message("gate_groups: [{name: a, events: [sm_active_cycles]}, {name: a, events: [tensor_active_cycles]}]"),
      testing::HasSubstr("listed twice"));
  const auto host = [&](const std::string& fields) {
    return message("host: {" + fields + ", phases: [{kind: copy, time: 1ms}]}");
  };
  EXPECT_THAT(host("exit_every: 1ms, exit_time: 1ms"), testing::HasSubstr("exit_time must be shorter than exit_every"));
  EXPECT_THAT(host("exit_every: 9us, exit_time: 1us"),
              testing::HasSubstr("exit_every is 9us, must be a duration from 10us"));
  EXPECT_THAT(host("exit_time: 1us"), testing::HasSubstr("exit_every"));
  EXPECT_THAT(message("", "{allowed: [a]}"), testing::HasSubstr("no gate group 'a'"));
  EXPECT_THAT(message("", "{ids: [1, 2, 3, 4, 5]}"), testing::HasSubstr("more than 4 ids"));
  EXPECT_THAT(message("", "{ids: [0]}"), testing::HasSubstr("from 1 to 65535"));
}

TEST(ChipFileTest, ReadsMemory) {
  EXPECT_FALSE(LoadText(kChip)->memory.has_value());
  const auto file =
      LoadText(absl::StrReplaceAll(kChip, {{"gap: 0s", "memory: {total_mib: 16777216, reserved_mib: 16777116}"},
                                           {"slice: 1,", "slice: 1, memory_mib: 100,"}}));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->memory->reserved_mib, 16777116u);
  EXPECT_EQ(file->vms[0].contexts[0].memory_mib, 0u);
  EXPECT_EQ(file->vms[0].contexts[1].memory_mib, 100u);
  EXPECT_EQ(LoadText(absl::StrReplaceAll(kWaveformChip,
                                         {{"vms:", "memory: {total_mib: 5}\nvms:"}, {"slice: 0", "memory_mib: 5"}}))
                ->vms[0]
                .contexts[0]
                .memory_mib,
            5u);
}

TEST(ChipFileTest, ReadsComplement) {
  EXPECT_EQ(LoadText(kChip)->complement, ComplementPolicy());
  const auto file = LoadText(absl::StrCat(kChip, "complement: {power: withhold, clocks: allow, energy: exclude}\n"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->complement, (ComplementPolicy{.power = Complement::kWithhold, .clocks = Complement::kAllow}));
}

TEST(ChipFileTest, AMistakeInComplementIsNamed) {
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"{power: hide}", "complement of power: 'hide' is unknown, must be exclude, withhold or allow"},
           {"{pover: allow}",
            "complement: unknown class 'pover', must be counters, utilisation, power, energy, temperature or clocks"},
           {"allow", "expected a mapping (key: value)"}}) {
    const absl::Status status = LoadText(absl::StrCat(kChip, "complement: ", text, "\n")).status();
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(error));
  }
}

TEST(ChipFileTest, AWaveformsEventsAreNotKnownYet) {
  const auto file = LoadText(kWaveformChip);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->waveform->trace, testing::TempDir() + "t");
  EXPECT_FALSE(file->vms[0].contexts[0].lifetime.has_value());
}

struct Mistake {
  std::string from;
  std::string to;
  std::string message;  // starts at the colon before the line number
};

void ExpectMistakes(const char* chip, const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    ASSERT_NE(std::string(chip).find(mistake.from), std::string::npos) << mistake.from;
    const auto file = LoadText(absl::StrReplaceAll(chip, {{mistake.from, mistake.to}}));
    ASSERT_FALSE(file.ok()) << mistake.message;
    EXPECT_EQ(std::string(file.status().message()), ChipPath() + mistake.message);
  }
}

TEST(ChipFileTest, AMistakeInTheDeviceHasItsLine) {
  ExpectMistakes(
      kChip,
      {
          {"device:", "devices:", ":2: unknown key 'devices' (did you mean 'device'?)"},
          {"uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10", "serial: A", ":2: key 'uuid' is missing: uuidgen makes one"},
          {"6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10", "2", ":2: '2' is not a UUID"},
          {"clock_hz: 1000000", "serial: ABCDEFGHIJKLMNOPQ",
           ":3: serial must be from 1 to 16 printable ASCII characters"},
          {"clock_hz: 1000000", "part_number: ABCDEFGHIJKLMNOPQRSTUVWXY",
           ":3: part_number must be from 1 to 24 printable ASCII characters"},
          {"clock_hz: 1000000", "clock_hz: 999",
           ":3: clock_hz is 999, must be a whole number from 1000 to 100000000000"},
          {"clock_hz: 1000000", "clock_hz: [1]", ":3: clock_hz must be a whole number from 1000 to 100000000000"},
          {"slices: 2", "slices: 65", ":4: slices is 65, must be a whole number from 1 to 64"},
          {"slices: 2", "slices: two", ":4: slices is two, must be a whole number from 1 to 64"},
          {"slices: 2", "slice: 2", ":4: unknown key 'slice' (did you mean 'slices'?)"},
          {"quantum: 500us", "quantum: 500",
           ":42: quantum is 500, must be a duration from 100us to 24h, such as 250ms or 1s"},
          {"gap: 0s", "gap: 25h", ":43: gap is 25h, must be a duration from 0 to 24h, such as 250ms or 1s"},
          {"idle_w: 12.5", "idle_w: -1", ":45: idle_w is -1, must be a number from 0 to 10000"},
          {"idle_w: 12.5", "ambient_c: 101", ":45: ambient_c is 101, must be a number from -50 to 100"},
          {"idle_w: 12.5", "c_per_watt: 11", ":45: c_per_watt is 11, must be a number from 0 to 10"},
          {"tensor_active_cycles: 40", "tensor_active_cycles: x",
           ":46: energy of 'tensor_active_cycles' must be a number from 0 to 1e+12"},
          {"tensor_active_cycles: 40", "tensor_activ_cycles: 40",
           ":46: power: unknown event 'tensor_activ_cycles' (did you mean 'tensor_active_cycles'?)"},
          {"tensor_active_cycles: 40", "flops: 1, flops: 2", ":46: key 'flops' is given twice"},
      });
}

TEST(ChipFileTest, AMistakeInThePipelineHasItsLine) {
  const std::string pace = ", must be 0 or from 10 to 1000000000000 cycles (100000 a second at 1000000 Hz)";
  ExpectMistakes(
      kChip,
      {
          {"period: 100\n", "period: 128\n", ":6: period is 128, must be a whole number from 1 to 127"},
          {"period: 100\n", "period: 0\n", ":6: period is 0, must be a whole number from 1 to 127"},
          {"counter_bits: 7", "counter_bits: 10", ":7: counter_bits is 10, must be a whole number from 1 to 9"},
          {"threshold: 100000", "threshold: 268435456",
           ":8: threshold is 268435456, must be a whole number from 0 to 268435455"},
          {"threshold: 100000", "lanes: 513", ":8: lanes is 513, must be a whole number from 1 to 512"},
          {"threshold: 100000", "buffer_depth: 0", ":8: buffer_depth is 0, must be a whole number from 1 to 65536"},
          {"threshold: 100000", "record_cycles: 65537",
           ":8: record_cycles is 65537, must be a whole number from 1 to 65536"},
          {"threshold: 100000", "route_cycles: 0", ":8: route_cycles is 0, must be a whole number from 1 to 65536"},
          {"threshold: 100000", "grant_cycles: 0", ":8: grant_cycles is 0, must be a whole number from 1 to 65536"},
          {"threshold: 100000", "switch_step_cycles: 65537",
           ":8: switch_step_cycles is 65537, must be a whole number from 0 to 65536"},
          {"trigger_period: 5000", "trigger_period: 1000000000001",
           ":9: trigger_period is 1000000000001, must be a whole number from 0 to 1000000000000"},
          {"trigger_period: 5000", "trigger_period: 9", ":9: trigger_period is 9" + pace},
          {"commit_period: 20000", "commit_period: 1", ":10: commit_period is 1" + pace},
          {"threshold: 100000", "hypervisor_commit_period: 5", ":8: hypervisor_commit_period is 5" + pace},
          {"threshold: 100000", "out_of_band_commit_period: 5", ":8: out_of_band_commit_period is 5" + pace},
          {"threshold: 100000", "treshold: 100000", ":8: unknown key 'treshold' (did you mean 'threshold'?)"},
          // A default period has no line; the error is at the clock, which makes it too short.
          {"1000000\nslices: 2\npipeline:\n  period: 100\n  counter_bits: 7\n  threshold: 100000\n  trigger_period: "
           "5000",
           "50000000000\npipeline:",
           ":3: trigger_period is 65536, must be 0 or from 500000 to 1000000000000 cycles (100000 a second at "
           "50000000000 Hz)"},
      });
}

TEST(ChipFileTest, AMistakeInAUnitHasItsLine) {
  ExpectMistakes(
      kChip,
      {
          {"name: sm", "name: s/m", ":12: name 's/m' has characters other than letters, digits, '_', '-' and '.'"},
          {"name: sm", "count: 1", ":13: key 'count' is given twice"},
          {"name: fpu", "name: sm", ":15: unit 'sm' is listed twice"},
          {"count: 2", "count: 4097", ":13: count is 4097, must be a whole number from 1 to 4096"},
          {"count: 2", "cuont: 2", ":13: unknown key 'cuont' (did you mean 'count'?)"},
          {"sm_active_cycles,", "SM_active,", ":14: event 'SM_active' has characters other than a-z, 0-9 and '_'"},
          {"sm_active_cycles,", "1st,", ":14: event '1st' starts with a digit"},
          {"sm_active_cycles,", "tensor_active_cycles,",
           ":14: event 'tensor_active_cycles' is listed twice in unit 'sm'"},
          {"[sm_active_cycles, tensor_active_cycles]", "[]", ":14: unit 'sm' has no event"},
          {"[sm_active_cycles, tensor_active_cycles]", "sm_active_cycles", ":14: expected a list"},
          {"lanes: 4", "lanes: 0", ":17: lanes is 0, must be a whole number from 1 to 512"},
          {"lanes: 4", "period: 64", ":17: period is 64, must be a whole number from 1 to 63"},
          {"counter_bits: 6", "counter_bits: 0", ":18: counter_bits is 0, must be a whole number from 1 to 9"},
          {"counter_bits: 6", "period: 9",
           ":15: unit 'fpu': the serialiser cannot finish in a period: (2 + 8 counters x 7 bits) / 4 lanes = 15 "
           "cycles > period 9"},
          {"ccu: math", "ccu: ma th", ":19: ccu 'ma th' has characters other than letters, digits, '_', '-' and '.'"},
          {"ccu: math", "ccu: ccu0", ":19: 'ccu0' is reserved for units that name no collection unit"},
          {"slices: [1]", "slices: [0, 2]", ":20: slice is 2, must be a whole number from 0 to 1"},
          {"slices: [1]", "slices: [0, 0]", ":20: slice 0 is listed twice"},
          {"slices: [1]", "slices: []", ":20: unit 'fpu' is on no slice"},
          {"count: 2", "slices: [1]", ":12: no unit is on slice 0"},
          {"bits: 8", "bits: 33", ":21: bits is 33, must be a whole number from 1 to 32"},
          {"count: prescaled", "count: half", ":21: count is half, must be full or prescaled"},
          {"masked: [flops]", "masked: [flop]", ":22: unit 'fpu' has no event 'flop' to mask (did you mean 'flops'?)"},
          {"masked: [flops]", "masked: [flops, flops]", ":22: event 'flops' is masked twice"},
          {"name: pcie", "name: pcie\n    slices: [0]", ":25: unknown key 'slices' (did you mean 'lanes'?)"},
          {"pcie_tx_cycles", "flops", ":25: event 'flops' is both of slices and of the whole device"},
          {"device_workload:\n  seed: 9\n  phases: [{kind: copy, time: 1ms}]\n", "",
           ":24: keys 'device_units' and 'device_workload' go together"},
          {"device_units:\n  - name: pcie\n    events: [pcie_tx_cycles]\n", "",
           ":24: keys 'device_units' and 'device_workload' go together"},
      });
}

constexpr char kSharedChip[] = R"(device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}
slices: 3
units: [{name: sm, events: [sm_active_cycles]}]
shared_units:
  - name: l2
    count: 4
    period: 100
    events: [l2_hit_cycles]
  - {name: mc, slices: [0, 2], events: [dram_read_cycles]}
gate_groups: [{name: l2, events: [l2_hit_cycles]}]
)";

TEST(ChipFileTest, ReadsSharedUnits) {
  const auto file = LoadText(kSharedChip);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->shared_units.size(), 2u);
  EXPECT_EQ(file->shared_units[0].count, 4u);
  EXPECT_EQ(file->shared_units[0].ulc.period, 100u);
  EXPECT_EQ(file->shared_units[1].slices, (std::vector<uint8_t>{0, 2}));
  EXPECT_EQ(file->units.size(), 1u);
}

TEST(ChipFileTest, SharedUnitsMayHaveMoreEventsThanCounters) {
  const std::string selections =
      "selections: [{name: reads, events: [dram_read_cycles]}, {name: writes, events: [dram_write_cycles]}]\n";
  const std::string chip = absl::StrReplaceAll(
      kSharedChip, {{"events: [dram_read_cycles]", "counters: 1, events: [dram_read_cycles, dram_write_cycles]"},
                    {"gate_groups: [", selections + "gate_groups: [{name: r, events: [dram_read_cycles]}, "
                                                    "{name: w, events: [dram_write_cycles]}, "}});
  const auto file = LoadText(chip);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->pipeline.selections, (std::vector<mailbox::EventSet>{{0b00100}, {0b01000}}));
  ExpectMistakes(chip.c_str(), {{"{name: w, events: [dram_write_cycles]}, ", "",
                                 ":9: event 'dram_write_cycles' is selectable and has no gate group, whose running "
                                 "cycles would tell a count of 0 from none"}});
}

TEST(ChipFileTest, AMistakeInASharedUnitHasItsLine) {
  ExpectMistakes(
      kSharedChip,
      {
          {"[0, 2]", "[2]", ":9: unit 'mc' is shared by one slice only: list it in 'units'"},
          {"slices: 3", "slices: 1", ":9: slice is 2, must be a whole number from 0 to 0"},
          {"[0, 2]", "[0, 3]", ":9: slice is 3, must be a whole number from 0 to 2"},
          {"name: mc", "name: l2", ":9: unit 'l2' is listed twice"},
          {"units: [{name: sm, events: [sm_active_cycles]}]", "program: {hex: a}",
           ":5: shared units need units of slices, whose requests they serve"},
          {"units: [{name: sm,", "units: [{name: sm, slices: [0, 1],", ":3: no unit is on slice 2"},
          {"events: [l2_hit_cycles]}]", "events: [l2_hit_cycle]}]",
           ":10: no unit of a slice has an event 'l2_hit_cycle' (did you mean 'l2_hit_cycles'?)"},
          {"units: [{name: sm, events: [sm_active_cycles]}]", "waveform: {trace: t, signals: s, schedule: c}",
           ":5: shared units need units of slices, whose requests they serve"},
      });
}

TEST(ChipFileTest, AMistakeInACollectionUnitHasItsLine) {
  ExpectMistakes(
      kChip,
      {
          {"  - name: math", "  - name: mats", ":30: no unit is on collection unit 'mats' (did you mean 'math'?)"},
          {"  - name: math", "  - {name: math, threshold: 1}\n  - name: math",
           ":31: collection unit 'math' is listed twice"},
          {"    threshold: 77000\n", "", ":30: key 'threshold' is missing"},
          {"threshold: 77000", "threshold: 268435456",
           ":31: threshold is 268435456, must be a whole number from 0 to 268435455"},
          {"count: 3", "count: 49",
           ":15: collection unit 'math' has more than 48 unit-level counters with those of unit 'fpu'"},
          {"count: 2", "count: 46\n    ccu: math",
           ":16: collection unit 'math' has more than 48 unit-level counters with those of unit 'fpu'"},
      });
}

TEST(ChipFileTest, AMistakeInAVmHasItsLine) {
  ExpectMistakes(
      kChip,
      {
          {"slices: 2", "slices: 1", ":20: slice is 1, must be a whole number from 0 to 0"},
          {"slice: 1,", "slice: 2,", ":37: context 'serve' is on slice 2, but there are 2 (from 0)"},
          {"slice: 1,", "slice: 64,", ":37: slice is 64, must be a whole number from 0 to 63"},
          {"name: vm1", "name: vm0", ":33: VM 'vm0' is the hypervisor: the name is reserved"},
          {"name: vm2", "name: vm1", ":38: VM 'vm1' is listed twice"},
          {"name: serve", "name: train", ":37: context 'train' is listed twice"},
          {"22222222-0000-4000-8000-000000000002", "11111111-0000-4000-8000-000000000001",
           ":38: UUID 11111111-0000-4000-8000-000000000001 is used twice"},
          {"22222222-0000-4000-8000-000000000002", "00000000-0000-0000-0000-000000000000",
           ":39: the UUID of a VM must not be all zeros"},
          {"confidential: true", "confidential: 1", ":40: confidential is 1, must be true or false"},
          {"kind: gemm", "kind: gem", ":36: unknown phase 'gem' (did you mean 'gemm'?)"},
          {"time: 2ms", "time: 2", ":36: time is 2, must be a duration from 1us to 24h, such as 250ms or 1s"},
          {"time: 2ms}", "time: 2ms, bursty: {off: 1us}}", ":36: key 'on' is missing"},
          {"time: 2ms}", "time: 2ms, bursty: {on: 1ns}}",
           ":36: on is 1ns, must be a duration from 1us to 24h, such as 250ms or 1s"},
          {"time: 2ms}", "time: 2ms, bursty: {on: [1us]}}", ":36: on is one time, or a list of the least and the most"},
          {"time: 2ms}", "time: 2ms, bursty: {on: 1us, off: [2us, 1us]}}",
           ":36: off: the least time is longer than the most"},
          {"seed: 1,", "seed: 1, vary: 0.6,", ":36: vary is 0.6, must be a number from 0 to 0.5"},
          {"seed: 1,", "seed: -1,", ":36: seed is -1, must be a whole number from 0 to 18446744073709551615"},
          {"phases: [{kind: attention, time: 1ms}], ", "", ":37: key 'phases' is missing"},
          {"[{kind: attention, time: 1ms}]", "[]", ":37: a workload has one phase at least"},
          {"lifetime: 3s", "lifetime: 999us",
           ":36: lifetime is 999us, must be a duration from 1ms to 24h, such as 250ms or 1s"},
          {"lifetime: 1h, restart: false", "lifetime: 25h",
           ":37: lifetime is 25h, must be a duration from 1ms to 24h, such as 250ms or 1s"},
          {"lifetime: 1h, restart: false", "lifetime: 1h, restart: no", ":37: restart is no, must be true or false"},
          {"lifetime: 1h, ", "", ":37: 'restart' needs a 'lifetime': a context without one never ends"},
          {"gap: 0s", "waveform: {trace: t, signals: s, schedule: c}", ":36: a context of a waveform has no 'phases'"},
      });
}

TEST(ChipFileTest, AMistakeInMemoryHasItsLine) {
  ExpectMistakes(kChip, {
                            {"gap: 0s", "memory: {}", ":43: key 'total_mib' is missing"},
                            {"gap: 0s", "memory: {total_mib: 16777217}",
                             ":43: total_mib is 16777217, must be a whole number from 1 to 16777216"},
                            {"gap: 0s", "memory: {total_mib: 5, reserved_mib: 6}",
                             ":43: reserved_mib is 6, must be a whole number from 0 to 5"},
                            {"slice: 1,", "slice: 1, memory_mib: 16777217,",
                             ":37: memory_mib is 16777217, must be a whole number from 0 to 16777216"},
                            {"slice: 1,", "slice: 1, memory_mib: 1,",
                             ":37: context 'serve' has 'memory_mib', but key 'memory' is missing"},
                            {"gap: 0s\npower:", "memory: {total_mib: 9}\nmemory:", ":44: key 'memory' is given twice"},
                        });
  const std::string chip = absl::StrReplaceAll(kChip, {{"gap: 0s", "memory: {total_mib: 9, reserved_mib: 5}"}});
  ExpectMistakes(chip.c_str(), {{"slice: 1,", "slice: 1, memory_mib: 5,",
                                 ":43: total_mib is 9, but the reserve and the contexts need 10"}});
}

TEST(ChipFileTest, AMistakeBesideAWaveformHasItsLine) {
  const std::string either = "a chip has either units and workloads or a waveform";
  ExpectMistakes(kWaveformChip,
                 {
                     {"slice: 0", "slice: 1", ":7: context 'train' is on slice 1, but there are 1 (from 0)"},
                     {"slice: 0", "seed: 0", ":8: a context of a waveform has no 'seed'"},
                     {"slice: 0", "lifetime: 1s", ":8: a context of a waveform has no 'lifetime'"},
                     {"slice: 0", "restart: true", ":8: a context of a waveform has no 'restart'"},
                     {"trace: t, ", "", ":2: key 'trace' is missing"},
                     {"vms:", "units: [{name: sm, events: [a]}]\nvms:", ":3: " + either},
                     {"vms:", "device_units: [{name: p, events: [a]}]\nvms:", ":3: " + either},
                     {"vms:", "program: {hex: a}\nvms:", ":3: a chip has either a waveform or a program"},
                     {"vms:", "host: {exit_every: 1ms, exit_time: 50us, phases: [{kind: copy, time: 1ms}]}\nvms:",
                      ":3: a host needs units: its workload drives their wires"},
                     {"vms:", "device_workload: {phases: [{kind: copy, time: 1s}]}\nvms:", ":3: " + either},
                     {"vms:", "ccus: [{name: a, threshold: 1}]\nvms:", ":3: no unit is on collection unit 'a'"},
                 });
}

TEST(ChipFileTest, ReadsProgramsAndMakesUnitsOfTheirMachines) {
  const auto file = LoadText(kProgramChip);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->programs.size(), 2u);
  const ProgramFileSpec& reader = file->programs[0];
  EXPECT_EQ(reader.hex, testing::TempDir() + "reader.hex");
  EXPECT_FALSE(reader.is_user);
  EXPECT_EQ(reader.argument, 7u);
  const riscv::MachineShape shape{.cores = 2,
                                  .l1i = {.bytes = 4096, .ways = 2},
                                  .l1d = {.bytes = 16384, .ways = 8},
                                  .l2 = {.bytes = 65536, .ways = 8},
                                  .l2_slices = 4};
  EXPECT_EQ(reader.shape, shape);
  EXPECT_TRUE(file->programs[1].is_user);
  EXPECT_EQ(file->programs[1].shape, riscv::MachineShape{});
  ASSERT_EQ(file->units.size(), 2u + 4 + 1 + 2) << "cores and slices of the L2, of both machines";
  EXPECT_EQ(file->units[1].name, "core1");
  EXPECT_EQ(file->units[1].events[5].name, "core1_l1d_readmiss");
  EXPECT_EQ(file->units[1].ulc.period, 100u);
  EXPECT_EQ(file->units[1].slices, (std::vector<uint8_t>{0}));
  EXPECT_EQ(file->units[5].name, "l2slice3");
  EXPECT_EQ(file->units[6].slices, (std::vector<uint8_t>{1}));
  EXPECT_EQ(file->vms[0].contexts[0].lifetime, absl::Seconds(1));
}

TEST(ChipFileTest, OneProgramIsThatOfEverySlice) {
  const auto file =
      LoadText("device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\nslices: 3\nprogram: {hex: /a/b.hex, cores: 8}\n");
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->programs.size(), 3u);
  EXPECT_EQ(file->programs[2].hex, "/a/b.hex");
  EXPECT_EQ(file->programs[2].shape.cores, 8u);
}

TEST(ChipFileTest, AMistakeInAProgramHasItsLine) {
  ExpectMistakes(
      kProgramChip,
      {
          {"hex: reader.hex", "words: 1", ":5: unknown key 'words' (did you mean 'cores'?)"},
          {"{hex: other.hex}", "{cores: 1}", ":13: key 'hex' is missing"},
          {"level: machine", "level: supervisor", ":6: level is supervisor, must be user or machine"},
          {"argument: 7", "argument: -7", ":7: argument is -7, must be a whole number from 0 to 18446744073709551615"},
          {"cores: 2", "cores: 9", ":8: cores is 9, must be a whole number from 1 to 8"},
          {"cores: 2", "cores: 0", ":8: cores is 0, must be a whole number from 1 to 8"},
          {"bytes: 4096", "bytes: 4095", ":9: l1i.bytes must be 128 times a power of two, at most 67108864"},
          {"bytes: 4096", "kib: 4", ":9: unknown key 'kib'"},
          {"l1d: {ways: 8}", "l1d: {ways: 33}", ":10: l1d.ways must be 1 to 32"},
          {"bytes: 65536", "bytes: 134217728", ":11: l2.bytes must be 2048 times a power of two, at most 67108864"},
          {"l2_slices: 4", "l2_slices: 3", ":12: l2_slices must be a power of two, 1 to 16"},
          {"l2_slices: 4", "l2_slices: 17", ":12: l2_slices is 17, must be a whole number from 1 to 16"},
          {"  - {hex: other.hex}\n", "", ":5: program lists 1 programs, must be one, or one for each of 2 slices"},
          {"slice: 1", "slice: 1, seed: 1", ":17: a context of a program has no 'seed'"},
          {"slice: 1", "slice: 1, phases: [{kind: gemm, time: 1ms}]", ":17: a context of a program has no 'phases'"},
          {"vms:", "units: [{name: sm, events: [a]}]\nvms:", ":14: a chip has either units and workloads or a program"},
          {"vms:", "host: {exit_every: 1ms, exit_time: 50us, phases: [{kind: copy, time: 1ms}]}\nvms:",
           ":14: a chip has either a host or a program, which runs on in an exit"},
          {"slice3_l2_read", "slice4_l2_read",
           ":18: power: unknown event 'slice4_l2_read' (did you mean 'slice0_l2_read'?)"},
      });
}

TEST(ChipFileTest, AChipCountsSomething) {
  EXPECT_EQ(LoadText("device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n").status().message(),
            ChipPath() + ":1: key 'units', 'waveform' or 'program' is missing");
}

// A chip with these units.
std::string ChipOf(const std::string& units, int slices = 1) {
  return absl::StrCat("device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\nslices: ", slices, "\nunits:\n", units);
}

std::string Events(int from, int count) {
  std::string events;
  for (int i = 0; i < count; ++i) absl::StrAppend(&events, i == 0 ? "" : ", ", "e", from + i);
  return events;
}

TEST(ChipFileTest, MoreThan45CountersAreRefusedWithTheirUnit) {
  EXPECT_TRUE(LoadText(ChipOf("  - {name: a, events: [" + Events(0, 45) + "]}\n")).ok());
  const std::string message =
      ":4: unit 'a': number of counters is 46, must be from 1 to 45; with 'rotation' its events take turns, with "
      "'selections' each VM has some of them";
  EXPECT_EQ(LoadText(ChipOf("  - {name: a, events: [" + Events(0, 46) + "]}\n")).status().message(),
            ChipPath() + message);
  // 44 events of one wire, and a number of six digits, five of which share a counter.
  EXPECT_EQ(LoadText(ChipOf("  - {name: a, events: [" + Events(0, 44) + ", {name: n, bits: 6, count: prescaled}]}\n"))
                .status()
                .message(),
            ChipPath() + message);
  EXPECT_TRUE(
      LoadText(ChipOf("  - {name: a, events: [" + Events(0, 44) + ", {name: n, bits: 5, count: prescaled}]}\n")).ok());
}

// A unit with sources for six counters, of which it has four, and a unit that has a counter for each.
std::string WithSelections(const std::string& selections, const std::string& counting = "{}",
                           const std::string& counters = "counters: 4, ") {
  return ChipOf("  - {name: sm, count: 2, " + counters +
                "events: [tlb_hits, tlb_misses, {name: bytes, bits: 2}, tensor_cycles, fp64_cycles], "
                "masked: [fp64_cycles]}\n"
                "  - {name: l2, events: [l2_reads]}\n"
                "gate_groups:\n"
                "  - {name: tlb, events: [tlb_hits, tlb_misses]}\n"
                "  - {name: tensor, events: [bytes, tensor_cycles]}\n" +
                selections +
                "\nvms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: [], counting: " + counting +
                "}]\n");
}

constexpr char kSelections[] =
    "selections: [{name: tlb, events: [tlb_hits, tlb_misses]}, {name: tensor, events: [tensor_cycles, bytes]}]";

TEST(ChipFileTest, ReadsSelections) {
  const auto file = LoadText(WithSelections(kSelections, "{selection: tensor}"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->units[0].ulc.counters, 4u);
  EXPECT_EQ(file->units[1].ulc.counters, 45u);
  EXPECT_EQ(file->vms[0].counting.selection, 1);
  // Events in the order of the units.
  EXPECT_EQ(file->pipeline.selections, (std::vector<mailbox::EventSet>{{0b00011}, {0b01100}}));
  const auto first = LoadText(WithSelections(kSelections));
  EXPECT_EQ(first->vms[0].counting.selection, 0);
}

TEST(ChipFileTest, AMistakeInSelectionsIsNamed) {
  const auto message = [](const std::string& selections, const std::string& counting = "{}",
                          const std::string& counters = "counters: 4, ") {
    return std::string(LoadText(WithSelections(selections, counting, counters)).status().message());
  };
  const auto of = [&](const std::string& events) {
    return message("selections: [{name: a, events: [" + events + "]}]");
  };
  EXPECT_EQ(message(""), ChipPath() +
                             ":4: unit 'sm': number of counters is 6, must be from 1 to 4; with 'rotation' its "
                             "events take turns, with 'selections' each VM has some of them");
  EXPECT_EQ(of(""), "") << "nothing is a choice, too";
  EXPECT_THAT(of("tlb_hit, tlb_misses"), testing::HasSubstr("no unit of a slice has an event 'tlb_hit'"));
  EXPECT_THAT(of("tlb_hits, tlb_hits"), testing::HasSubstr("event 'tlb_hits' is listed twice"));
  EXPECT_THAT(of("l2_reads"), testing::HasSubstr(":9: selection 'a': event 'l2_reads' is not selectable"));
  EXPECT_THAT(of("fp64_cycles"), testing::HasSubstr("event 'fp64_cycles' is not selectable")) << "masked";
  EXPECT_THAT(of("tlb_hits"), testing::HasSubstr("event 'tlb_hits' is selected and event 'tlb_misses' is not"));
  EXPECT_THAT(of("tlb_hits, tlb_misses, bytes, tensor_cycles"),
              testing::HasSubstr("the events of unit sm.0 need 5 counters, it has 4"));
  EXPECT_THAT(message(kSelections, "{selection: tenso}"),
              testing::HasSubstr("no selection 'tenso' (did you mean 'tensor'?)"));
  EXPECT_THAT(message("selections: [{name: a, events: []}, {name: a, events: []}]"),
              testing::HasSubstr("selection 'a' is listed twice"));
  std::string many;
  for (int i = 0; i < 17; ++i) absl::StrAppend(&many, "{name: s", i, ", events: []}, ");
  EXPECT_THAT(message("selections: [" + many + "]"), testing::HasSubstr("more than 16 selections"));
  EXPECT_THAT(message(kSelections, "{}", ""),
              testing::HasSubstr(":9: selections need a unit with more events than counters"));
  EXPECT_THAT(message(kSelections, "{}", "counters: 46, "), testing::HasSubstr("counters is 46"));
  EXPECT_THAT(message(absl::StrCat(kSelections, "\nextension: 1")), testing::HasSubstr("selections need extension 2"));
}

TEST(ChipFileTest, ASelectableEventNeedsAGroupOfItsKind) {
  const auto message = [](const std::string& from, const std::string& to) {
    const std::string chip = absl::StrReplaceAll(WithSelections(kSelections), {{from, to}});
    return std::string(LoadText(chip).status().message());
  };
  EXPECT_EQ(message(", events: [bytes, tensor_cycles]", ", events: [bytes]"),
            ChipPath() +
                ":4: event 'tensor_cycles' is selectable and has no gate group, whose running cycles would tell a "
                "count of 0 from none");
  EXPECT_THAT(message(", events: [bytes, tensor_cycles]", ", events: [l2_reads, bytes, tensor_cycles]"),
              testing::HasSubstr(":8: group 'tensor' has event 'bytes', which is selectable, and event 'l2_reads', "
                                 "which is always counted"));
}

TEST(ChipFileTest, TheSerialiserMustFinishWithinAPeriod) {
  const std::string events = Events(0, 45);
  EXPECT_TRUE(LoadText(ChipOf("  - {name: a, period: 407, events: [" + events + "]}\n")).ok());
  EXPECT_EQ(LoadText(ChipOf("  - {name: b, events: [x]}\n  - {name: sm, period: 100, events: [" + events + "]}\n"))
                .status()
                .message(),
            ChipPath() +
                ":5: unit 'sm': the serialiser cannot finish in a period: (2 + 45 counters x 9 bits) / 1 lanes = "
                "407 cycles > period 100");
}

TEST(ChipFileTest, MoreThan4096EventsAreRefusedAtTheFirstTooMany) {
  std::string units;
  for (int unit = 0; unit < 4100 / 41; ++unit) {
    absl::StrAppend(&units, "  - {name: u", unit, ", events: [", Events(unit * 41, 41), "]}\n");
  }
  // 99 units of 41 events are 4059 events, so the 38th event of the hundredth unit exceeds the limit.
  EXPECT_EQ(LoadText(ChipOf(units)).status().message(), ChipPath() + ":103: more than 4096 events");
}

TEST(ChipFileTest, MoreThan65535CollectionUnitsAreRefused) {
  std::string units;
  for (int unit = 0; unit < 13; ++unit) absl::StrAppend(&units, "  - {name: u", unit, ", count: 4096, events: [e]}\n");
  const auto file = LoadText(ChipOf(units, 64));
  // 59 slices of 1110 packed collection units are 65490; the remaining 45 are too few for the 86 of the next unit.
  EXPECT_EQ(file.status().message(), ChipPath() + ":4: more than 65535 collection units");
}

}  // namespace
}  // namespace sideband::mcu
