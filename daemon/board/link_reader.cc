// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;
using mailbox::NvlinkDelta;
using mailbox::NvlinkItem;

struct BytesRow {
  NvlinkItem item;
  const char* name;
  std::optional<RunningCount> NvlinkStatus::*member;
};
constexpr BytesRow kBytes[] = {
    {NvlinkItem::kDataTx, "data sent", &NvlinkStatus::data_tx},
    {NvlinkItem::kDataRx, "data received", &NvlinkStatus::data_rx},
    {NvlinkItem::kRawTx, "bytes sent", &NvlinkStatus::raw_tx},
    {NvlinkItem::kRawRx, "bytes received", &NvlinkStatus::raw_rx},
};

struct RateRow {
  MetricId metric;
  const char* name;
  std::optional<double> NvlinkStatus::*member;
};
constexpr RateRow kRates[] = {
    {MetricId::kNvlinkRawTxPerLink, "raw TX", &NvlinkStatus::raw_tx_rate},
    {MetricId::kNvlinkDataTxPerLink, "data TX", &NvlinkStatus::data_tx_rate},
    {MetricId::kNvlinkRawRxPerLink, "raw RX", &NvlinkStatus::raw_rx_rate},
    {MetricId::kNvlinkDataRxPerLink, "data RX", &NvlinkStatus::data_rx_rate},
};

std::string NameOf(const char* what, size_t link) { return absl::StrCat(what, " of NVLink ", link); }

void TakeDelta(GroupRound& round, const BytesRow& row, size_t link, const BoardReply& reply) {
  const auto delta = NvlinkDelta::Decode(reply.word.Encode());
  const uint64_t gain = uint64_t{delta.delta} << 10 * (1 + delta.granularity);
  const bool is_plausible = delta.is_invalid || round.Check(NameOf(row.name, link), gain <= kNvlinkGainMax);
  const CounterKey key = {round.group(), static_cast<uint16_t>(row.item), static_cast<uint16_t>(link)};
  // The bytes carried in the meantime are not known.
  if (delta.is_invalid || !is_plausible) return round.memory().counts.Restart(key);
  // A sample that is not new was added when it was.
  round.draft().nvlink.links[link].*row.member =
      round.memory().counts.AddGain(key, delta.is_new ? gain : 0, round.now().wall);
}

void AddBytes(GroupRound& round, size_t link) {
  for (const BytesRow& row : kBytes) {
    round.Add({.word = BoardCommand(mailbox::Opcode::kGetNvlinkInfo, static_cast<uint8_t>(row.item),
                                    static_cast<uint8_t>(link)),
               .take = [&round, row, link](const BoardReply& reply) { TakeDelta(round, row, link, reply); }});
  }
}

void TakeRate(GroupRound& round, const RateRow& row, size_t link, const BoardReply& reply) {
  const auto rate = BytesPerSecondOf(reply);
  if (!round.Check(NameOf(row.name, link), rate && *rate <= kBytesPerSecondMax)) return;
  round.draft().nvlink.links[link].*row.member = *rate;
}

// Data-in has the link.
void AddRates(GroupRound& round, size_t link) {
  for (const RateRow& row : kRates) {
    round.Add({.word = MetricCommand(mailbox::MonitoringAction::kSnapshotMetric, row.metric, mailbox::kWholeDevice),
               .data = static_cast<uint32_t>(link),
               .outputs = {.data = true},
               .take = [&round, row, link](const BoardReply& reply) { TakeRate(round, row, link, reply); }});
  }
}

// Traffic of an NVLink: the bytes that it has carried (GET_NVLINK_INFO, throughput), and its bandwidths between the two
// latest captures of metrics (GPU_PERFORMANCE_MONITORING, for each link).
//
// Adds the values that the board announces, of a link that the draft has. A board says what was carried since it was
// last asked: what another controller has asked for is lost.
void AddNvlinkTraffic(GroupRound& round, size_t link) {
  if (round.Has(mailbox::Capability::kNvlinkThroughput)) AddBytes(round, link);
  if (round.Has(mailbox::Capability::kPerformanceMonitoring)) AddRates(round, link);
}

using mailbox::Capability;
using mailbox::Opcode;
using mailbox::PciePage;

constexpr uint32_t kSpeedMask = 7;

// Counters of the PCIe link, by their key.
enum PcieCounter : uint16_t {
  kNonFatal,
  kFatal,
  kUnsupported,
  kCorrectable,
  kRecoveries,
  kReplays,
  kRollovers,
  kNaksReceived,
  kNaksSent,
};

// 0 is unknown, and is absent.
std::optional<uint8_t> Generation(GroupRound& round, const char* what, uint32_t code) {
  if (!round.Check(what, code <= mailbox::kPcieSpeedMax) || code == 0) return std::nullopt;
  return static_cast<uint8_t>(code);
}

std::optional<uint8_t> Lanes(GroupRound& round, uint8_t code) {
  if (!round.Check("the PCIe width", code < mailbox::kPcieWidths.size()) || code == 0) return std::nullopt;
  return mailbox::kPcieWidths[code];
}

void TakeLink(GroupRound& round, const BoardReply& reply) {
  const auto link = mailbox::PcieLink::Decode(reply.data);
  PcieReading& pcie = round.draft().pcie;
  pcie.generation = Generation(round, "the PCIe speed", link.speed);
  pcie.lanes = Lanes(round, link.width);
  pcie.non_fatal = round.Count(kNonFatal, 0, link.non_fatal, 8);
  pcie.fatal = round.Count(kFatal, 0, link.fatal, 8);
  pcie.unsupported = round.Count(kUnsupported, 0, link.unsupported, 8);
  pcie.correctable = round.Count(kCorrectable, 0, reply.extended_data, 16);
}

void TakeRecoveries(GroupRound& round, const BoardReply& reply) {
  round.draft().pcie.recoveries = round.Count(kRecoveries, 0, reply.data, 32);
  round.draft().pcie.replays = round.Count(kReplays, 0, reply.extended_data, 32);
}

void TakeNaks(GroupRound& round, const BoardReply& reply) {
  PcieReading& pcie = round.draft().pcie;
  pcie.replay_rollovers = round.Count(kRollovers, 0, reply.data, 16);
  pcie.naks_received = round.Count(kNaksReceived, 0, reply.data >> 16, 16);
  pcie.naks_sent = round.Count(kNaksSent, 0, reply.extended_data, 16);
}

void TakeTargetSpeed(GroupRound& round, const BoardReply& reply) {
  round.draft().pcie.target_generation = Generation(round, "the PCIe target speed", reply.data & kSpeedMask);
}

void AddPage(GroupRound& round, PciePage page, bool has_extended_data,
             void (*take)(GroupRound& round, const BoardReply& reply)) {
  round.Add({.word = BoardCommand(Opcode::kGetPcieLink, static_cast<uint8_t>(page)),
             .outputs = {.data = true, .extended_data = has_extended_data},
             .take = [&round, take](const BoardReply& reply) { take(round, reply); }});
}

mailbox::CommandWord NvlinkCommand(NvlinkItem item, size_t arg2 = 0) {
  return BoardCommand(Opcode::kGetNvlinkInfo, static_cast<uint8_t>(item), static_cast<uint8_t>(arg2));
}

// A page with one bit for each link, into a member of its state.
void AddBits(GroupRound& round, NvlinkItem item, std::optional<bool> NvlinkStatus::*member) {
  round.Add({.word = NvlinkCommand(item), .outputs = {.data = true}, .take = [&round, member](const BoardReply& reply) {
               std::vector<NvlinkStatus>& links = round.draft().nvlink.links;
               for (size_t link = 0; link < links.size(); ++link) links[link].*member = (reply.data >> link & 1) != 0;
             }});
}

// Low-power links are up: they carry traffic when there is some.
bool IsUp(mailbox::NvlinkState state) {
  return state == mailbox::NvlinkState::kActive || state == mailbox::NvlinkState::kLowPower;
}

void TakeStates(GroupRound& round, size_t page, const BoardReply& reply) {
  constexpr size_t kPerDword = 8;
  std::vector<NvlinkStatus>& links = round.draft().nvlink.links;
  const size_t first = page * mailbox::kLinksPerStatePage;
  for (size_t i = 0; i < mailbox::kLinksPerStatePage && first + i < links.size(); ++i) {
    const uint32_t dword = i < kPerDword ? reply.data : reply.extended_data;
    const uint32_t code = dword >> 4 * (i % kPerDword) & 0xF;
    const auto state = static_cast<mailbox::NvlinkState>(code);
    const bool is_known = code <= static_cast<uint32_t>(mailbox::NvlinkState::kDisabled);
    if (!round.Check(absl::StrCat("the state of NVLink ", first + i), is_known)) continue;
    links[first + i].state = state;
    links[first + i].is_up = IsUp(state);
  }
}

void AddStates(GroupRound& round, size_t links) {
  for (size_t page = 0; page * mailbox::kLinksPerStatePage < links; ++page) {
    round.Add({.word = NvlinkCommand(NvlinkItem::kStateV2, page),
               .outputs = {.data = true, .extended_data = true},
               .take = [&round, page](const BoardReply& reply) { TakeStates(round, page, reply); }});
  }
}

void AddBandwidth(GroupRound& round, size_t link) {
  round.Add({.word = NvlinkCommand(NvlinkItem::kBandwidth, link),
             .outputs = {.data = true},
             .take = [&round, link](const BoardReply& reply) {
               if (reply.data == mailbox::kNvlinkBandwidthInvalid) return;
               if (!round.Check(absl::StrCat("the bandwidth of NVLink ", link), reply.data <= kNvlinkMbpsMax)) return;
               round.draft().nvlink.links[link].bits_per_second = uint64_t{reply.data} * 1'000'000;
             }});
}

struct ErrorRow {
  NvlinkItem item;
  std::optional<RunningCount> NvlinkStatus::*member;
};
constexpr ErrorRow kNvlinkErrorWords[] = {
    {NvlinkItem::kReplays, &NvlinkStatus::replays},
    {NvlinkItem::kRecoveries, &NvlinkStatus::recoveries},
    {NvlinkItem::kFlitCrc, &NvlinkStatus::flit_crc},
    {NvlinkItem::kDataCrc, &NvlinkStatus::data_crc},
};

void AddErrors(GroupRound& round, size_t link) {
  for (const ErrorRow& row : kNvlinkErrorWords) {
    round.Add({.word = NvlinkCommand(row.item, link),
               .outputs = {.data = true},
               .take = [&round, row, link](const BoardReply& reply) {
                 round.draft().nvlink.links[link].*row.member =
                     round.Count(static_cast<uint16_t>(row.item), static_cast<uint16_t>(link), reply.data, 32);
               }});
  }
}

void TakeCount(GroupRound& round, uint32_t count) {
  if (!round.Check("the number of NVLinks", count <= mailbox::kNvlinksMax) || count == 0) return;
  round.draft().nvlink.links.resize(count);
  if (round.Has(Capability::kNvlinkStateV2)) {
    AddStates(round, count);
  } else if (round.Has(Capability::kNvlinkStateV1)) {
    AddBits(round, NvlinkItem::kStateV1, &NvlinkStatus::is_up);
  }
  const bool has_errors = round.Has(Capability::kNvlinkErrors);
  if (round.Has(Capability::kNvlinkTrainingError)) {
    AddBits(round, NvlinkItem::kTrainingErrors, &NvlinkStatus::has_training_error);
  }
  if (round.Has(Capability::kNvlinkRuntimeError)) {
    AddBits(round, NvlinkItem::kRuntimeErrors, &NvlinkStatus::has_runtime_error);
  }
  for (size_t link = 0; link < count; ++link) {
    AddBandwidth(round, link);
    if (has_errors) AddErrors(round, link);
    AddNvlinkTraffic(round, link);
  }
}

}  // namespace

void PlanPcie(GroupRound& round) {
  AddPage(round, PciePage::kLink, true, TakeLink);
  AddPage(round, PciePage::kRecoveries, true, TakeRecoveries);
  AddPage(round, PciePage::kNaks, true, TakeNaks);
  if (round.Has(Capability::kPcieTargetSpeed)) AddPage(round, PciePage::kTargetSpeed, false, TakeTargetSpeed);
}

void PlanNvlink(GroupRound& round) {
  round.Add({.word = NvlinkCommand(NvlinkItem::kCount),
             .outputs = {.data = true},
             .take = [&round](const BoardReply& reply) { TakeCount(round, reply.data); }});
}

}  // namespace sideband::daemon
