// SPDX-License-Identifier: Apache-2.0
//
// Marks, spans and clocks as tables, for `sideband mark`, `marks`, `span` and `clocks`.
#ifndef SIDEBAND_CLIENT_CLI_MARK_COMMANDS_H_
#define SIDEBAND_CLIENT_CLI_MARK_COMMANDS_H_

#include <string>

#include "client/cli/table.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// "mark 3 of vm1/train asked at 12.345678901 s: LABEL".
std::string MarkLine(const v1::MarkInfo& mark);
std::string MarksTable(const v1::ListMarksResponse& response, const TableStyle& style);
// From where to where, how long, and a row for each counter that has counted.
std::string SpanTable(const v1::GetSpanResponse& response, const TableStyle& style);
std::string ClocksTable(const v1::ListClocksResponse& response, const TableStyle& style);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_MARK_COMMANDS_H_
