// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/error_values.h"

#include "client/lib/rpc_status.h"
#include "proto/base/text.h"

namespace sideband::library {
namespace {

ErrorCode CodeOf(const absl::Status& status) {
  if (client::IsTooLarge(status)) return ErrorCode::kProtocol;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ErrorCode::kInvalidArgument;
    case absl::StatusCode::kNotFound:
      return ErrorCode::kNotFound;
    case absl::StatusCode::kUnauthenticated:
      return ErrorCode::kUnauthenticated;
    case absl::StatusCode::kPermissionDenied:
      return ErrorCode::kPermissionDenied;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
      return ErrorCode::kFailedPrecondition;
    case absl::StatusCode::kResourceExhausted:
      return ErrorCode::kResourceExhausted;
    case absl::StatusCode::kUnavailable:
      return ErrorCode::kUnavailable;
    case absl::StatusCode::kDeadlineExceeded:
      return ErrorCode::kDeadlineExceeded;
    case absl::StatusCode::kCancelled:
      return ErrorCode::kCancelled;
    case absl::StatusCode::kAborted:
      return ErrorCode::kAborted;
    case absl::StatusCode::kUnimplemented:
      return ErrorCode::kUnimplemented;
    case absl::StatusCode::kDataLoss:
      return ErrorCode::kProtocol;
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace

Error ErrorOf(const absl::Status& status) { return {CodeOf(status), Visible(status.message())}; }

}  // namespace sideband::library
