// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/fake_life.h"

#include "absl/strings/str_cat.h"

namespace sideband::daemon {

FakeLife::FakeLife(uint32_t seed, uint32_t events, double turbulence)
    : random_(seed), events_(events), turbulence_(turbulence) {
  now_.host_time = absl::FromUnixSeconds(1'800'000'000);
  now_.host_time_error = absl::Microseconds(700);
  Restart();
}

void FakeLife::Restart() {
  now_.data.boot_id = random_();
  now_.data.snapshot_id = 0;
  now_.data.reference_time_ns = 0;
  NewTopology();
}

// Up to five VMs on eight possible ids, so that ids are reused.
void FakeLife::NewTopology() {
  mailbox::Catalog catalog;
  for (uint32_t event = 0; event < events_; ++event) catalog.events.push_back({.name = absl::StrCat("event", event)});
  now_.data.blocks = {{}};
  const uint64_t vms = UpTo(5);
  for (uint16_t vm = 1; vm <= vms; ++vm) {
    const auto id = static_cast<uint16_t>(vm + UpTo(3));
    if (id <= now_.data.blocks.back().vm) continue;
    catalog.vms.push_back({.id = id, .uuid = *Uuid::Parse(absl::StrCat("00000000-0000-0000-0000-00000000000", id))});
    now_.data.blocks.push_back({.vm = id, .generation = static_cast<uint32_t>(UpTo(9))});
  }
  now_.topology = std::make_shared<Topology>(std::move(catalog), static_cast<uint32_t>(random_()));
  now_.data.counters_per_block = events_;
  now_.data.counters.assign(now_.data.blocks.size() * events_, 0);
}

void FakeLife::ChangeLayout() {
  if (Happens(0.2)) return Restart();
  if (Happens(0.5)) return NewTopology();
  mailbox::BlockHeader& block = now_.data.blocks[UpTo(now_.data.blocks.size() - 1)];
  ++block.generation;
  if (Happens(0.2)) now_.device_scope_withheld = !now_.device_scope_withheld;
}

void FakeLife::Count() {
  for (uint64_t& counter : now_.data.counters) {
    if (Happens(0.5)) continue;
    counter += UpTo(uint64_t{1} << UpTo(63));  // all encoded lengths occur; counters may wrap
  }
  for (mailbox::BlockHeader& block : now_.data.blocks) {
    if (!Happens(0.1)) continue;
    block.flags = static_cast<uint16_t>(UpTo(mailbox::kFlagsKnown));
    block.state = static_cast<mailbox::BlockState>(UpTo(2));
  }
}

std::shared_ptr<const DeviceSnapshot> FakeLife::Next() {
  now_.publication += 1 + (Happens(0.05) ? UpTo(70) : 0);
  if (Happens(turbulence_)) ChangeLayout();
  Count();
  ++now_.data.snapshot_id;
  now_.data.reference_time_ns += 900'000'000 + UpTo(200'000'000);
  now_.host_time += absl::Seconds(Happens(0.02) ? -5 : 1);
  now_.steady_time += absl::Milliseconds(990 + UpTo(20));
  now_.host_time_error = absl::Microseconds(static_cast<int64_t>(UpTo(1000)));
  return std::make_shared<DeviceSnapshot>(now_);
}

}  // namespace sideband::daemon
