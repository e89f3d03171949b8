// SPDX-License-Identifier: Apache-2.0
//
// The history of a FakeWorld.
//   FakeWorld world;
//   FakePast past(world);
//   world.Publish(0, 1);
//   past.reader.Get(caller, request);
#ifndef SIDEBAND_DAEMON_VIEW_FAKE_PAST_H_
#define SIDEBAND_DAEMON_VIEW_FAKE_PAST_H_

#include "daemon/history/history.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/history_reader.h"

namespace sideband::daemon {

// Thread-safe. `world` must outlive it, and publish nothing after it has ended.
struct FakePast {
  explicit FakePast(FakeWorld& world) : reader(world.reader, world.store, history) { world.store.AddListener(history); }

  History history{{}};
  const HistoryReader reader;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_FAKE_PAST_H_
