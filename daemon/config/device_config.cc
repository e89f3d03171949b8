// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/device_config.h"

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/config/config_context.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"

namespace sideband::daemon {
namespace {

// SMBus' standard mode, its slowest clock, and I2C's fastest one.
constexpr uint64_t kBusHzDefault = 100'000;
constexpr uint64_t kBusHzMin = 10'000;
constexpr uint64_t kBusHzMax = 5'000'000;
constexpr absl::Duration kIntervalMin = absl::Milliseconds(10);
constexpr absl::Duration kIntervalMax = absl::Hours(1);
constexpr uint64_t kTriggerHzMax = 100'000;
constexpr uint64_t kHostPpmMax = 10'000;
constexpr uint64_t kHostWanderPpbMax = 1000;
constexpr uint64_t kWireNsMax = 1'000'000;
constexpr double kBoardShareMin = 0.001;
constexpr uint64_t kBurstMax = 1000;
constexpr absl::Duration kQuietMin = absl::Milliseconds(1);
constexpr absl::Duration kQuietMax = absl::Seconds(10);
// Longer segments than a device's own are not steady by what it declares.
constexpr absl::Duration kSegmentMin = absl::Seconds(1);
constexpr absl::Duration kTenantBoundMin = absl::Microseconds(1);
constexpr absl::Duration kTenantBoundMax = absl::Seconds(1);

// Sealing is in vain where the same counters lie in a file beside it: that must be meant.
absl::StatusOr<std::string> CaptureFile(const YamlMap& map, const ConfigContext& context) {
  SIDEBAND_ASSIGN_OR_RETURN(const bool plaintext_is_meant, map.BoolOr("capture_plaintext", false));
  const auto capture = map.Find("capture");
  if (!capture) return "";
  SIDEBAND_ASSIGN_OR_RETURN(const std::string path, capture->String());
  if (!plaintext_is_meant) {
    return capture->Error(
        "capture writes the counters of confidential VMs in the clear; it needs capture_plaintext: true");
  }
  return std::filesystem::path(context.Resolve(path)).lexically_normal().string();
}

// `rotation: {file: rotation.yaml}`.
void ReadRotation(const YamlMap& map, const ConfigContext& context, DeviceConfig& device) {
  const auto section = context.Section(map, "rotation", {"file"});
  if (!section) return;
  const std::string path = context.ReadableFile(*section, "file", FileTrust::kNotWritable);
  if (!path.empty()) context.errors.Take(LoadRotationFile(path, RotationUse::kRequest), device.rotation.emplace());
}

// `wire_ns: [10, 50]`.
absl::Status ReadWire(const YamlNode& node, TriggerLineSettings& line) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto ends, node.List());
  if (ends.size() != 2) return node.Error("wire_ns must be [least, most]");
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t least, ends[0].Uint(0, kWireNsMax));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t most, ends[1].Uint(least, kWireNsMax));
  line.wire_min = absl::Nanoseconds(least);
  line.wire_max = absl::Nanoseconds(most);
  return absl::OkStatus();
}

// `trigger_line: rack, drives_line: true`, or `trigger_line: rack, wire_ns: [10, 50]`.
void ReadTriggerLine(const YamlMap& clocks, const ConfigContext& context, TriggerLineSettings& line) {
  if (!clocks.Find("trigger_line")) {
    for (const char* const key : {"drives_line", "wire_ns"}) {
      if (const auto node = clocks.Find(key))
        context.errors.Add(node->Error(absl::StrCat(key, " needs a trigger_line")));
    }
    return;
  }
  context.errors.Take(LabelSafe(clocks, "trigger_line", "trigger line name"), line.name);
  context.errors.Take(clocks.BoolOr("drives_line", false), line.drives);
  if (const auto wire = clocks.Find("wire_ns")) {
    context.errors.Add(ReadWire(*wire, line));
  } else if (!line.drives) {
    context.errors.Add(clocks.Find("trigger_line")->Error("a device that receives pulses needs wire_ns"));
  }
}

// `clocks: {trigger_hz: 1000, segment_max: 30s, host_ppm_max: 200, host_wander_ppb: 50, tenant_bound: 1ms}`, and a
// trigger line.
void ReadClocks(const YamlMap& map, const ConfigContext& context, ClockSettings& clocks) {
  const auto section = context.Section(map, "clocks",
                                       {"trigger_hz", "segment_max", "host_ppm_max", "host_wander_ppb", "tenant_bound",
                                        "trigger_line", "drives_line", "wire_ns"});
  if (!section) return;
  if (section->Find("trigger_hz")) {
    context.errors.Take(section->UintOr("trigger_hz", 0, 0, kTriggerHzMax), clocks.trigger_hz.emplace());
  }
  context.errors.Take(section->DurationOr("segment_max", clocks.segment_max, kSegmentMin, clocks.segment_max),
                      clocks.segment_max);
  context.errors.Take(section->UintOr("host_ppm_max", clocks.host_ppm_max, 1, kHostPpmMax), clocks.host_ppm_max);
  context.errors.Take(section->UintOr("host_wander_ppb", clocks.host_wander_ppb, 0, kHostWanderPpbMax),
                      clocks.host_wander_ppb);
  if (section->Find("tenant_bound")) {
    context.errors.Take(section->DurationOr("tenant_bound", kTenantBoundMin, kTenantBoundMin, kTenantBoundMax),
                        clocks.tenant_bound.emplace());
  }
  ReadTriggerLine(*section, context, clocks.line);
}

// `complement: {counters: exclude}`.
void ReadComplement(const YamlMap& map, const ConfigContext& context, ComplementSettings& complement) {
  const auto section = context.Section(map, "complement", {"counters"});
  if (!section) return;
  context.errors.Take(
      OneOfOr(*section, "counters", complement.counters,
              {{"exclude", Complement::kExclude}, {"withhold", Complement::kWithhold}, {"allow", Complement::kAllow}}),
      complement.counters);
}

// `sealing: device`.
void ReadSealedBy(const YamlMap& map, const ConfigContext& context, SealedBy& sealed_by) {
  context.errors.Take(
      OneOfOr(map, "sealing", sealed_by, {{"daemon", SealedBy::kDaemon}, {"device", SealedBy::kDevice}}), sealed_by);
}

enum class BoardMailbox { kOff, kExclusive, kShared };

// `burst: 16, quiet: 120ms`, of a shared mailbox.
void ReadBursts(const YamlMap& section, const ConfigContext& context, BoardSettings& board) {
  if (!board.is_shared) {
    for (const char* const key : {"burst", "quiet"}) {
      if (const auto node = section.Find(key)) {
        context.errors.Add(node->Error(absl::StrCat(key, " needs mailbox: shared")));
      }
    }
    return;
  }
  context.errors.Take(section.UintOr("burst", board.burst, 1, kBurstMax), board.burst);
  context.errors.Take(section.DurationOr("quiet", board.quiet, kQuietMin, kQuietMax), board.quiet);
}

// `board: {mailbox: shared, bus_share: 0.3, burst: 16, quiet: 120ms}`.
void ReadBoard(const YamlMap& map, const ConfigContext& context, BoardSettings& board) {
  board.is_read = board.is_shared = true;
  const auto section = context.Section(map, "board", {"mailbox", "bus_share", "burst", "quiet"});
  if (!section) return;
  BoardMailbox mailbox = BoardMailbox::kShared;
  const bool is_known = context.errors.Take(
      OneOfOr(
          *section, "mailbox", mailbox,
          {{"exclusive", BoardMailbox::kExclusive}, {"shared", BoardMailbox::kShared}, {"off", BoardMailbox::kOff}}),
      mailbox);
  board.is_read = mailbox != BoardMailbox::kOff;
  board.is_shared = mailbox == BoardMailbox::kShared;
  if (is_known) ReadBursts(*section, context, board);
  if (const auto share = section->Find("bus_share")) {
    context.errors.Take(share->Number(kBoardShareMin, 1), board.bus_share);
  }
}

// Reads the bus name and its clock, whose default depends on the kind of bus.
void ReadBus(const YamlMap& map, const ConfigContext& context, DeviceConfig& device) {
  // A virtual bus has no clock of its own, and so no least interval.
  uint64_t bus_hz_default = 0;
  if (context.errors.Take(map.String("bus"), device.bus)) {
    const auto bus = smbus::ParseBusName(device.bus);
    context.errors.Add(map.Find("bus")->Locate(bus.status()));
    if (bus.ok() && bus->kind == smbus::BusName::Kind::kI2c) bus_hz_default = kBusHzDefault;
  }
  context.errors.Take(map.UintOr("bus_hz", bus_hz_default, kBusHzMin, kBusHzMax), device.bus_hz);
}

DeviceConfig Device(const YamlMap& map, const ConfigContext& context) {
  DeviceConfig device;
  context.errors.Take(LabelSafe(map, "name", "device name"), device.name);
  ReadBus(map, context, device);
  context.errors.Take(map.DurationOr("interval", device.interval, kIntervalMin, kIntervalMax), device.interval);
  context.errors.Take(CaptureFile(map, context), device.capture_file);
  context.errors.Take(map.BoolOr("pec", device.has_pec), device.has_pec);
  ReadRotation(map, context, device);
  ReadClocks(map, context, device.clocks);
  ReadComplement(map, context, device.complement);
  ReadSealedBy(map, context, device.sealed_by);
  ReadBoard(map, context, device.board);
  return device;
}

// Whether `bmcs` has an entry, so that `devices` may have none. A section that is no list has an error of its own.
bool NamesBmcs(const YamlMap& root) {
  const auto entries = root.ListOrEmpty("bmcs");
  return !entries.ok() || !entries->empty();
}

absl::StatusOr<std::vector<YamlNode>> DeviceNodes(const YamlMap& root) {
  const bool is_needed = !NamesBmcs(root);
  if (!is_needed && !root.Find("devices")) return std::vector<YamlNode>();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, root.Get("devices"));
  SIDEBAND_ASSIGN_OR_RETURN(std::vector<YamlNode> nodes, list.List());
  if (nodes.empty() && is_needed) {
    return list.Error(root.Find("bmcs") ? "at least one device or BMC is needed" : "at least one device is needed");
  }
  if (nodes.size() > kDevicesMax) return list.Error(absl::StrCat("more than ", kDevicesMax, " devices"));
  return nodes;
}

// A misspelt name would be a line of one device.
void CheckLines(const std::vector<DeviceConfig>& devices, const YamlMap& root, const ConfigContext& context) {
  std::map<std::string, size_t> ends;
  for (const DeviceConfig& device : devices) ++ends[device.clocks.line.name];
  for (const auto& [name, count] : ends) {
    if (name.empty() || count > 1) continue;
    context.errors.Add(root.Find("devices")->Error(absl::StrCat("trigger line '", name, "' has only one device")));
  }
}

void NameDrivers(std::vector<DeviceConfig>& devices) {
  for (const DeviceConfig& driver : devices) {
    const TriggerLineSettings& driven = driver.clocks.line;
    if (!driven.drives) continue;
    for (DeviceConfig& device : devices) {
      if (device.clocks.line.name == driven.name) device.clocks.line.driver = driver.name;
    }
  }
}

}  // namespace

std::vector<DeviceConfig> ReadDevices(const YamlMap& root, const ConfigContext& context) {
  std::vector<YamlNode> nodes;
  context.errors.Take(DeviceNodes(root), nodes);
  std::vector<DeviceConfig> devices;
  std::set<std::string> names, captures, driven;
  for (const YamlNode& node : nodes) {
    const auto map = node.Map({"name", "bus", "bus_hz", "interval", "capture", "capture_plaintext", "rotation",
                               "clocks", "complement", "sealing", "board", "pec"},
                              context.errors);
    if (!map) continue;
    DeviceConfig device = Device(*map, context);
    if (!device.capture_file.empty() && !captures.insert(device.capture_file).second) {
      context.errors.Add(node.Error("two devices have the same capture file"));
    }
    const TriggerLineSettings& line = device.clocks.line;
    if (line.drives && !driven.insert(line.name).second) {
      context.errors.Add(node.Error(absl::StrCat("two devices drive trigger line '", line.name, "'")));
    }
    if (!device.name.empty() && !names.insert(device.name).second) {
      context.errors.Add(node.Error(absl::StrCat("device '", device.name, "' is given twice")));
    }
    devices.push_back(std::move(device));
  }
  CheckLines(devices, root, context);
  NameDrivers(devices);
  return devices;
}

}  // namespace sideband::daemon
