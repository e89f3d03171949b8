// SPDX-License-Identifier: Apache-2.0
#include "client/top/rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/table.h"
#include "client/top/model.h"
#include "proto/base/text.h"

namespace sideband::client::top {
namespace {

using State = v1::Device::State;

// A row and those below it, before what is closed or does not match is left out.
struct Node {
  Row row;
  std::vector<Node> children;
};

std::string AgeText(absl::Duration age) {
  if (age < absl::Minutes(1)) return absl::StrFormat("%.1fs", absl::ToDoubleSeconds(std::max(age, absl::Duration())));
  return absl::FormatDuration(absl::Trunc(age, age < absl::Hours(1) ? absl::Seconds(1) : absl::Minutes(1)));
}

Tone ToneOf(State state) {
  return state == v1::Device::STATE_FRESH   ? Tone::kGood
         : state == v1::Device::STATE_STALE ? Tone::kWarning
                                            : Tone::kBad;
}

void SetHost(const std::string& host, std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    node.row.key.host = host;
    SetHost(host, node.children);
  }
}

class Tree {
 public:
  Tree(const RowOptions& options, std::string event, absl::Time now)
      : options_(options), now_(now), event_(std::move(event)) {}

  void Add(const Model& model) { AddDevices(model, roots_); }

  void AddHost(const HostModel& host) {
    Node node;
    AddDevices(host.model, node.children);
    SetHost(host.host, node.children);
    node.row.key = {.host = host.host, .kind = RowKind::kHost};
    node.row.name = host.host;
    const bool is_lost = !host.model.connection.empty();
    node.row.state = is_lost ? "lost" : "connected";
    node.row.tone = is_lost ? Tone::kBad : Tone::kGood;
    node.row.detail = is_lost ? host.model.connection : absl::StrCat(host.host, ": connected");
    roots_.push_back(std::move(node));
  }

  std::vector<Row> Rows() && {
    Arrange(roots_);
    std::vector<Row> rows;
    for (Node& node : roots_) Collect(node, 0, options_.filter.empty(), rows);
    return rows;
  }

 private:
  void AddDevices(const Model& model, std::vector<Node>& nodes) {
    for (const auto& [name, device] : model.devices()) nodes.push_back(DeviceNode(name, device));
  }

  void Show(const EventEntry* event, bool is_fresh, Row& row) const {
    if (event == nullptr) return;
    row.minute = event->minute.Until(now_, hold_);
    row.is_share_minute = event->share.has_value();
    if (!is_fresh) return;
    row.share = event->share;
    row.rate = event->rate;
    row.is_estimate = event->is_estimate;
  }

  std::vector<Node> EventNodes(const RowKey& parent, const ScopeEntry& scope, bool is_fresh) const {
    std::vector<Node> nodes;
    for (const EventEntry& event : scope.events) {
      Node node;
      node.row.key = parent;
      node.row.key.kind = RowKind::kEvent;
      node.row.key.event = node.row.name = event.name;
      node.row.detail = absl::StrCat(event.name, ": count ", event.is_estimate ? "~" : "", CountText(event.count, {}));
      if (event.coverage) {
        absl::StrAppend(&node.row.detail, ", counted in ", CoverageText(*event.coverage, {}), " of its time");
      }
      Show(&event, is_fresh, node.row);
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  // A device or VM has its events in a group: they would hide what is below it.
  Node EventGroup(const RowKey& parent, const ScopeEntry& scope, bool is_fresh) const {
    Node group{.children = EventNodes(parent, scope, is_fresh)};
    group.row.key = parent;
    group.row.key.kind = RowKind::kEvents;
    group.row.name = absl::StrCat("events (", group.children.size(), ")");
    group.row.detail = absl::StrCat("the events of ", parent.vm.empty() ? parent.device : parent.vm);
    return group;
  }

  Node ScopeNode(const RowKey& key, const ScopeEntry& scope, bool is_fresh) const {
    Node node;
    node.row.key = key;
    node.row.name = key.kind == RowKind::kVm ? key.vm : key.context;
    const bool is_passing = scope.state == "active" || scope.state == "idle";
    const bool is_known = is_fresh || !is_passing;
    node.row.state = is_known ? scope.state : "-";
    node.row.tone = scope.flags.empty() ? Tone::kPlain : Tone::kWarning;
    std::vector<std::string> about = {absl::StrCat(node.row.name, ": ", is_known ? scope.state : "state unknown")};
    if (scope.scope.has_slice()) about.push_back(absl::StrCat("slice ", scope.scope.slice()));
    about.push_back(absl::StrCat("generation ", scope.scope.generation()));
    if (scope.scope.confidential()) about.push_back("confidential: its counters are in sealed records only");
    about.insert(about.end(), scope.flags.begin(), scope.flags.end());
    node.row.detail = absl::StrJoin(about, ", ");
    Show(scope.Find(event_), is_fresh, node.row);
    return node;
  }

  Node DeviceNode(const std::string& name, const DeviceEntry& device) {
    const State state = device.StateAt(now_);
    const bool is_fresh = state == v1::Device::STATE_FRESH;
    hold_ = device.interval;
    Node node;
    node.row.key.device = node.row.name = name;
    DescribeDevice(device, state, node.row);
    if (device.board) node.children.push_back(BoardNode(name, *device.board));
    for (const auto& [scope_name, scope] : device.scopes) {
      const auto& [vm, context] = scope_name;
      const RowKey key{.device = name,
                       .vm = vm,
                       .context = context,
                       .kind = vm.empty()        ? RowKind::kDevice
                               : context.empty() ? RowKind::kVm
                                                 : RowKind::kContext};
      AddScope(key, scope, is_fresh, node);
    }
    return node;
  }

  static Node BoardNode(const std::string& device, const BoardEntry& board) {
    Node node;
    node.row.key = {.device = device, .kind = RowKind::kBoard};
    node.row.name = "board";
    node.row.state = BriefText(board);
    node.row.tone = board.needs_action ? Tone::kBad : board.throttles.empty() ? Tone::kPlain : Tone::kWarning;
    node.row.detail = absl::StrCat("board of ", device, ": ", LongText(board));
    return node;
  }

  void AddScope(const RowKey& key, const ScopeEntry& scope, bool is_fresh, Node& device) const {
    if (key.kind == RowKind::kDevice) {
      Show(scope.Find(event_), is_fresh, device.row);
      device.children.push_back(EventGroup(key, scope, is_fresh));
      return;
    }
    Node node = ScopeNode(key, scope, is_fresh);
    if (key.kind == RowKind::kVm) {
      if (!scope.events.empty()) node.children.push_back(EventGroup(key, scope, is_fresh));
      device.children.push_back(std::move(node));
      return;
    }
    node.children = EventNodes(key, scope, is_fresh);
    VmOf(key, device).children.push_back(std::move(node));
  }

  // Scopes are in order, so a context follows its VM; a caller who may read the context alone has no row of the VM.
  static Node& VmOf(const RowKey& context, Node& device) {
    const RowKey key{.device = context.device, .vm = context.vm, .kind = RowKind::kVm};
    if (device.children.empty() || device.children.back().row.key != key) {
      Node& vm = device.children.emplace_back();
      vm.row.key = key;
      vm.row.name = vm.row.detail = key.vm;
    }
    return device.children.back();
  }

  void DescribeDevice(const DeviceEntry& device, State state, Row& row) const {
    row.tone = ToneOf(state);
    row.reads = device.ReadsAt(now_);
    row.has_no_reads = !device.ShowsReads();
    row.state = StateText(state);
    std::vector<std::string> about = {absl::StrCat(row.name, ": ", row.state)};
    if (state == v1::Device::STATE_AWAY) {
      about.push_back("it has not answered yet");
    } else if (device.heard != absl::InfinitePast()) {
      const std::string age = AgeText(now_ - device.heard);
      absl::StrAppend(&row.state, " ", age);
      about.push_back(absl::StrCat(age, " old"));
    }
    about.push_back(absl::StrCat("every ", absl::FormatDuration(device.interval)));
    if (row.reads) about.push_back(absl::StrCat("bus reads ", CompactShareText(*row.reads)));
    if (device.boot_id != 0) about.push_back(absl::StrCat("boot ", BootIdText(device.boot_id)));
    row.detail = absl::StrJoin(about, ", ");
  }

  // Sorts siblings at all levels. A board, and a group of events, stay before their siblings.
  void Arrange(std::vector<Node>& nodes) const {
    std::ranges::stable_sort(nodes, [this](const Node& a, const Node& b) { return IsBefore(a.row, b.row); });
    for (Node& node : nodes) Arrange(node.children);
  }

  static int Rank(const Row& row) {
    return row.key.kind == RowKind::kBoard ? 0 : row.key.kind == RowKind::kEvents ? 1 : 2;
  }

  bool IsBefore(const Row& a, const Row& b) const {
    if (Rank(a) != Rank(b)) return Rank(a) < Rank(b);
    if (options_.sort == Sort::kName) {
      // Events stay in the catalogue's order.
      if (a.key.kind == RowKind::kEvent && !options_.is_reversed) return false;
      return options_.is_reversed ? b.name < a.name : a.name < b.name;
    }
    const auto value = [this](const Row& row) { return options_.sort == Sort::kRate ? row.rate : row.share; };
    const auto left = value(a), right = value(b);
    if (!left || !right) return left.has_value() && !right;
    return options_.is_reversed ? *left < *right : *left > *right;
  }

  bool Matches(const Row& row) const {
    if (row.key.kind == RowKind::kEvents) return false;
    const std::string& filter = options_.filter;
    return IsPattern(filter) ? client::Matches(filter, row.name)
                             : absl::StrContains(absl::AsciiStrToLower(row.name), absl::AsciiStrToLower(filter));
  }

  bool HasMatch(const Node& node) const {
    return Matches(node.row) ||
           std::ranges::any_of(node.children, [this](const Node& child) { return HasMatch(child); });
  }

  // `is_wanted`: whether the row is shown whatever its name is.
  void Collect(Node& node, int depth, bool is_wanted, std::vector<Row>& rows) const {
    if (!is_wanted && !HasMatch(node)) return;
    const bool is_match = is_wanted || Matches(node.row);
    Row& row = node.row;
    const bool by_default =
        row.key.kind == RowKind::kHost || row.key.kind == RowKind::kDevice || row.key.kind == RowKind::kVm;
    row.depth = depth;
    row.has_children = !node.children.empty();
    row.is_open = row.has_children && (!is_match || by_default != options_.toggled.contains(row.key));
    const bool is_open = row.is_open;
    rows.push_back(std::move(row));
    if (!is_open) return;
    for (Node& child : node.children) Collect(child, depth + 1, is_match, rows);
  }

  const RowOptions& options_;
  const absl::Time now_;
  const std::string event_;
  absl::Duration hold_;  // the interval of the device whose rows are made
  std::vector<Node> roots_;
};

}  // namespace

std::string ChosenEvent(const Model& model, const RowOptions& options) {
  if (!options.event.empty()) return EventPattern(options.event, model.events());
  if (model.events().empty()) return "";
  for (const auto& [name, device] : model.devices()) {
    for (const auto& [scope_name, scope] : device.scopes) {
      const auto found =
          std::ranges::find_if(scope.events, [](const EventEntry& event) { return event.share.has_value(); });
      if (found != scope.events.end()) return found->name;
    }
  }
  return model.events().front();
}

std::vector<std::string> EventsOf(const std::vector<HostModel>& hosts) {
  std::vector<std::string> events;
  for (const HostModel& host : hosts) {
    for (const std::string& event : host.model.events()) {
      if (std::ranges::find(events, event) == events.end()) events.push_back(event);
    }
  }
  return events;
}

std::string ChosenEvent(const std::vector<HostModel>& hosts, const RowOptions& options) {
  if (!options.event.empty()) return EventPattern(options.event, EventsOf(hosts));
  std::string event;
  for (const HostModel& host : hosts) {
    if (event.empty()) event = ChosenEvent(host.model, options);
  }
  return event;
}

std::vector<Row> BuildRows(const Model& model, const RowOptions& options, absl::Time now) {
  Tree tree(options, ChosenEvent(model, options), now);
  tree.Add(model);
  return std::move(tree).Rows();
}

std::vector<Row> BuildRows(const std::vector<HostModel>& hosts, const RowOptions& options, absl::Time now) {
  // The only one of several that could be asked has its row.
  if (hosts.size() == 1 && hosts[0].host.empty()) return BuildRows(hosts[0].model, options, now);
  Tree tree(options, ChosenEvent(hosts, options), now);
  for (const HostModel& host : hosts) tree.AddHost(host);
  return std::move(tree).Rows();
}

}  // namespace sideband::client::top
