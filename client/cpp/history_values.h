// SPDX-License-Identifier: Apache-2.0
//
// The history: the messages of the API as the library's values, with indices that were checked.
//   Bounds bounds;
//   const History history = ValueOf(response, bounds);
#ifndef SIDEBAND_CLIENT_CPP_HISTORY_VALUES_H_
#define SIDEBAND_CLIENT_CPP_HISTORY_VALUES_H_

#include "client/cpp/bounds.h"
#include "sideband/history.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

History ValueOf(const v1::GetHistoryResponse& response, Bounds& bounds);
v1::GetHistoryRequest ToMessage(const HistoryRequest& request);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_HISTORY_VALUES_H_
