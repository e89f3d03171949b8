// SPDX-License-Identifier: Apache-2.0
#include "client/cli/stream.h"

#include <utility>

#include "client/lib/rpc_status.h"

namespace sideband::client {

bool StreamPrinter::Print(const std::string& text) {
  if (absl::Status written = context_.out().Write(text); !written.ok()) return Fail(std::move(written));
  ++count_;
  return !IsComplete();
}

bool StreamPrinter::Fail(absl::Status error) {
  error_ = std::move(error);
  return false;
}

absl::Status StreamPrinter::End(const absl::Status& stream) const {
  if (!error_.ok()) return error_;
  if (!stream.ok() || IsComplete() || context_.cancellation().cancelled()) return stream;
  // The call ended with OK although neither the printer nor the user had ended it.
  return MarkRemote(absl::UnavailableError("the server ended the stream"));
}

}  // namespace sideband::client
