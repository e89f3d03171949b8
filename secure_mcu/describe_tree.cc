// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "secure_mcu/describe.h"

namespace sideband::mcu {
namespace {

// 1234567 as "1,234,567".
std::string Grouped(uint64_t number) {
  const std::string digits = absl::StrCat(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// "sm.0…sm.7 ×8"
std::string Title(const Siblings& names) {
  return names.count == 1 ? names.first : absl::StrCat(names.first, "…", names.last, " ×", names.count);
}

std::string Plural(uint64_t count, absl::string_view noun) {
  return absl::StrCat(Grouped(count), " ", noun, count == 1 ? "" : "s");
}

std::string Milliseconds(uint64_t cycles, uint64_t clock_hz) {
  return absl::StrFormat("%.4g ms", 1000.0 * static_cast<double>(cycles) / static_cast<double>(clock_hz));
}

std::string PeriodText(uint64_t cycles, uint64_t clock_hz) {
  return cycles == 0 ? "never"
                     : absl::StrCat("each ", Grouped(cycles), " cycles (", Milliseconds(cycles, clock_hz), ")");
}

// "-" if a term is 0.
std::string RatioText(uint64_t dividend, uint64_t divisor) {
  if (divisor == 0 || dividend == 0) return "-";
  return absl::StrFormat("%.3g", static_cast<double>(dividend) / static_cast<double>(divisor));
}

// --- The tree -------------------------------------------------------------------------------------------------------

// One line of the tree, with the lines below it.
struct Node {
  std::string text;
  std::vector<Node> children;
};

void AppendNodes(std::span<const Node> nodes, const std::string& indent, std::string& text) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool last = i + 1 == nodes.size();
    absl::StrAppend(&text, indent, last ? "└─ " : "├─ ", nodes[i].text, "\n");
    AppendNodes(nodes[i].children, indent + (last ? "   " : "│  "), text);
  }
}

Node UlcNode(const UlcGroup& ulc) {
  std::string text =
      absl::StrFormat("%s: %s × %d bits, period %d, %s, serialiser busy %d of %d cycles, %d %%", Title(ulc.names),
                      Plural(ulc.counters, "counter"), ulc.counter_bits, ulc.period, Plural(ulc.lanes, "lane"),
                      ulc.serial_cycles, ulc.period, (100 * ulc.serial_cycles + ulc.period / 2) / ulc.period);
  if (ulc.prescaled > 0) absl::StrAppend(&text, ", ", ulc.prescaled, " prescaled");
  if (ulc.sources > ulc.counters) absl::StrAppend(&text, ", of ", ulc.sources, " sources");
  if (ulc.masked > 0) absl::StrAppend(&text, ", ", ulc.masked, " masked");
  return {std::move(text), {}};
}

Node CcuNode(const CcuGroup& ccu) {
  Node node{absl::StrCat(Title(ccu.names), ": 2 banks of ", Plural(ccu.counters, "counter"), " × ", kCcuCounterBits,
                         " bits, threshold ", ccu.threshold == 0 ? "none" : Grouped(ccu.threshold)),
            {}};
  for (const UlcGroup& ulc : ccu.ulcs) node.children.push_back(UlcNode(ulc));
  return node;
}

Node SliceNode(const SliceGroup& slice) {
  Node node{Title(slice.names), {}};
  for (const CcuGroup& ccu : slice.ccus) node.children.push_back(CcuNode(ccu));
  return node;
}

Node ReductionNode(const Description& description) {
  Node node{"reduction channels", {}};
  for (const ReductionGroup& group : description.reduction_channels) {
    node.children.push_back({absl::StrCat(group.name, group.count == 1 ? "" : absl::StrCat(" ×", group.count), ": ",
                                          Plural(description.events, "counter"), " × ", kCounterBits, " bits, commit ",
                                          PeriodText(group.commit_period, description.clock_hz)),
                             {}});
  }
  return node;
}

Node DerivedNode(const std::vector<DerivedName>& derived) {
  Node node{absl::StrCat("derived: ", Plural(derived.size(), "event")), {}};
  for (const DerivedName& name : derived) node.children.push_back({absl::StrCat(name.event, " = ", name.formula), {}});
  return node;
}

Node TurningNode(const TurningUnit& unit, const std::set<std::string>& derived) {
  Node node{absl::StrCat(unit.name, ": ", Plural(unit.events, "event"), " on ", Plural(unit.counters, "counter")), {}};
  if (!unit.fixed.empty()) node.children.push_back({absl::StrCat("always: ", absl::StrJoin(unit.fixed, ", ")), {}});
  for (size_t set = 0; set < unit.sets.size(); ++set) {
    std::vector<std::string> events;
    for (const std::string& event : unit.sets[set]) {
      events.push_back(absl::StrCat(event, derived.contains(event) ? " (derived)" : ""));
    }
    node.children.push_back({absl::StrCat("set ", set, ": ", absl::StrJoin(events, ", ")), {}});
  }
  return node;
}

Node RotationNode(const RotationDescription& rotation, uint64_t clock_hz) {
  const std::string passes = rotation.sets_per_pass == 0
                                 ? "all in one pass"
                                 : absl::StrCat(rotation.sets_per_pass, " in a pass, ", rotation.passes,
                                                rotation.passes == 1 ? " pass" : " passes");
  const std::string fluctuating =
      rotation.stable_slot == rotation.fluctuating_slot
          ? ""
          : absl::StrCat(", in fluctuating periods ", Milliseconds(rotation.fluctuating_slot, clock_hz));
  Node node{absl::StrCat("rotation: ", rotation.profile, ", ", Plural(rotation.events, "event"), ", ",
                         rotation.derived.size(), " derived, ", Plural(rotation.sets, "set"), ", ", passes,
                         ", slots of ", Milliseconds(rotation.stable_slot, clock_hz), fluctuating),
            {}};
  std::set<std::string> derived;
  for (const DerivedName& name : rotation.derived) derived.insert(name.event);
  if (!derived.empty()) node.children.push_back(DerivedNode(rotation.derived));
  for (const TurningUnit& unit : rotation.units) node.children.push_back(TurningNode(unit, derived));
  return node;
}

// Converts a duration from units of 2^-16 reference cycles.
std::string Nanoseconds(uint64_t instants, uint64_t clock_hz) {
  return absl::StrFormat("%.3f", 1e9 * static_cast<double>(instants) / 65'536 / static_cast<double>(clock_hz));
}

Node DomainNode(const DomainInfo& domain, uint64_t clock_hz) {
  std::string text = absl::StrCat(domain.name, ": ", Grouped(domain.nominal_hz), " Hz, period ",
                                  Nanoseconds(domain.shortest, clock_hz));
  if (domain.longest > 0) {
    absl::StrAppend(&text, " to ", Nanoseconds(domain.longest, clock_hz), " ns, samples a trigger after ",
                    Nanoseconds(domain.bar_low, clock_hz), " to ", Nanoseconds(domain.bar_high, clock_hz), " ns");
  } else {
    absl::StrAppend(&text, " ns or more, samples a trigger after ", Nanoseconds(domain.bar_low, clock_hz),
                    " ns or more");
  }
  absl::StrAppend(&text, ", wander ", Nanoseconds(domain.wander, clock_hz), " ns");
  if (domain.is_shared) absl::StrAppend(&text, ", shared");
  if (!domain.announces) absl::StrAppend(&text, ", changes unannounced");
  return {std::move(text), {}};
}

Node DomainsNode(const Description& description) {
  Node node{"clock domains", {}};
  for (const DomainInfo& domain : description.domains) {
    node.children.push_back(DomainNode(domain, description.clock_hz));
  }
  return node;
}

std::vector<Node> Nodes(const Description& description) {
  std::vector<Node> nodes;
  for (const SliceGroup& slice : description.slices) nodes.push_back(SliceNode(slice));
  if (description.rotation.sets > 0) nodes.push_back(RotationNode(description.rotation, description.clock_hz));
  if (!description.domains.empty()) nodes.push_back(DomainsNode(description));
  nodes.push_back(
      {absl::StrCat("channel buffer: ", Plural(description.buffer_depth, "record"), " × ", description.record_bits,
                    " bits, trigger ", PeriodText(description.trigger_period, description.clock_hz)),
       {}});
  nodes.push_back(ReductionNode(description));
  nodes.push_back({absl::StrCat("memory: ", Plural(description.blocks, "block"), " × ", description.block_bytes,
                                " bytes = ", Grouped(description.blocks * description.block_bytes),
                                " bytes, page tables ", Grouped(description.page_table_bytes), " bytes"),
                   {}});
  return nodes;
}

// --- The tables -----------------------------------------------------------------------------------------------------

struct Row {
  std::string label;
  uint64_t value;
};

void AppendTable(absl::string_view title, std::span<const Row> rows, std::string& text) {
  absl::StrAppend(&text, "\n", title, "\n");
  for (const Row& row : rows) absl::StrAppendFormat(&text, "  %-46s %22s\n", row.label, Grouped(row.value));
}

void AppendReadPath(const Description& description, std::string& text) {
  const ReadPathRegisters& read_path = description.read_path;
  AppendTable("flip-flops of the register read path",
              std::vector<Row>{{"clients", read_path.clients},
                               {"interconnect", read_path.interconnect},
                               {"managers", read_path.managers},
                               {"total", read_path.total()}},
              text);
  absl::StrAppendFormat(&text, "  %-46s %22s\n", "times the pipeline's",
                        RatioText(read_path.total(), description.registers.total()));
}

void AppendGates(const Description& description, std::string& text) {
  const GateRegisters& gates = description.gates;
  if (gates.total() == 0) return;
  AppendTable("flip-flops of the gates",
              std::vector<Row>{{"enable values", gates.values},
                               {"groups", gates.groups},
                               {"control blocks of the host", gates.hosts},
                               {"total", gates.total()}},
              text);
  absl::StrAppendFormat(&text, "  %-46s %22s\n", "times the pipeline's",
                        RatioText(gates.total(), description.registers.total()));
  absl::StrAppendFormat(&text, "  %-46s %22s\n", "instead of them, a counter for each wire and VM",
                        Grouped(description.replicated()));
}

void AppendSelects(const Description& description, std::string& text) {
  const SelectRegisters& selects = description.selects;
  if (selects.registers == 0) return;
  AppendTable("flip-flops of the select registers",
              std::vector<Row>{{"registers", selects.registers}, {"total", selects.bits}}, text);
  absl::StrAppendFormat(&text, "  %-46s %22s\n", "times the pipeline's",
                        RatioText(selects.bits, description.registers.total()));
}

void AppendTotals(const Description& description, std::string& text) {
  const Registers& registers = description.registers;
  AppendTable("flip-flops",
              std::vector<Row>{{"unit-level counters", registers.ulc_counters},
                               {"prescale accumulators", registers.prescalers},
                               {"serialisers", registers.serialisers},
                               {"collection units", registers.ccu_banks},
                               {"channel buffer", registers.buffer},
                               {"reduction channels", registers.reduction_channels},
                               {"total", registers.total()}},
              text);
  AppendReadPath(description, text);
  AppendGates(description, text);
  AppendSelects(description, text);
  const Traffic& traffic = description.traffic;
  AppendTable("bits a second",
              std::vector<Row>{{"unit-level counters to collection units", traffic.ulc_to_ccu},
                               {"collection units to buffer, at triggers", traffic.ccu_to_buffer},
                               {"context switches", traffic.switches},
                               {"reduction channels to memory, at commits", traffic.rc_to_memory},
                               {"beyond the collection units", traffic.beyond_ccu()}},
              text);
}

void AppendFlat(const Description& description, std::string& text) {
  const FlatDesign& flat = description.flat;
  AppendTable("a flat design of a 64-bit counter per wire, polled at each trigger",
              std::vector<Row>{{"wires", flat.wires},
                               {"flip-flops", flat.registers},
                               {"bits a second, polling", flat.polls},
                               {"bits a second, context switches", flat.switches}},
              text);
  const Traffic& traffic = description.traffic;
  absl::StrAppendFormat(&text, "  %-46s %22s\n", "flip-flops, times the pipeline's",
                        RatioText(flat.registers, description.registers.total()));
  absl::StrAppendFormat(&text, "  %-46s %22s\n", "bits, times those beyond the collection units",
                        RatioText(flat.moved(), traffic.beyond_ccu()));
  absl::StrAppendFormat(&text, "  %-46s %22s\n", "bits, times all that the pipeline moves",
                        RatioText(flat.moved(), traffic.beyond_ccu() + traffic.ulc_to_ccu));
}

// The longest snapshot is the first one after a start; later snapshots omit most unchanged data.
void AppendSnapshot(const mailbox::SnapshotCost& cost, std::string& text) {
  AppendTable("the longest snapshot, read over the bus",
              std::vector<Row>{{"bytes of the snapshot", cost.stream_bytes},
                               {"commands", cost.commands},
                               {"block reads", cost.windows},
                               {"bytes on the bus", cost.bus_bytes},
                               {"bit times", cost.bit_times}},
              text);
  for (const uint64_t clock_hz : kBusClocksHz) {
    absl::StrAppendFormat(&text, "  %-46s %22.3f\n", absl::StrCat("seconds at ", clock_hz / 1000, " kHz"),
                          static_cast<double>(cost.bit_times) / static_cast<double>(clock_hz));
  }
  if (!cost.readable) absl::StrAppend(&text, "  more than a controller accepts\n");
}

}  // namespace

std::string FormatTree(const Description& description) {
  std::string text = absl::StrCat(description.path, ": ", description.serial, ", ", Grouped(description.clock_hz),
                                  " Hz, ", Plural(description.events, "event"), ", ", Plural(description.vms, "VM"),
                                  ", ", Plural(description.contexts, "context"), "\n");
  AppendNodes(Nodes(description), "", text);
  AppendTotals(description, text);
  AppendFlat(description, text);
  AppendSnapshot(description.snapshot, text);
  return text;
}

}  // namespace sideband::mcu
