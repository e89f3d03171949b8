// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "secure_mcu/describe.h"

namespace sideband::mcu {
namespace {

using Json = nlohmann::ordered_json;

Json NamesJson(const Siblings& names) { return {{"first", names.first}, {"last", names.last}, {"count", names.count}}; }

Json UlcJson(const UlcGroup& ulc) {
  Json json = NamesJson(ulc.names);
  json.update({{"counters", ulc.counters},
               {"prescaled", ulc.prescaled},
               {"masked", ulc.masked},
               {"counter_bits", ulc.counter_bits},
               {"period", ulc.period},
               {"lanes", ulc.lanes},
               {"serial_cycles", ulc.serial_cycles}});
  if (ulc.sources > ulc.counters) json["sources"] = ulc.sources;
  return json;
}

Json CcuJson(const CcuGroup& ccu) {
  Json json = NamesJson(ccu.names);
  json.update({{"counters", ccu.counters}, {"threshold", ccu.threshold}, {"ulcs", Json::array()}});
  for (const UlcGroup& ulc : ccu.ulcs) json["ulcs"].push_back(UlcJson(ulc));
  return json;
}

Json SliceJson(const SliceGroup& slice) {
  Json json = NamesJson(slice.names);
  json["ccus"] = Json::array();
  for (const CcuGroup& ccu : slice.ccus) json["ccus"].push_back(CcuJson(ccu));
  return json;
}

Json TreeJson(const Description& description) {
  Json slices = Json::array(), channels = Json::array();
  for (const SliceGroup& slice : description.slices) slices.push_back(SliceJson(slice));
  for (const ReductionGroup& group : description.reduction_channels) {
    channels.push_back({{"name", group.name}, {"count", group.count}, {"commit_period", group.commit_period}});
  }
  return {{"slices", std::move(slices)},
          {"channel_buffer",
           {{"records", description.buffer_depth},
            {"record_bits", description.record_bits},
            {"trigger_period", description.trigger_period}}},
          {"reduction_channels", std::move(channels)},
          {"memory",
           {{"blocks", description.blocks},
            {"block_bytes", description.block_bytes},
            {"page_table_bytes", description.page_table_bytes}}}};
}

// null if a term is 0.
Json RatioJson(uint64_t dividend, uint64_t divisor) {
  if (divisor == 0 || dividend == 0) return nullptr;
  return static_cast<double>(dividend) / static_cast<double>(divisor);
}

Json RegistersJson(const Registers& registers) {
  return {{"ulc_counters", registers.ulc_counters},
          {"prescalers", registers.prescalers},
          {"serialisers", registers.serialisers},
          {"ccu_banks", registers.ccu_banks},
          {"buffer", registers.buffer},
          {"reduction_channels", registers.reduction_channels},
          {"total", registers.total()}};
}

Json ReadPathJson(const Description& description) {
  const ReadPathRegisters& read_path = description.read_path;
  return {{"clients", read_path.clients},
          {"interconnect", read_path.interconnect},
          {"managers", read_path.managers},
          {"total", read_path.total()},
          {"flip_flops_ratio", RatioJson(read_path.total(), description.registers.total())}};
}

Json GatesJson(const Description& description) {
  const GateRegisters& gates = description.gates;
  return {{"values", gates.values},
          {"groups", gates.groups},
          {"hosts", gates.hosts},
          {"total", gates.total()},
          {"flip_flops_ratio", RatioJson(gates.total(), description.registers.total())},
          {"replicated", description.replicated()}};
}

Json SelectsJson(const Description& description) {
  return {{"registers", description.selects.registers},
          {"total", description.selects.bits},
          {"flip_flops_ratio", RatioJson(description.selects.bits, description.registers.total())}};
}

Json RotationJson(const RotationDescription& rotation) {
  Json derived = Json::array(), units = Json::array();
  for (const DerivedName& name : rotation.derived) derived.push_back({{"event", name.event}, {"is", name.formula}});
  for (const TurningUnit& unit : rotation.units) {
    units.push_back({{"unit", unit.name},
                     {"counters", unit.counters},
                     {"events", unit.events},
                     {"always", unit.fixed},
                     {"sets", unit.sets}});
  }
  return {{"profile", rotation.profile},
          {"events", rotation.events},
          {"sets", rotation.sets},
          {"sets_per_pass", rotation.sets_per_pass == 0 ? rotation.sets : rotation.sets_per_pass},
          {"passes", rotation.passes},
          {"stable_slot", rotation.stable_slot},
          {"fluctuating_slot", rotation.fluctuating_slot},
          {"derived", std::move(derived)},
          {"units", std::move(units)}};
}

// Periods, bars and wander in units of 2^-16 reference cycles.
Json DomainsJson(const std::vector<DomainInfo>& domains) {
  Json json = Json::array();
  for (const DomainInfo& domain : domains) {
    json.push_back({{"name", domain.name},
                    {"hz", domain.nominal_hz},
                    {"shortest", domain.shortest},
                    {"longest", domain.longest},
                    {"bar_low", domain.bar_low},
                    {"bar_high", domain.bar_high},
                    {"wander", domain.wander},
                    {"shared", domain.is_shared},
                    {"announces", domain.announces}});
  }
  return json;
}

Json TrafficJson(const Traffic& traffic) {
  return {{"ulc_to_ccu", traffic.ulc_to_ccu},
          {"ccu_to_buffer", traffic.ccu_to_buffer},
          {"switches", traffic.switches},
          {"rc_to_memory", traffic.rc_to_memory},
          {"beyond_ccu", traffic.beyond_ccu()}};
}

Json FlatJson(const Description& description) {
  const FlatDesign& flat = description.flat;
  const Traffic& traffic = description.traffic;
  return {{"wires", flat.wires},
          {"flip_flops", flat.registers},
          {"polls", flat.polls},
          {"switches", flat.switches},
          {"flip_flops_ratio", RatioJson(flat.registers, description.registers.total())},
          {"bits_beyond_ccu_ratio", RatioJson(flat.moved(), traffic.beyond_ccu())},
          {"bits_ratio", RatioJson(flat.moved(), traffic.beyond_ccu() + traffic.ulc_to_ccu)}};
}

Json SnapshotJson(const mailbox::SnapshotCost& cost) {
  Json seconds = Json::object();
  for (const uint64_t clock_hz : kBusClocksHz) {
    seconds[absl::StrCat(clock_hz)] = static_cast<double>(cost.bit_times) / static_cast<double>(clock_hz);
  }
  return {{"stream_bytes", cost.stream_bytes},
          {"readable", cost.readable},
          {"commands", cost.commands},
          {"block_reads", cost.windows},
          {"bus_bytes", cost.bus_bytes},
          {"bit_times", cost.bit_times},
          {"seconds_by_bus_hz", std::move(seconds)}};
}

}  // namespace

std::string FormatJson(const Description& description) {
  Json json = {{"chip", description.path},     {"serial", description.serial}, {"clock_hz", description.clock_hz},
               {"events", description.events}, {"vms", description.vms},       {"contexts", description.contexts}};
  json.update(TreeJson(description));
  json["flip_flops"] = RegistersJson(description.registers);
  json["read_path"] = ReadPathJson(description);
  if (description.gates.total() > 0) json["gates"] = GatesJson(description);
  if (description.selects.registers > 0) json["selects"] = SelectsJson(description);
  if (description.rotation.sets > 0) json["rotation"] = RotationJson(description.rotation);
  if (!description.domains.empty()) json["domains"] = DomainsJson(description.domains);
  json["bits_per_second"] = TrafficJson(description.traffic);
  json["flat_design"] = FlatJson(description);
  json["snapshot_read"] = SnapshotJson(description.snapshot);
  // A path may contain bytes that are not UTF-8, on which dump() throws by default.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sideband::mcu
