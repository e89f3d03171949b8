// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/fake_life.h"

#include <array>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/board/board_groups.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;

constexpr std::array kGroups = {
    BoardGroup::kTemperature, BoardGroup::kPower,  BoardGroup::kEnergy,   BoardGroup::kDriverMessages,
    BoardGroup::kMetrics,     BoardGroup::kMemory, BoardGroup::kIdentity, BoardGroup::kNvlink,
    BoardGroup::kPartitions,  // of which no sensor is
};

}  // namespace

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

FakeReadings::FakeReadings(uint32_t seed, double turbulence)
    : random_(seed), turbulence_(turbulence), time_{absl::Seconds(100), absl::FromUnixSeconds(1'800'000'000)} {}

std::shared_ptr<const BoardReading> FakeReadings::Next() {
  const absl::Duration passed = absl::Nanoseconds(1 + UpTo(200'000'000));
  time_.steady += passed;
  time_.wall += Happens(0.002) ? -absl::Seconds(30) : passed;
  if (Happens(turbulence_ / 10)) {
    Reset();
  } else {
    const BoardGroup group = kGroups[UpTo(kGroups.size() - 1)];
    Read(group);
    now_.samples[group] = time_;
  }
  return std::make_shared<const BoardReading>(now_);
}

double FakeReadings::Number() {
  const double number = static_cast<double>(UpTo(100'000)) - 1000;
  switch (UpTo(2)) {
    case 0:
      return number / 256;
    case 1:
      return number / 1000;
    default:
      return number / 7;
  }
}

void FakeReadings::Change(std::optional<double>& value) {
  if (Happens(turbulence_)) {
    value.reset();
  } else if (!value || Happens(0.7)) {
    value = Number();
  }
}

void FakeReadings::Change(std::optional<RunningCount>& count) {
  if (Happens(turbulence_)) {
    count.reset();
  } else if (!count || Happens(turbulence_)) {
    count = RunningCount{.value = UpTo(UINT64_MAX), .created = time_.wall};
  } else {
    count->value += UpTo(1'000'000);
  }
}

template <typename Key, typename Value>
void FakeReadings::Change(std::map<Key, Value>& values, const Key& key) {
  std::optional<Value> value = Find(values, key);
  Change(value);
  values.erase(key);
  if (value) values.emplace(key, *value);
}

void FakeReadings::Read(BoardGroup group) {
  using mailbox::PowerSource;
  switch (group) {
    case BoardGroup::kTemperature:
      Change(now_.temperature.celsius, mailbox::TempSensor::kGpu0);
      return Change(now_.temperature.celsius, mailbox::TempSensor::kMemory);
    case BoardGroup::kPower:
      return Change(now_.power.watts, PowerSource::kTotal);
    case BoardGroup::kEnergy:
      Change(now_.energy.millijoules, PowerSource::kTotal);
      return Change(now_.energy.millijoules, PowerSource::kModule);
    case BoardGroup::kDriverMessages:
      return Change(now_.driver_messages.counts, static_cast<uint16_t>(UpTo(120)));
    case BoardGroup::kMetrics:
      return ReadMetrics();
    case BoardGroup::kMemory:
      now_.memory.used_mib = static_cast<uint32_t>(UpTo(81'920));
      now_.memory.total_mib = 81'920;
      return;
    case BoardGroup::kIdentity:
      // A hostile board's: another one at each reading.
      if (Happens(turbulence_))
        now_.identity.items[mailbox::SysId::kSerialNumber] = absl::StrCat("serial ", UpTo(1 << 30));
      return;
    case BoardGroup::kNvlink:
      return ReadLinks();
    default:
      return;
  }
}

void FakeReadings::ReadMetrics() {
  for (const MetricScope& scope : {MetricScope{}, MetricScope{.partition = 1}, MetricScope{.partition = 2},
                                   MetricScope{.partition = 2, .compute_instance = 0}}) {
    for (const MetricId metric : {MetricId::kSmActivity, MetricId::kDramUsage}) {
      Change(now_.metrics.scopes[scope].ratios, metric);
    }
  }
}

void FakeReadings::ReadLinks() {
  now_.nvlink.links.resize(4);
  for (NvlinkStatus& link : now_.nvlink.links) {
    link.is_up = Happens(0.9);
    Change(link.data_tx);
    Change(link.data_tx_rate);
  }
}

void FakeReadings::Reset() {
  for (const BoardGroup group : kGroups) ClearGroup(group, now_);
}

}  // namespace sideband::daemon
