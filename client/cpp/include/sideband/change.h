// SPDX-License-Identifier: Apache-2.0
//
// State that is no measurement, as a stream of StreamKind::kOnChange tells of it.
//   for (const sideband::StateItem& item : change.items) {
//     const auto* const device = std::get_if<sideband::Device>(&item.item);
//     if (device != nullptr && item.gone) std::cout << device->name << " is gone\n";
//   }
#ifndef SIDEBAND_CHANGE_H_
#define SIDEBAND_CHANGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sideband/device.h"
#include "sideband/marks.h"
#include "sideband/sensors.h"
#include "sideband/snapshot.h"
#include "sideband/time.h"

namespace sideband {

struct ScopeState {
  Scope scope;
  ScopeStatus status = ScopeStatus::kUnknown;
  // The same as ScopeCounters::flags.
  std::vector<std::string> flags;

  bool operator==(const ScopeState&) const = default;
};

// A sensor that is a limit.
struct SensorLimit {
  std::string device;
  Sensor sensor;

  bool operator==(const SensorLimit&) const = default;
};

// A message of a board's driver, such as an Xid.
struct DriverMessage {
  uint32_t xid = 0;
  // The driver's own number, which begins anew with the driver.
  uint32_t sequence = 0;
  // By the driver's clock.
  Time time{};
  std::string text;
  bool text_truncated = false;
  // The board had no room for messages after this one.
  bool later_lost = false;

  bool operator==(const DriverMessage&) const = default;
};

// An event that a board has raised, as often as the daemon has seen it since the last one of this name.
struct RaisedEvent {
  std::string name;
  uint64_t count = 0;

  bool operator==(const RaisedEvent&) const = default;
};

// So many messages of a driver could not be kept for this stream.
struct LostMessages {
  uint64_t count = 0;

  bool operator==(const LostMessages&) const = default;
};

// An event of a board. std::monostate: an event that only a newer daemon knows.
struct BoardEvent {
  std::string device;
  std::variant<std::monostate, DriverMessage, RaisedEvent, LostMessages> event;

  bool operator==(const BoardEvent&) const = default;
};

struct StateItem {
  // std::monostate: what only a newer daemon knows.
  std::variant<std::monostate, Device, ScopeState, SensorLimit, Mark, BoardEvent> item;
  // It does not exist any more, or the caller may no longer see it. Only what identifies it is set.
  bool gone = false;

  bool operator==(const StateItem&) const = default;
};

}  // namespace sideband

#endif  // SIDEBAND_CHANGE_H_
