// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "daemon/history/chunk.h"
#include "daemon/history/fake_life.h"
#include "daemon/history/frame.h"
#include "daemon/history/history.h"
#include "daemon/history/layout.h"
#include "daemon/history/tokens.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {
namespace {

void Use(absl::Time time, uint64_t count);
void Use(const FrameHeader& header, uint64_t count);
void Use(const FrameHeader& header, std::span<const uint64_t> values);
void Use(std::span<const uint64_t> values);
void StartChunk(const Layout& layout);
void Keep(const ChunkView& view);

void UseChunk(const ChunkView& view, size_t row, size_t event) {
  //@ daemon/history/chunk.h
}

void UseFakeLife(History& history) {
  //@ daemon/history/fake_life.h
}

void UseFrame(const DeviceSnapshot& before, const DeviceSnapshot& snapshot, std::span<uint8_t> free_bytes,
              const Layout& layout, ByteSpan bytes) {
  //@ daemon/history/frame.h
}

void UseHistory(Store& store, size_t row, size_t event) {
  //@ daemon/history/history.h
}

void UseLayout(const Layout& layout, const std::shared_ptr<const DeviceSnapshot>& snapshot) {
  //@ daemon/history/layout.h
}

void UseTokens(std::span<uint8_t> free_bytes, std::span<const uint64_t> before, std::span<const uint64_t> now,
               ByteSpan bytes, std::span<uint64_t> values) {
  //@ daemon/history/tokens.h
}

}  // namespace
}  // namespace sideband::daemon
