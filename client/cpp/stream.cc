// SPDX-License-Identifier: Apache-2.0
#include "sideband/stream.h"

#include <utility>

#include "client/cpp/error_values.h"
#include "client/cpp/stream_state.h"

namespace sideband {

Stream::Stream(std::unique_ptr<library::StreamState> state) noexcept : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<StreamItem> Stream::Next() noexcept {
  absl::StatusOr<StreamItem> item = state_->Next();
  if (!item.ok()) return library::ErrorOf(item.status());
  return *std::move(item);
}

std::string Stream::resume_token() const noexcept { return state_->resume_token(); }

void Stream::Cancel() noexcept { state_->Cancel(); }

}  // namespace sideband
