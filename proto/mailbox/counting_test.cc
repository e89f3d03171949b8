// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/counting.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <string>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

CountingConfig ExampleConfig() {
  CountingConfig config{.revision = 3,
                        .groups = {{{.identifier = 7}, {.in_guest = false, .in_host = true}}, {{}, {}}},
                        .hosts = {{}, {.match = {.enable = true, .ids = {1, 2, 3, 4}}}},
                        .selections = {{0b101, 0}, {0, ~uint64_t{0}}}};
  config.vms[1] = {.guest_load = true, .match = {.enable = true, .ids = {7}}, .pinned = 0b10, .useren = true};
  config.vms[2] = {.is_private = true, .selection = 15};
  config.contexts[{1, 0}] = {.value = {.vector_enable = true, .vector = 1}, .load = true};
  return config;
}

std::string Refusal(const ConfigAddress& address, uint64_t word) {
  CountingConfig config = ExampleConfig();
  const std::string message(WriteWord(address, word, config).message());
  EXPECT_EQ(config, ExampleConfig()) << "a refused write changes nothing";
  return message;
}

TEST(CountingTest, ARefusalNamesWhatIsNotThere) {
  EXPECT_EQ(Refusal({.kind = ConfigKind::kGroup, .slice = 2}, 0), "no such slice");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kGroup, .index = 2}, 0), "no such gate group");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kGroup, .slice = kAnySlice, .index = 2}, 0), "no such gate group");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kHost, .slice = 2}, 0), "no such slice");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kVm, .vm = 3}, 0), "no such VM");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kContext, .vm = 1, .context = 1}, 0), "no such context");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kSelection, .index = 2 * kSelectionStride}, 0), "no such selection");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kSelection, .index = 2}, 0), "no such word");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kVm, .index = 8, .vm = 1}, 0), "no such word");
  EXPECT_EQ(Refusal({.kind = static_cast<ConfigKind>(5)}, 0), "no such kind");
}

TEST(CountingTest, AReservedBitIsRefused) {
  EXPECT_EQ(Refusal({.kind = ConfigKind::kGroup}, uint64_t{1} << 19), "a reserved bit is set");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kVm, .index = 1, .vm = 1}, 4), "a reserved bit is set");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kVm, .index = 4, .vm = 1}, uint64_t{1} << 12), "a reserved bit is set");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kContext, .index = 1, .vm = 1}, 16), "a reserved bit is set");
  EXPECT_EQ(Refusal({.kind = ConfigKind::kHost, .index = 1}, 8), "a reserved bit is set");
}

// README.md, "CONFIG".
TEST(CountingTest, WordsAreThoseOfTheDocument) {
  CountingConfig config;
  config.groups = {{{}}};
  config.hosts = {{}};
  config.vms[1];
  config.contexts[{1, 0}];
  const auto write = [&](const ConfigAddress& address, uint64_t word) {
    EXPECT_EQ(WriteWord(address, word, config), absl::OkStatus());
  };
  write({.kind = ConfigKind::kGroup}, 0x70000 | 0x1234);
  EXPECT_EQ(config.groups[0][0], (GateGroup{.identifier = 0x1234, .in_host = true}));
  write({.kind = ConfigKind::kVm, .index = 1, .vm = 1}, 0b10);
  write({.kind = ConfigKind::kVm, .index = 4, .vm = 1}, 0b0101'1010'0100);
  write({.kind = ConfigKind::kVm, .index = 5, .vm = 1}, 0x0004'0003'0002'0001);
  const VmControl& vm = config.vms[1];
  EXPECT_EQ(vm.guest_value, (GateValue{.master = false, .vector_enable = true}));
  EXPECT_TRUE(vm.guest_store && vm.guest_access && vm.is_private && !vm.guest_load && !vm.match.enable && !vm.useren);
  EXPECT_EQ(vm.selection, 5);
  EXPECT_EQ(vm.match.ids, (std::array<uint16_t, 4>{1, 2, 3, 4}));
  write({.kind = ConfigKind::kContext, .index = 1, .vm = 1}, 0b1001);
  EXPECT_EQ(config.contexts.begin()->second, (ContextControl{.store = true}));
  write({.kind = ConfigKind::kHost, .index = 1}, 0b101);
  EXPECT_EQ(config.hosts[0], (HostControl{.match = {.enable = true}}));
}

TEST(CountingTest, AWriteToEverySliceIsOneWrite) {
  CountingConfig config = ExampleConfig();
  ASSERT_EQ(WriteWord({.kind = ConfigKind::kGroup, .slice = kAnySlice, .index = 1}, 0, config), absl::OkStatus());
  for (const auto& groups : config.groups) EXPECT_EQ(groups[1], (GateGroup{.valid = false, .in_guest = false}));
}

TEST(CountingTest, AddressesAreUnpackedAsTheyArePacked) {
  const ConfigAddress address{
      .kind = ConfigKind::kSelection, .slice = kAnySlice, .index = 0xABCD, .vm = 0x1234, .context = 0x5678};
  EXPECT_EQ(PackAddress(address), 0x04FFABCD);
  EXPECT_EQ(PackScope(address), 0x56781234);
  EXPECT_EQ(UnpackAddress(PackAddress(address), PackScope(address)), address);
}

// Changes words of the example at random places.
CountingConfig Changed(const std::vector<uint64_t>& draws) {
  CountingConfig config = ExampleConfig();
  const auto words = WordsOf(config);
  for (const uint64_t draw : draws) {
    const auto at = std::next(words.begin(), static_cast<ptrdiff_t>(draw % words.size()));
    // A word with a reserved bit changes nothing.
    WriteWord(at->first, at->second ^ (uint64_t{1} << draw / words.size() % 64), config).IgnoreError();
  }
  return config;
}

RC_GTEST_PROP(CountingProperty, TheDifferenceMakesOneTheOther,
              (std::vector<uint64_t> first, std::vector<uint64_t> second)) {
  CountingConfig from = Changed(first);
  const CountingConfig to = Changed(second);
  for (const ConfigWrite& write : Difference(from, to)) RC_ASSERT(WriteWord(write.address, write.word, from).ok());
  RC_ASSERT(from == to);
  RC_ASSERT(Difference(from, to).empty());
}

TEST(CountingTest, ADifferenceHasBothWordsOfAValue) {
  CountingConfig to = ExampleConfig();
  to.vms[1].guest_value.vector_enable = true;
  const std::vector<ConfigWrite> writes = {{{.kind = ConfigKind::kVm, .index = 0, .vm = 1}, 0},
                                           {{.kind = ConfigKind::kVm, .index = 1, .vm = 1}, 0b11}};
  EXPECT_EQ(Difference(ExampleConfig(), to), writes);
}

TEST(CountingTest, OfAGuestsWordTheFieldsThatAreChangedAreWritten) {
  const ConfigAddress flags{.kind = ConfigKind::kVm, .index = 4}, vector{.kind = ConfigKind::kVm};
  const ConfigAddress context{.kind = ConfigKind::kContext, .index = 1};
  EXPECT_EQ(Rebase(flags, 0x000, 0x020, 0x301), 0x321u) << "guest access; the guest has set its selection, and loads";
  EXPECT_EQ(Rebase(flags, 0x100, 0x200, 0x501), 0x201u) << "a selection is one field";
  EXPECT_EQ(Rebase(flags, 0x100, 0x100, 0x501), 0x501u) << "nothing";
  EXPECT_EQ(Rebase(vector, 0b00, 0b01, 0b10), 0b01u) << "so is a vector";
  EXPECT_EQ(Rebase(vector, 0b00, 0b00, 0b10), 0b00u) << "for the other word of the value";
  EXPECT_EQ(Rebase(context, 0b0001, 0b0101, 0b1010), 0b1110u) << "load; not the context's value";
  EXPECT_EQ(Rebase(context, 0b0001, 0b0011, 0b1100), 0b1111u) << "its value as a whole";
}

RC_GTEST_PROP(CountingProperty, StreamsRoundTrip, (std::vector<uint64_t> draws)) {
  RC_ASSERT(*DecodeConfigStream(EncodeConfigStream(1, Changed(draws))) == Changed(draws));
}

TEST(ConfigStreamTest, EveryPrefixAndEveryExtraByteIsRefused) {
  const Bytes stream = EncodeConfigStream(1, ExampleConfig());
  const ByteSpan payload = DecodeStream(stream)->payload;
  const StreamHeader header{.kind = StreamKind::kConfig, .boot_id = 1};
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(DecodeConfigStream(EncodeStream(header, payload.first(size))).ok()) << size;
  }
  Bytes longer(payload.begin(), payload.end());
  longer.push_back(0);
  EXPECT_EQ(DecodeConfigStream(EncodeStream(header, longer)).status().message(), "configuration: bytes after the end");
  EXPECT_EQ(DecodeConfigStream(EncodeStream({.kind = StreamKind::kPeek}, payload)).status().message(),
            "configuration: wrong kind of stream");
}

// Byte 4 is the number of slices, 5 that of groups; each slice has 2 words of groups and 3 of its host.
TEST(ConfigStreamTest, RefusesWhatMakesNoSense) {
  const struct {
    size_t byte;
    uint8_t value;
    const char* message;
  } kCases[] = {{4, 65, "too many slices"},
                {5, 65, "too many gate groups"},
                {6 + 7, 1, "a reserved bit is set"},
                {6 + 80 + 1, 0xFF, "too many VMs"},
                {6 + 80 + 2 + 66, 1, "a VM is there twice"}};
  const Bytes stream = EncodeConfigStream(1, ExampleConfig());
  for (const auto& test : kCases) {
    Bytes payload(DecodeStream(stream)->payload.begin(), DecodeStream(stream)->payload.end());
    payload[test.byte] = test.value;
    const absl::Status status = DecodeConfigStream(EncodeStream({.kind = StreamKind::kConfig}, payload)).status();
    EXPECT_EQ(status.message(), std::string("configuration: ") + test.message) << test.byte;
  }
}

TEST(CountingTest, TheChecksumKnowsOrderAndAddress) {
  const ConfigWrite a{{.kind = ConfigKind::kVm, .vm = 1}, 1}, b{{.kind = ConfigKind::kVm, .vm = 2}, 1};
  EXPECT_NE(ConfigCrc({a, b}), ConfigCrc({b, a}));
  EXPECT_NE(ConfigCrc({a}), ConfigCrc({b}));
  EXPECT_EQ(ConfigCrc({a, b}), ConfigCrc({a, b}));
}

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
