// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/catalog.h"

#include <gtest/gtest.h>

#include <functional>

#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

Uuid SomeUuid(uint8_t last) {
  Uuid uuid;
  uuid.bytes[15] = last;
  return uuid;
}

Catalog Example() {
  return {.device = SomeUuid(1),
          .reference_clock_hz = 1'000'000'000,
          .has_had_confidential_vm = true,
          .events = {{"sm_active_cycles", "cycles", EventScope::kContext, "cycles with work"},
                     {"pcie_tx_cycles", "cycles", EventScope::kDevice, ""}},
          .slices = {{0, "slice0"}},
          .vms = {{1, SomeUuid(2), "vm1", false, 0, 1}, {2, SomeUuid(3), "vm2", true, kAnySlice, 4}},
          .contexts = {{1, 0, "train", 0, 1}, {2, 0, "train", 0, 2}}};
}

TEST(CatalogTest, RoundTrips) { EXPECT_EQ(*DecodeCatalog(EncodeCatalog(Example())), Example()); }

TEST(CatalogTest, EmptyCatalogRoundTrips) { EXPECT_EQ(*DecodeCatalog(EncodeCatalog(Catalog{})), Catalog{}); }

// The example of README.md.
TEST(CatalogTest, BytesAreThoseOfTheDocument) {
  const Bytes stream = EncodeStream({.kind = StreamKind::kCatalog, .boot_id = 1}, EncodeCatalog(Catalog{}));
  Bytes expected = {0x53, 0x42, 0x4B, 0x31, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0};
  expected.resize(expected.size() + 33);
  expected.insert(expected.end(), {0xB7, 0x78, 0x72, 0xED});
  EXPECT_EQ(stream, expected);
}

TEST(CatalogTest, EveryPrefixAndEveryExtraByteIsRefused) {
  Bytes payload = EncodeCatalog(Example());
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(DecodeCatalog(ByteSpan(payload).first(size)).ok()) << size;
  }
  payload.push_back(0);
  EXPECT_FALSE(DecodeCatalog(payload).ok());
  payload.pop_back();
  payload[24] |= 2;  // a property that is not known
  EXPECT_FALSE(DecodeCatalog(payload).ok());
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
  };
  for (const auto& test : kCases) {
    Catalog catalog = Example();
    test.spoil(catalog);
    EXPECT_EQ(DecodeCatalog(EncodeCatalog(catalog)).status().code(), absl::StatusCode::kInvalidArgument) << test.why;
  }
}

TEST(CatalogTest, HashChangesWithTheContent) {
  Catalog other = Example();
  other.contexts[0].generation++;
  EXPECT_NE(CatalogHash(EncodeCatalog(Example())), CatalogHash(EncodeCatalog(other)));
}

}  // namespace
}  // namespace sideband::mailbox
