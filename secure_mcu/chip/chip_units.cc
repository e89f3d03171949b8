// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/chip_units.h"

#include <algorithm>
#include <utility>

#include "secure_mcu/pipeline/hpc_client.h"

namespace sideband::mcu {
namespace {

std::vector<CounterCollectionUnit> MakeCcus(const PipelineConfig& config, const Selections& selections) {
  std::vector<CounterCollectionUnit> ccus;
  for (const CcuSpec& spec : config.ccus) {
    const size_t id = ccus.size();
    ccus.push_back(CounterCollectionUnit({.id = static_cast<uint16_t>(id),
                                          .channel = spec.channel,
                                          .counters = static_cast<uint16_t>((*selections.meanings())[0][id].size()),
                                          .mapping = selections.MappingOf(0, id),
                                          .threshold = spec.threshold}));
  }
  return ccus;
}

}  // namespace

// --- The way of the records ------------------------------------------------------------------------------------------

RecordMover::RecordMover(Latencies latencies, std::vector<CounterCollectionUnit>& ccus, Route route)
    : latencies_(latencies),
      ccus_(ccus),
      route_(std::move(route)),
      buffer_(latencies.buffer_depth),
      unit_ready_(ccus.size()) {}

void RecordMover::FindSenders() {
  ready_.clear();
  resting_.clear();
  for (size_t unit = 0; unit < ccus_.size(); ++unit) {
    if (!ccus_[unit].HasRecord()) continue;
    if (unit_ready_[unit] > now_) {
      resting_.push_back(unit);
    } else {
      ready_.push_back(unit);
    }
  }
  std::sort(resting_.begin(), resting_.end(), [this](size_t a, size_t b) { return unit_ready_[a] < unit_ready_[b]; });
}

void RecordMover::Wake() {
  while (!resting_.empty() && unit_ready_[resting_.front()] <= now_) {
    const size_t unit = resting_.front();
    resting_.pop_front();
    ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), unit), unit);
  }
}

void RecordMover::Send(size_t unit) {
  buffer_.Push(ccus_[unit].PopRecord());
  unit_ready_[unit] = now_ + latencies_.record_cycles;
  // All rest for the same time, so the first to rest is the first to be ready.
  if (ccus_[unit].HasRecord()) resting_.push_back(unit);
}

void RecordMover::Step() {
  ++now_;
  if (!buffer_.empty() && now_ >= route_ready_) {
    route_(buffer_.Pop());
    route_ready_ = now_ + latencies_.route_cycles;
  }
  Wake();
  while (!ready_.empty() && !buffer_.full()) {
    auto next = std::lower_bound(ready_.begin(), ready_.end(), first_unit_);
    if (next == ready_.end()) next = ready_.begin();
    const size_t unit = *next;
    ready_.erase(next);
    Send(unit);
  }
  // A full buffer drops nothing: the units keep their records.
  stall_cycles_ += ready_.size();
  // The first unit rotates, so that a full buffer does not always stall the same units.
  if (++first_unit_ == ccus_.size()) first_unit_ = 0;
}

void RecordMover::RunFor(uint64_t cycles) {
  const uint64_t end = now_ + cycles;
  FindSenders();
  // An idle pipeline skips to the end.
  while (now_ < end && !Idle()) Step();
  now_ = end;
}

void RecordMover::RunUntil(const std::function<bool()>& done) {
  FindSenders();
  while (!done() && !Idle()) Step();
}

// --- The units -------------------------------------------------------------------------------------------------------

ChipUnits::ChipUnits(const PipelineConfig& config, const Selections& selections, const Residents& residents,
                     RecordMover::Route route)
    : config_(config),
      selections_(selections),
      residents_(residents),
      meanings_(selections.meanings()),
      ccus_(MakeCcus(config, selections)),
      clocks_(config.slices + 1u),
      ccu_clocks_(ccus_.size()),
      wires_(config.slices + 1),
      mover_({config.buffer_depth, config.record_cycles, config.route_cycles}, ccus_, std::move(route)) {
  for (size_t c = 0; c < config.ccus.size(); ++c) {
    const CcuSpec& spec = config.ccus[c];
    for (size_t u = 0; u < spec.ulcs.size(); ++u) {
      units_.push_back({.ulc = UnitLevelCounter(CounterConfig(spec.ulcs[u])),
                        .ccu = c,
                        .index = u,
                        .channel = spec.channel,
                        .wiring = spec.channel == kDeviceChannel ? config.slices : spec.channel,
                        .domain = spec.ulcs[u].domain,
                        .is_switched = spec.ulcs[u].is_switched()});
    }
  }
  FindClocks();
  Enable(kDeviceChannel);
}

void ChipUnits::FindClocks() {
  for (Unit& unit : units_) {
    unit.clock = clocks_.Add(unit.wiring, unit.domain);
    std::vector<size_t>& of_ccu = ccu_clocks_[unit.ccu];
    if (std::ranges::find(of_ccu, unit.clock) == of_ccu.end()) of_ccu.push_back(unit.clock);
  }
}

void ChipUnits::Attach(uint8_t channel, const sim::WireSource& wires) {
  const size_t wiring = channel == kDeviceChannel ? config_.slices : channel;
  wires_[wiring] = &wires;
  clocks_.Attach(wiring, wires, now_);
}

// --- Counting ------------------------------------------------------------------------------------------------------

void ChipUnits::CountUnit(Unit& unit, uint64_t until) {
  unit.counted = std::max(unit.counted, until);
  CounterCollectionUnit& ccu = ccus_[unit.ccu];
  const sim::WireSource& wires = wires_[unit.wiring]->domain(unit.domain);
  if (unit.ulc.AdvanceTo(until, wires, ccu.Input(unit.index))) ccu.Accept(unit.index);
}

void ChipUnits::CountTo(uint64_t cycle) {
  clocks_.AdvanceTo(cycle);
  for (Unit& unit : units_) {
    if (unit.ulc.enabled()) CountUnit(unit, clocks_.edges(unit.clock));
  }
  mover_.RunFor(cycle - now_);
  now_ = cycle;
}

void ChipUnits::CountWithinCycle() {
  for (Unit& unit : units_) {
    if (unit.domain != 0 && unit.ulc.enabled()) CountUnit(unit, wires_[unit.wiring]->CyclesHeld(unit.domain, now_));
  }
  // The reference clock may be stopped for long. Records are moved to the end, so that a trigger that fires now finds
  // the idle bank sent.
  mover_.RunUntil([] { return false; });
}

uint64_t ChipUnits::ThresholdStop(uint64_t end) const {
  for (size_t c = 0; c < ccus_.size(); ++c) {
    if (!IsCounting(ccus_[c])) continue;
    const uint64_t headroom = ccus_[c].ThresholdHeadroom();
    if (headroom == kNoCycle) continue;
    // The counts of up to kUlcHistoryCycles earlier cycles may be in transit and arrive at once.
    const uint64_t cycles = headroom / std::max(1u, ccus_[c].GainPerCycleMax());
    const uint64_t edges = cycles > kUlcHistoryCycles ? cycles - kUlcHistoryCycles : 1;
    for (const size_t clock : ccu_clocks_[c]) end = clocks_.FirstAfter(clock, edges, end);
  }
  return end;
}

// A held trigger takes what was counted before its cycle, wherever else the chip stops.
uint64_t ChipUnits::HeldTriggerStop(uint64_t end) const {
  for (const CounterCollectionUnit& ccu : ccus_) {
    const uint64_t records = ccu.RecordsUntilHeldTrigger();
    if (records > 0) end = std::min(end, now_ + std::max<uint64_t>(1, (records - 1) * config_.record_cycles));
  }
  return end;
}

uint64_t ChipUnits::NextStop(uint64_t end) const { return ThresholdStop(HeldTriggerStop(end)); }

void ChipUnits::Enable(uint8_t channel) {
  for (Unit& unit : units_) {
    if (unit.channel == channel) unit.ulc.Enable(std::max(unit.counted, clocks_.edges(unit.clock)));
  }
}

void ChipUnits::Disable(uint8_t channel) {
  for (Unit& unit : units_) {
    if (unit.channel == channel) unit.ulc.Disable();
  }
}

bool ChipUnits::Select(uint8_t channel, uint8_t select) {
  bool is_new = false;
  for (CounterCollectionUnit& ccu : ccus_) {
    if (ccu.config().channel != channel || ccu.select() == select) continue;
    ccu.Select(select);
    is_new = true;
  }
  return is_new;
}

void ChipUnits::Connect(uint8_t channel, uint8_t select) {
  for (CounterCollectionUnit& ccu : ccus_) {
    const bool is_switched = ccu.config().channel == channel && selections_.IsSwitched(ccu.config().id);
    if (is_switched) ccu.Connect(selections_.MappingOf(select, ccu.config().id));
  }
  for (Unit& unit : units_) {
    if (unit.channel == channel && unit.is_switched) {
      unit.ulc.Connect(selections_.SourcesOf(select, unit.ccu, unit.index));
    }
  }
}

// --- Triggers and flushes ------------------------------------------------------------------------------------------

// A threshold trigger swaps the banks of its own unit only.
void ChipUnits::FireThresholds(TriggerBlock& triggers) {
  for (CounterCollectionUnit& ccu : ccus_) {
    if (ccu.ThresholdReached()) ccu.Trigger({.id = triggers.Fire(TriggerKind::kThreshold)});
  }
}

void ChipUnits::SwapBanks(uint32_t trigger_id) {
  for (CounterCollectionUnit& ccu : ccus_) {
    if (IsCounting(ccu)) ccu.Trigger({.id = trigger_id});
  }
}

void ChipUnits::TakeHeld(std::optional<uint8_t> channel) {
  for (Unit& unit : units_) {
    if (!unit.ulc.enabled() || (channel && unit.channel != *channel)) continue;
    CounterCollectionUnit& ccu = ccus_[unit.ccu];
    unit.ulc.TakeHeld(wires_[unit.wiring]->domain(unit.domain), ccu.Input(unit.index));
    ccu.Accept(unit.index);
  }
}

void ChipUnits::SwapBanksToFlush(std::optional<uint8_t> channel, uint32_t trigger_id) {
  for (CounterCollectionUnit& ccu : ccus_) {
    if (channel && ccu.config().channel != *channel) continue;
    if (IsCounting(ccu)) ccu.Trigger({.id = trigger_id, .flush = true});
  }
}

void ChipUnits::RequestFlush(std::optional<uint8_t> channel, TriggerBlock& triggers) {
  for (CounterCollectionUnit& ccu : ccus_) {
    if ((channel && ccu.config().channel != *channel) || !IsCounting(ccu)) continue;
    triggers.RequestFlush(ccu.config().id);
    ccu.RequestFlush();
  }
}

uint64_t ChipUnits::trigger_overruns() const {
  uint64_t overruns = 0;
  for (const CounterCollectionUnit& ccu : ccus_) overruns += ccu.trigger_overruns();
  return overruns;
}

// --- What is on its way --------------------------------------------------------------------------------------------

RotationInstant ChipUnits::InstantOf(uint8_t channel) const {
  RotationInstant at{.cycle = now_, .domains = {}};
  for (const Unit& unit : units_) {
    if (unit.channel != channel || unit.domain == 0) continue;
    if (at.domains.size() < unit.domain) at.domains.resize(unit.domain);
    uint64_t& counted = at.domains[unit.domain - 1];
    const bool has_wires = wires_[unit.wiring] != nullptr;
    counted = std::max({counted, unit.counted, has_wires ? clocks_.edges(unit.clock) : 0});
  }
  return at;
}

// The row's unit whose counts are the oldest decides. Units that do not count leave nothing out.
std::span<const ClockNetwork::Horizon> ChipUnits::FindHorizons(const ClockNetwork& network) {
  horizons_.assign(network.domains().size(), ClockNetwork::Horizon());
  for (const Unit& unit : units_) {
    const std::optional<size_t> row = network.RowOf(unit.ccu);
    if (!row || !unit.ulc.enabled()) continue;
    horizons_[*row].cycles = std::min(horizons_[*row].cycles, unit.ulc.delivered());
    // The records of this trigger will have what arrives until then.
    horizons_[*row].late |= ccus_[unit.ccu].RecordsUntilHeldTrigger() > 0;
  }
  return horizons_;
}

void ChipUnits::AddShare(size_t ccu, size_t counter, uint64_t count, std::span<uint64_t> sums) const {
  const EventShare& share = (*meanings_)[ccus_[ccu].select()][ccu][counter];
  AddSaturating(count << share.shift, sums[share.event]);
}

// A count is in exactly one place.
void ChipUnits::AddCounts(Wanted wanted, std::span<uint64_t> sums) const {
  const ChannelBuffer& buffer = mover_.buffer();
  for (size_t i = 0; i < buffer.size(); ++i) {
    const Record& record = buffer.at(i);
    if (!wanted(record.channel, record.select)) continue;
    for (uint16_t k = 0; k < record.size; ++k) AddShare(record.ccu, record.first + k, record.counts[k], sums);
  }
  for (const CounterCollectionUnit& ccu : ccus_) {
    if (!wanted(ccu.config().channel, ccu.select())) continue;
    std::vector<uint64_t> counts(ccu.config().counters);
    ccu.AddCounts(counts);
    for (size_t i = 0; i < counts.size(); ++i) AddShare(ccu.config().id, i, counts[i], sums);
  }
  for (const Unit& unit : units_) {
    if (!wanted(unit.channel, ccus_[unit.ccu].select())) continue;
    const std::vector<uint16_t>& mapping = ccus_[unit.ccu].config().mapping[unit.index];
    std::vector<uint64_t> counts(mapping.size());
    unit.ulc.AddHeld(wires_[unit.wiring]->domain(unit.domain), counts);
    for (size_t i = 0; i < counts.size(); ++i) {
      if (mapping[i] != CounterCollectionUnit::kMasked) AddShare(unit.ccu, mapping[i], counts[i], sums);
    }
  }
}

uint16_t ChipUnits::FlagsOf(Wanted wanted) const {
  uint16_t flags = 0;
  const ChannelBuffer& buffer = mover_.buffer();
  for (size_t i = 0; i < buffer.size(); ++i) {
    if (wanted(buffer.at(i).channel, buffer.at(i).select)) flags |= buffer.at(i).flags;
  }
  for (const CounterCollectionUnit& ccu : ccus_) {
    if (wanted(ccu.config().channel, ccu.select())) flags |= ccu.flags();
  }
  return flags;
}

}  // namespace sideband::mcu
