// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/board_event_subscription.h"

#include <algorithm>

namespace sideband::daemon {

std::optional<BoardEventSubscription::Message> BoardEventSubscription::NextEvent(
    const std::vector<VisibleBoard>& boards) {
  // What is no longer seen is not sent either.
  std::erase_if(cursors_, [&](const auto& cursor) {
    return std::ranges::none_of(boards, [&](const VisibleBoard& board) { return board.device == cursor.first; });
  });
  for (const VisibleBoard& board : boards) {
    if (!board.part.is_whole()) continue;
    BoardEventCursor& cursor = cursors_.try_emplace(board.device, board.device).first->second;
    cursor.Follow(*board.reading);
    if (auto event = cursor.Next()) return event;
  }
  return std::nullopt;
}

StreamStep<BoardEventSubscription::Message> BoardEventSubscription::Wait() const {
  if (!sensors_->reader().Identify(credentials_)) return StreamEnd{UnknownCallerError()};
  return StreamWait{};
}

StreamStep<BoardEventSubscription::Message> BoardEventSubscription::Next() {
  const auto caller = sensors_->reader().Identify(credentials_);
  if (!caller) return StreamEnd{UnknownCallerError()};
  const auto boards = sensors_->WholeBoards(*caller, device_);
  if (!boards.ok()) return StreamEnd{boards.status()};
  if (auto event = NextEvent(*boards)) return *std::move(event);
  if (is_synced_) return StreamWait{};
  is_synced_ = true;
  Message sync;
  sync.set_sync_response(true);
  return sync;
}

}  // namespace sideband::daemon
