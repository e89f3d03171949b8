// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

Uuid SomeUuid(uint8_t last) {
  Uuid uuid;
  uuid.bytes[15] = last;
  return uuid;
}

Catalog ExampleCatalog() {
  return {.device = SomeUuid(1),
          .reference_clock_hz = 1'000'000'000,
          .has_had_confidential_vm = true,
          .events = {{"sm_active_cycles", "cycles", EventScope::kContext, "cycles with work"},
                     {"pcie_tx_cycles", "cycles", EventScope::kDevice, ""},
                     {"l1_stalls", "cycles", EventScope::kContext, "", /*masked=*/true},
                     {"ecc_errors", "events", EventScope::kDevice, "", /*masked=*/true}},
          .slices = {{0, "slice0"}},
          .vms = {{1, SomeUuid(2), "vm1", false, 0, 1}, {2, SomeUuid(3), "vm2", true, kAnySlice, 4}},
          .contexts = {{1, 0, "train", 0, 1}, {2, 0, "train", 0, 2}}};
}

TEST(CatalogTest, RoundTrips) { EXPECT_EQ(*DecodeCatalog(EncodeCatalog(ExampleCatalog())), ExampleCatalog()); }

TEST(CatalogTest, EmptyCatalogRoundTrips) { EXPECT_EQ(*DecodeCatalog(EncodeCatalog(Catalog{})), Catalog{}); }

// The example of stream_format.md.
TEST(CatalogTest, BytesAreThoseOfTheDocument) {
  const Bytes stream = EncodeStream({.kind = StreamKind::kCatalog, .boot_id = 1}, EncodeCatalog(Catalog{}));
  Bytes expected = {0x53, 0x42, 0x4B, 0x31, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0};
  expected.resize(expected.size() + 33);
  expected.insert(expected.end(), {0xB7, 0x78, 0x72, 0xED});
  EXPECT_EQ(stream, expected);
}

TEST(CatalogTest, EveryPrefixAndEveryExtraByteIsRefused) {
  Bytes payload = EncodeCatalog(ExampleCatalog());
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(DecodeCatalog(ByteSpan(payload).first(size)).ok()) << size;
  }
  payload.push_back(0);
  EXPECT_FALSE(DecodeCatalog(payload).ok());
  payload.pop_back();
  payload[24] |= 2;  // an unknown property
  EXPECT_FALSE(DecodeCatalog(payload).ok());
}

// stream_format.md, "Catalogue": bit 0 device, bit 1 masked, the others are ignored.
TEST(CatalogTest, TheScopeByteHasTwoBits) {
  const struct {
    uint8_t byte;
    EventScope scope;
    bool masked;
  } kCases[] = {
      {0x00, EventScope::kContext, false}, {0x01, EventScope::kDevice, false},  {0x02, EventScope::kContext, true},
      {0x03, EventScope::kDevice, true},   {0x04, EventScope::kContext, false}, {0xFF, EventScope::kDevice, true},
  };
  Catalog catalog;
  catalog.events = {{"a", "b"}};
  Bytes payload = EncodeCatalog(catalog);
  constexpr size_t kScopeByte = 25 + 2 + 2 + 2;  // the fixed fields, the list's size, two texts of one character
  for (const auto& test : kCases) {
    payload[kScopeByte] = test.byte;
    const EventInfo event = DecodeCatalog(payload)->events[0];
    EXPECT_EQ(event.scope, test.scope) << int{test.byte};
    EXPECT_EQ(event.masked, test.masked) << int{test.byte};
  }
}

TEST(CatalogTest, RefusesWhatMakesNoSense) {
  const struct {
    const char* why;
    std::function<void(Catalog&)> spoil;
  } kCases[] = {
      {"upper case is no metric name here", [](Catalog& c) { c.events[0].name = "SM"; }},
      {"a newline would break the exposition", [](Catalog& c) { c.events[0].name = "a\nb"; }},
      {"empty event name", [](Catalog& c) { c.events[0].name = ""; }},
      {"digit first", [](Catalog& c) { c.events[0].name = "0a"; }},
      {"event twice", [](Catalog& c) { c.events[1].name = c.events[0].name; }},
      {"control character in a description", [](Catalog& c) { c.events[0].description = "\x01"; }},
      {"VM 0 is the hypervisor", [](Catalog& c) { c.vms[0].id = kHypervisorVm; }},
      {"VM without UUID", [](Catalog& c) { c.vms[0].uuid = Uuid{}; }},
      {"VM without name", [](Catalog& c) { c.vms[0].name = ""; }},
      {"VM id twice", [](Catalog& c) { c.vms[1].id = 1; }},
      {"VM UUID twice", [](Catalog& c) { c.vms[1].uuid = c.vms[0].uuid; }},
      {"VM name twice", [](Catalog& c) { c.vms[1].name = "vm1"; }},
      {"context of nobody", [](Catalog& c) { c.contexts[0].vm = 9; }},
      {"context twice", [](Catalog& c) { c.contexts[1] = c.contexts[0]; }},
      {"context name twice in a VM", [](Catalog& c) { c.contexts[1] = c.contexts[0], c.contexts[1].id = 5; }},
      {"reserved context id", [](Catalog& c) { c.contexts[0].id = kNoContext; }},
      {"slice without name", [](Catalog& c) { c.slices[0].name = ""; }},
      {"slice listed twice", [](Catalog& c) { c.slices.push_back(c.slices[0]); }},
      {"slice that stands for any", [](Catalog& c) { c.slices[0].id = kAnySlice; }},
  };
  for (const auto& test : kCases) {
    Catalog catalog = ExampleCatalog();
    test.spoil(catalog);
    EXPECT_EQ(DecodeCatalog(EncodeCatalog(catalog)).status().code(), absl::StatusCode::kInvalidArgument) << test.why;
  }
}

EventDetails SomeDetails(uint64_t capacity) {
  return {.slices = {{capacity, 2 * capacity}}, .clock_domain = 3, .counting = Counting::kRotated, .gate_group = 7};
}

Catalog DetailedExample() {
  Catalog catalog = ExampleCatalog();
  catalog.slices.push_back({1, "slice1"});
  for (EventInfo& event : catalog.events) event.details = SomeDetails(5);
  catalog.events[2].details.slices.push_back({0, kRateQ32Max});
  for (uint16_t group = 0; group < 8; ++group) catalog.gate_groups.push_back({std::string(1, 'a' + group), 1});
  catalog.selections = {{"tlb"}, {"tensor"}};
  catalog.events[0].details.selectable = true;
  return catalog;
}

TEST(CatalogSectionsTest, RoundTrips) {
  EXPECT_EQ(*DecodeCatalogSections(EncodeCatalogSections(DetailedExample())), DetailedExample());
  EXPECT_EQ(*DecodeCatalogSections(EncodeCatalogSections(Catalog{})), Catalog{});
}

// stream_format.md, "Sections".
TEST(CatalogSectionsTest, GateGroupsAreThoseOfTheDocument) {
  Catalog catalog;
  catalog.events = {{.name = "a"}};
  const size_t before = EncodeCatalogSections(catalog).size();
  catalog.gate_groups = {{"g", 0}};
  const Bytes payload = EncodeCatalogSections(catalog);
  EXPECT_EQ(Bytes(payload.begin() + static_cast<ptrdiff_t>(before), payload.end()),
            (Bytes{6, 0, 1, 0, 6, 0, 0, 0, 1, 1, 'g', 0, 0, 0}));
}

// stream_format.md, "Sections".
TEST(CatalogSectionsTest, SelectionsAreThoseOfTheDocument) {
  Catalog catalog;
  catalog.events = {{.name = "a"}, {.name = "b", .details = {.gate_group = 0, .selectable = true}}};
  const size_t before = EncodeCatalogSections(catalog).size();
  catalog.gate_groups = {{"g", 0}};
  catalog.selections = {{"s"}};
  const Bytes payload = EncodeCatalogSections(catalog);
  EXPECT_EQ(Bytes(payload.begin() + static_cast<ptrdiff_t>(before), payload.end()),
            (Bytes{6, 0, 1, 0, 16, 0, 0, 0, 1, 1, 'g', 0, 0, 1, 1, 's', 2, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(DecodeCatalogSections(payload)->selections, catalog.selections);
}

TEST(CatalogSectionsTest, SelectableEventsBeyondTheFirstWordRoundTrip) {
  Catalog catalog;
  for (int i = 0; i < 130; ++i) catalog.events.push_back({.name = "e" + std::to_string(i)});
  for (const size_t event : {0, 63, 64, 129}) catalog.events[event].details = {.gate_group = 0, .selectable = true};
  catalog.gate_groups = {{"g", 1}};
  catalog.selections = {{"s"}};
  Bytes payload = EncodeCatalogSections(catalog);
  EXPECT_EQ(*DecodeCatalogSections(payload), catalog);
  payload.back() = 0x80;  // event 191
  EXPECT_EQ(DecodeCatalogSections(payload).status().message(), "catalogue: a selectable event does not exist");
}

Catalog RotatingExample() {
  Catalog catalog = DetailedExample();
  catalog.relations = {{.kind = Relation::Kind::kCycles, .members = {0, 1}, .whole = 0, .times = 2},
                       {.kind = Relation::Kind::kSum, .members = {0}, .whole = 1},
                       {.kind = Relation::Kind::kAtMost, .members = {1}, .whole = 0}};
  RotationPlan own{.number = 0, .sets = {{1}, {2}}, .derived = {2}, .settings = {}};
  RotationPlan other{.number = 7, .sets = {{3}}, .derived = {}, .settings = {.profile = RotationProfile::kTwoSet}};
  other.settings.weights = {{1, 3000}};
  catalog.plans = {own, other};
  return catalog;
}

TEST(CatalogSectionsTest, RelationsAndPlansComeBack) {
  EXPECT_EQ(*DecodeCatalogSections(EncodeCatalogSections(RotatingExample())), RotatingExample());
  Bytes payload = EncodeCatalogSections(RotatingExample());
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(DecodeCatalogSections(ByteSpan(payload).first(size)).ok()) << size;
  }
}

TEST(CatalogSectionsTest, RefusesRotationThatMakesNoSense) {
  const struct {
    const char* what;
    std::function<void(Catalog&)> spoil;
  } kCases[] = {
      {"a relation of an unknown kind", [](Catalog& c) { c.relations[0].kind = Relation::Kind{3}; }},
      {"an impossible sum of cycles", [](Catalog& c) { c.relations[0].times = 0; }},
      {"a relation has no members, or too many", [](Catalog& c) { c.relations[0].members.clear(); }},
      {"events do not ascend",
       [](Catalog& c) {
         c.relations[0].members = {1, 1};
       }},
      {"an event does not exist", [](Catalog& c) { c.relations[1].members = {999}; }},
      {"an event does not exist", [](Catalog& c) { c.relations[1].whole = 999; }},
      {"a bound has several events",
       [](Catalog& c) {
         c.relations[2].members = {0, 1};
       }},
      {"too many relations", [](Catalog& c) { c.relations.resize(kRelationsMax + 1, c.relations[0]); }},
      {"plans do not ascend", [](Catalog& c) { c.plans[1].number = 0; }},
      {"no counter sets, or too many", [](Catalog& c) { c.plans[1].sets.clear(); }},
      {"too many counter sets", [](Catalog& c) { c.plans[1].sets.resize(kRotationSetsMax - 1); }},
      {"an event does not exist", [](Catalog& c) { c.plans[0].sets[1] = {uint64_t{1} << 60}; }},
      {"a set of too many events",
       [](Catalog& c) {
         c.plans[0].derived = {0, 0};
       }},
      {"an unknown profile", [](Catalog& c) { c.plans[0].settings.profile = RotationProfile{2}; }},
      {"an event does not exist", [](Catalog& c) { c.plans[0].settings.weights[999] = 1; }},
      {"too many plans",
       [](Catalog& c) {
         while (c.plans.size() <= kPlansMax) c.plans.push_back(c.plans.back()), ++c.plans.back().number;
       }},
  };
  for (const auto& test : kCases) {
    Catalog catalog = RotatingExample();
    test.spoil(catalog);
    const absl::Status status = DecodeCatalogSections(EncodeCatalogSections(catalog)).status();
    EXPECT_EQ(status, absl::InvalidArgumentError(std::string("rotation: ") + test.what));
  }
}

// stream_format.md, "Sections".
TEST(CatalogSectionsTest, BytesAreThoseOfTheDocument) {
  Catalog catalog;
  catalog.events = {{.name = "a", .unit = "b", .details = {.slices = {{5, 6}}}}};
  Bytes expected(25);
  const uint8_t sections[] = {1, 0, 1,    0, 8,  0, 0, 0, 1, 0, 1, 'a', 1, 'b', 0, 0,  // events
                              2, 0, 0,    0, 20, 0, 0, 0, 1, 5, 0, 0,   0, 0,   0, 0,
                              0, 6, 0,    0, 0,  0, 0, 0, 0,                            // details
                              0, 0, 0xFF,                                               //
                              3, 0, 1,    0, 8,  0, 0, 0, 0, 0, 0, 0,   0, 0,   0, 0};  // scopes
  expected.insert(expected.end(), std::begin(sections), std::end(sections));
  EXPECT_EQ(EncodeCatalogSections(catalog), expected);
}

TEST(CatalogSectionsTest, EveryPrefixAndEveryExtraByteIsRefused) {
  Bytes payload = EncodeCatalogSections(DetailedExample());
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(DecodeCatalogSections(ByteSpan(payload).first(size)).ok()) << size;
  }
  payload.push_back(0);
  EXPECT_FALSE(DecodeCatalogSections(payload).ok());
}

TEST(CatalogSectionsTest, AnUnknownCapacityStaysUnknown) {
  const Catalog catalog = *DecodeCatalogSections(EncodeCatalogSections(ExampleCatalog()));
  for (const EventInfo& event : catalog.events) EXPECT_TRUE(event.details.slices.empty());
}

TEST(CatalogSectionsTest, WithoutDetailsTheCapacitiesAreUnknown) {
  Catalog catalog = ExampleCatalog();
  for (EventInfo& event : catalog.events) event.details = SomeDetails(1);
  const Bytes payload = EncodeCatalogSections(catalog);
  ByteReader in(payload);
  ByteWriter out;
  out.Raw(in.Raw(25));
  while (in.remaining() > 0) {
    const uint16_t type = in.U16(), flags = in.U16();
    const uint32_t size = in.U32();
    const ByteSpan section = in.Raw(size);
    if (type == 2) continue;
    out.U16(type), out.U16(flags), out.U32(size), out.Raw(section);
  }
  EXPECT_EQ(*DecodeCatalogSections(out.written()), ExampleCatalog());
}

Catalog ClockedExample() {
  Catalog catalog = ExampleCatalog();
  for (EventInfo& event : catalog.events) event.details.clock_domain = 1;
  ClockDomain core{.name = "core", .nominal_hz = 1'410'000'000, .period_min = 46'000, .period_max = 47'000};
  core.bar_low = -65'536, core.bar_high = 300'000, core.wander = 20, core.slice = 0, core.announces = true;
  ClockDomain gated{.name = "core", .nominal_hz = 1, .period_min = ~uint64_t{0}, .bar_low = -1, .bar_high = -1};
  gated.wander = ~uint32_t{0};
  catalog.clock_domains = {core, gated};
  return catalog;
}

TEST(CatalogSectionsTest, ClockDomainsComeBack) {
  EXPECT_EQ(*DecodeCatalogSections(EncodeCatalogSections(ClockedExample())), ClockedExample());
  EXPECT_FALSE(ClockedExample().clock_domains[0].MayStop());
  EXPECT_TRUE(ClockedExample().clock_domains[1].MayStop());
  Bytes payload = EncodeCatalogSections(ClockedExample());
  for (size_t size = 0; size < payload.size(); ++size) {
    const auto read = DecodeCatalogSections(ByteSpan(payload).first(size));
    // The section is not required, so a catalogue may end before it.
    EXPECT_TRUE(!read.ok() || read->clock_domains.empty()) << size;
  }
}

// stream_format.md, "Clocks".
TEST(CatalogSectionsTest, ClockDomainsAreThoseOfTheDocument) {
  Catalog catalog;
  const size_t before = EncodeCatalogSections(catalog).size();
  catalog.clock_domains = {{.name = "c", .nominal_hz = 2, .period_min = 3, .bar_low = -1, .bar_high = 4, .wander = 5}};
  catalog.clock_domains[0].announces = true;
  const Bytes payload = EncodeCatalogSections(catalog);
  EXPECT_EQ(Bytes(payload.begin() + static_cast<ptrdiff_t>(before), payload.end()),
            (Bytes{4,    0,    0,    0,    48,   0,    0,    0,    1, 1, 'c', 2, 0, 0, 0, 0, 0, 0, 0, 3, 0,
                   0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0,   0, 0, 0,  //
                   0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 4, 0, 0,   0, 0, 0, 0, 0, 5, 0, 0, 0, 3}));
}

TEST(CatalogSectionsTest, RefusesClockDomainsThatMakeNoSense) {
  const struct {
    const char* what;
    std::function<void(Catalog&)> spoil;
  } kCases[] = {
      {"no domains, or too many", [](Catalog& c) { c.clock_domains.resize(kClockDomainsMax + 1, c.clock_domains[0]); }},
      {"a domain has no identity", [](Catalog& c) { c.clock_domains[0].name = ""; }},
      {"a domain has no identity", [](Catalog& c) { c.clock_domains[0].name = "a\nb"; }},
      {"a domain has no identity", [](Catalog& c) { c.clock_domains[1].slice = 0; }},
      {"a domain is of an unknown slice", [](Catalog& c) { c.clock_domains[0].slice = 9; }},
      {"a domain has no frequency", [](Catalog& c) { c.clock_domains[0].nominal_hz = 0; }},
      {"a domain has no shortest period", [](Catalog& c) { c.clock_domains[1].period_min = 0; }},
      {"a domain's longest period is shorter than its shortest",
       [](Catalog& c) { c.clock_domains[0].period_max = c.clock_domains[0].period_min - 1; }},
      {"a domain's bar ends before it begins", [](Catalog& c) { c.clock_domains[1].bar_low = 0; }},
      {"an event is of an unknown domain", [](Catalog& c) { c.events[0].details.clock_domain = 3; }},
  };
  for (const auto& test : kCases) {
    Catalog catalog = ClockedExample();
    test.spoil(catalog);
    const absl::Status status = DecodeCatalogSections(EncodeCatalogSections(catalog)).status();
    EXPECT_EQ(status, absl::DataLossError(std::string("clocks: ") + test.what));
  }
}

TEST(CatalogSectionsTest, ClockDomainsOfOtherSizesAreRefused) {
  const struct {
    const char* what;
    Bytes section;
  } kCases[] = {{"no domains, or too many", {}},
                {"no domains, or too many", {0}},
                {"truncated domains", {1, 1, 'c'}},
                {"a domain has an unknown flag", Bytes(1 + 1 + 5 * 8 + 4 + 1, 4)}};
  for (const auto& test : kCases) {
    ByteWriter out;
    out.Raw(EncodeCatalogSections(Catalog{}));
    Bytes section = test.section;
    if (section.size() > 3) section[0] = 1, section[1] = 0;
    out.U16(4), out.U16(0), out.U32(static_cast<uint32_t>(section.size())), out.Raw(section);
    EXPECT_EQ(DecodeCatalogSections(out.written()).status(), absl::DataLossError(std::string("clocks: ") + test.what));
  }
  Catalog catalog = ClockedExample();
  Bytes payload = EncodeCatalogSections(catalog);
  payload.push_back(0);
  const size_t length = payload.size() - 1 - EncodeCatalogSections(ExampleCatalog()).size() - 8;
  payload[payload.size() - 1 - length - 4] = static_cast<uint8_t>(length + 1);
  EXPECT_EQ(DecodeCatalogSections(payload).status().message(), "clocks: bytes after the domains");
}

TEST(CatalogSectionsTest, RefusesDetailsThatMakeNoSense) {
  const struct {
    const char* why;
    std::function<void(Catalog&)> spoil;
  } kCases[] = {
      {"capacities of two of three slices",
       [](Catalog& c) {
         c.slices.push_back({9, "slice9"});
       }},
      {"a device's capacity by slice", [](Catalog& c) { c.events[1].details.slices.resize(2); }},
      {"a capacity beyond reason", [](Catalog& c) { c.events[0].details.slices[0].capacity_q32 = kRateQ32Max + 1; }},
      {"a gain beyond reason", [](Catalog& c) { c.events[0].details.slices[0].gain_q32 = ~uint64_t{0}; }},
      {"an unknown way of counting", [](Catalog& c) { c.events[0].details.counting = Counting{3}; }},
      {"the checks of version 1", [](Catalog& c) { c.contexts[0].vm = 9; }},
      {"a host block of no slice", [](Catalog& c) { c.host_blocks = {{.slice = 63, .generation = 1}}; }},
      {"two host blocks of a slice",
       [](Catalog& c) {
         c.host_blocks.assign(2, {c.slices[0].id, 1});
       }},
      {"an event of a group that is not there", [](Catalog& c) { c.gate_groups.pop_back(); }},
      {"a group without a name", [](Catalog& c) { c.gate_groups[0].name = ""; }},
      {"two groups of one name", [](Catalog& c) { c.gate_groups[0].name = c.gate_groups[1].name; }},
      {"running cycles that are not there", [](Catalog& c) { c.gate_groups[0].running_event = 4; }},
      {"more groups than there may be",
       [](Catalog& c) {
         for (int i = 0; i < 57; ++i) c.gate_groups.push_back({"group" + std::to_string(i), 0});
       }},
      {"a selection without a name", [](Catalog& c) { c.selections[0].name = ""; }},
      {"a selection's name that is not printable", [](Catalog& c) { c.selections[0].name = "a\nb"; }},
      {"two selections of one name", [](Catalog& c) { c.selections[0].name = c.selections[1].name; }},
      {"a selectable event without a gate group", [](Catalog& c) { c.events[0].details.gate_group = kNoGateGroup; }},
      {"a selectable event that is masked", [](Catalog& c) { c.events[0].masked = true; }},
      {"a selectable event of the device", [](Catalog& c) { c.events[0].scope = EventScope::kDevice; }},
      {"more selections than there may be",
       [](Catalog& c) {
         for (int i = 0; i < 15; ++i) c.selections.push_back({"selection" + std::to_string(i)});
       }},
  };
  for (const auto& test : kCases) {
    Catalog catalog = DetailedExample();
    test.spoil(catalog);
    const absl::Status status = DecodeCatalogSections(EncodeCatalogSections(catalog)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << test.why;
  }
}

TEST(CatalogSectionsTest, AVmOfAnUnknownKindIsRefused) {
  Bytes payload = EncodeCatalogSections(DetailedExample());
  const std::string name = "vm1";
  const auto at = std::search(payload.begin(), payload.end(), name.begin(), name.end()) + 3;
  ASSERT_EQ(*at, 0) << "not confidential";
  *at = 4;
  EXPECT_EQ(DecodeCatalogSections(payload).status().message(), "catalogue: an entry has an unknown property");
}

TEST(CatalogSectionsTest, HostBlocksFollowTheContexts) {
  Catalog catalog = ExampleCatalog();
  const size_t before = EncodeCatalogSections(catalog).size();
  catalog.host_blocks = {{.slice = catalog.slices[0].id, .generation = 7}};
  const Bytes payload = EncodeCatalogSections(catalog);
  EXPECT_EQ(payload.size(), before + 5);
  EXPECT_EQ(Bytes(payload.end() - 7, payload.end()), (Bytes{1, 0, catalog.slices[0].id, 7, 0, 0, 0}));
  const auto read = DecodeCatalogSections(payload);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, catalog);
}

TEST(CatalogSectionsTest, PrivateVmsAreOfVersionTwo) {
  Catalog catalog = ExampleCatalog();
  catalog.confidential_vms_were_private = true;
  for (VmInfo& vm : catalog.vms) vm.is_private = true;
  EXPECT_EQ(*DecodeCatalogSections(EncodeCatalogSections(catalog)), catalog);
  EXPECT_EQ(EncodeCatalog(catalog), EncodeCatalog(ExampleCatalog()));
  const Bytes with = EncodeCatalogSections(catalog), without = EncodeCatalogSections(ExampleCatalog());
  std::vector<int> differences;
  for (size_t i = 0; i < with.size(); ++i) {
    if (with[i] != without[i]) differences.push_back(with[i] - without[i]);
  }
  EXPECT_EQ(differences, std::vector<int>(3, 2)) << "bit 1 of the properties and of each VM";
}

TEST(CatalogSectionsTest, WhatWasPrivateWasConfidential) {
  Bytes payload = EncodeCatalogSections(ExampleCatalog());
  payload[24] = 2;
  EXPECT_EQ(DecodeCatalogSections(payload).status().message(), "catalogue: unknown property");
  payload[24] = 4;
  EXPECT_FALSE(DecodeCatalogSections(payload).ok());
}

// stream_format.md, "Catalogue".
TEST(CatalogTest, AVmOfAnUnknownKindIsRefused) {
  Bytes payload = EncodeCatalog(ExampleCatalog());
  const std::string name = "vm1";
  *(std::search(payload.begin(), payload.end(), name.begin(), name.end()) + 3) = 2;
  EXPECT_EQ(DecodeCatalog(payload).status().message(), "catalogue: an entry has an unknown property");
}

TEST(CatalogTest, HashChangesWithTheContent) {
  Catalog other = ExampleCatalog();
  other.contexts[0].generation++;
  EXPECT_NE(CatalogHash(EncodeCatalog(ExampleCatalog())), CatalogHash(EncodeCatalog(other)));
}

}  // namespace
}  // namespace sideband::mailbox
