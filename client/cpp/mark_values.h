// SPDX-License-Identifier: Apache-2.0
//
// Marks and spans: the messages of the API as the library's values, and back.
//   Bounds bounds;
//   const Mark mark = ValueOf(response.mark(), bounds);
#ifndef SIDEBAND_CLIENT_CPP_MARK_VALUES_H_
#define SIDEBAND_CLIENT_CPP_MARK_VALUES_H_

#include <vector>

#include "client/cpp/bounds.h"
#include "sideband/marks.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

Mark ValueOf(const v1::MarkInfo& mark, Bounds& bounds);
std::vector<Mark> ValuesOf(const v1::ListMarksResponse& response, Bounds& bounds);
Span ValueOf(const v1::GetSpanResponse& response, Bounds& bounds);

v1::MarkRequest ToMessage(const MarkRequest& request);
v1::ListMarksRequest ToMessage(const MarkFilter& filter);
v1::GetSpanRequest ToMessage(const SpanRequest& request);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_MARK_VALUES_H_
