// SPDX-License-Identifier: Apache-2.0
//
// Which VMs and events are to be counted on a device, by names: what the operator's file and the callers ask for,
// before it is laid over the device's configuration (virtual-counters.md, "State"); and where callers' settings outlast
// the daemon.
//   CountingSettings settings;
//   settings.vms["vm1"].allowed = {{"tlb"}};
//   // {"vms.vm1.allowed", "no gate group 'tlb'"}, unless there is one
//   const std::vector<Refusal> refusals = Apply(settings, catalog, config);
//   SIDEBAND_RETURN_IF_ERROR(store.Save(uuid, settings));
#ifndef SIDEBAND_DAEMON_COUNTING_SETTINGS_H_
#define SIDEBAND_DAEMON_COUNTING_SETTINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/counting.h"

namespace sideband::daemon {

using GroupNames = std::vector<std::string>;

// An enable bit for each gate group, and one for all.
struct GateSetting {
  bool master = true;
  std::optional<GroupNames> groups;  // the enabled ones; nullopt: all
  bool operator==(const GateSetting&) const = default;
};

struct GroupSetting {
  std::optional<bool> valid, guest, host;
  std::optional<uint16_t> identifier;
  bool operator==(const GroupSetting&) const = default;
};

// An absent setting stays as it is.
struct VmSetting {
  std::optional<GateSetting> value;           // the VM's own, loaded at its entries
  std::optional<GateSetting> host_value;      // loaded at its exits
  std::optional<GroupNames> allowed, pinned;  // what it may open, and what it cannot close
  std::optional<std::vector<uint16_t>> ids;   // matching is on; empty: off
  std::optional<bool> guest_access, useren, store;
  std::optional<uint32_t> selection;
  std::string selection_name;                   // the selection must still have it; empty: not checked
  std::map<std::string, GateSetting> contexts;  // each context's own, loaded when it gets a slice
  bool operator==(const VmSetting&) const = default;
};

struct CountingSettings {
  std::map<std::string, GroupSetting> groups;
  std::map<std::string, VmSetting> vms;  // by name or UUID; a UUID is never taken for a name
  bool empty() const { return groups.empty() && vms.empty(); }
  bool operator==(const CountingSettings&) const = default;
};

// A field that cannot be set, as a path: "vms.vm1.allowed".
struct Refusal {
  std::string field;
  std::string reason;
  bool operator==(const Refusal&) const = default;
};

// The reason why a selection is refused, whether it is not there or not the caller's.
std::string NoSelection(uint32_t selection);

// Whether it is of a VM or a context that is not on the device. These come and go, and settings wait for them.
bool IsOfAbsent(const Refusal& refusal);

// Lays the settings over the configuration of a device with this catalogue. What is refused is left as it was: an
// unknown name, more than four ids, an id of 0, a selection that the device does not have or not by this name, a pin of
// a group of whose events the VM's selection has none, and such a selection, anything of a confidential VM but
// `allowed`.
std::vector<Refusal> Apply(const CountingSettings& settings, const mailbox::Catalog& catalog,
                           mailbox::CountingConfig& config);

// Adds the names of the selections that the settings have by number: another chip file may number them differently.
// Where the catalogue has no name, the number alone stays.
void NameSelections(const mailbox::Catalog& catalog, CountingSettings& settings);

// Lays `over` over `settings`. A group or VM of which it sets nothing is not added.
void Merge(const CountingSettings& over, CountingSettings& settings);

// Limits the size of settings to which VMs and contexts are added while others go: if there are more groups, VMs or
// contexts than a catalogue can have, those that this one does not have are removed.
void DropAbsentBeyondLimits(const mailbox::Catalog& catalog, CountingSettings& settings);

// Where the callers' settings of a device outlast the daemon.
//
// Used by one thread at a time.
class SettingsStore {
 public:
  virtual ~SettingsStore() = default;

  // NOT_FOUND if nothing is stored; another error if what is stored cannot be read.
  virtual absl::StatusOr<CountingSettings> Load(const Uuid& device) = 0;
  // Replaces what is stored. `settings` name VMs by UUID. After an error the previous settings are stored.
  virtual absl::Status Save(const Uuid& device, const CountingSettings& settings) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_SETTINGS_H_
