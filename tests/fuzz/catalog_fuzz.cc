// SPDX-License-Identifier: Apache-2.0
//
// A catalogue's payload from a hostile device. A decoded catalogue survives encoding.
#include "proto/mailbox/catalog.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/simulation/hostile_device.h"

namespace sideband::fuzz {
namespace {

std::vector<Bytes> Seeds() {
  const mailbox::Catalog example = tests::HostileDevice::ExampleCatalog();
  mailbox::Catalog rotating = example;
  rotating.relations = {{.kind = mailbox::Relation::Kind::kCycles, .members = {0}, .whole = 0, .times = 1}};
  rotating.plans = {{.number = 0, .sets = {{1}}, .derived = {1}, .settings = {}}};
  rotating.plans[0].settings.weights = {{0, 5}};
  mailbox::Catalog clocked = example;
  clocked.clock_domains = {{.name = "core", .nominal_hz = 1, .period_min = 1, .bar_low = -1, .slice = 0},
                           {.name = "memory", .nominal_hz = 2, .period_min = 3, .period_max = 4, .announces = true}};
  return {mailbox::EncodeCatalogSections(clocked),
          mailbox::EncodeCatalogSections(rotating),
          mailbox::EncodeCatalog({}),
          mailbox::EncodeCatalog(example),
          mailbox::EncodeCatalogSections({}),
          mailbox::EncodeCatalogSections(example)};
}

int RunInput(const uint8_t* data, size_t size) {
  if (const auto catalog = mailbox::DecodeCatalog({data, size}); catalog.ok()) {
    const auto again = mailbox::DecodeCatalog(mailbox::EncodeCatalog(*catalog));
    FUZZ_CHECK(again.ok() && *again == *catalog);
  }
  if (const auto catalog = mailbox::DecodeCatalogSections({data, size}); catalog.ok()) {
    const auto again = mailbox::DecodeCatalogSections(mailbox::EncodeCatalogSections(*catalog));
    FUZZ_CHECK(again.ok() && *again == *catalog);
  }
  return 0;
}

FUZZ_TARGET(catalog_fuzz);

}  // namespace
}  // namespace sideband::fuzz
